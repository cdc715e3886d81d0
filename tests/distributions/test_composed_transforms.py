import re

import pytest

import tapegrad as torch
from tapegrad.distributions import CatTransform, ExpTransform, StackTransform

ROWS = CatTransform([ExpTransform(), ExpTransform()], dim=1, lengths=[1, 2])
SLICES = StackTransform([ExpTransform(), ExpTransform()], dim=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ROWS(torch.ones(3)), "dim 1 out of range for tensor with 1 dimensions"),
        (lambda: ROWS(torch.ones(3, 2)), "x.size(1) = 2 must equal length 3"),
        (lambda: ROWS.inv(torch.ones(3, 4)), "y.size(1) = 4 must equal length 3"),
        (
            lambda: ROWS.log_abs_det_jacobian(torch.ones(2, 3), torch.ones(7)),
            "dim 1 out of range for y with 1 dimensions",
        ),
        (lambda: SLICES(torch.ones(2, 3)), "x.size(1) = 3 must equal len(transforms) 2"),
        (lambda: SLICES.inv(torch.ones(2, 3)), "y.size(1) = 3 must equal len(transforms) 2"),
        (lambda: SLICES(torch.ones(2)), "dim 1 out of range for tensor with 1 dimensions"),
        (
            lambda: CatTransform([ExpTransform(), ExpTransform()], lengths=[3]),
            "lengths (1) must match transforms (2)",
        ),
    ],
)
def test_values_that_do_not_have_the_parts_are_refused(call, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        call()
