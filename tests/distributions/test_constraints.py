import re

import pytest

import tapegrad as torch
from tapegrad.distributions import constraints


def test_pieces_beyond_the_lengths_are_not_looked_at():
    pair = constraints.cat([constraints.positive, constraints.real], dim=1, lengths=[1, 2])
    inside = pair.check(torch.tensor([[1.0, -1.0, 2.0, 5.0], [-1.0, 0.0, 0.0, 5.0]]))
    assert inside.tolist() == [[True, True, True], [False, True, True]]
    slices = constraints.stack([constraints.positive, constraints.real], dim=0)
    assert slices.check(torch.tensor([-1.0, -1.0, -1.0])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda c: c.cat([c.real, c.positive], dim=1).check(torch.ones(3)),
            AssertionError,
            "dim 1 out of range for value with 1 dimensions",
        ),
        (
            lambda c: c.cat([c.real, c.positive], lengths=[1]),
            AssertionError,
            "lengths (1) must match cseq (2)",
        ),
        (
            lambda c: c.stack([c.real, 3]),
            AssertionError,
            "All elements of cseq must be Constraint instances",
        ),
        (
            lambda c: c.independent(3, 1),
            AssertionError,
            "base_constraint must be a Constraint, got int",
        ),
        (
            lambda c: c.independent(c.real, -1),
            AssertionError,
            "reinterpreted_batch_ndims must be >= 0, got -1",
        ),
        (
            lambda c: c.independent(c.real, "a"),
            AssertionError,
            "reinterpreted_batch_ndims must be an int, got str",
        ),
        (
            lambda c: c.corr_cholesky.check(torch.ones(3)),
            RuntimeError,
            "tril: input tensor must have at least 2 dimensions",
        ),
        (
            lambda c: c.cat([c.real, c.real], lengths=[1, 2]).check(torch.ones(2)),
            RuntimeError,
            "start (1) + length (2) exceeds dimension size (2).",
        ),
    ],
)
def test_what_is_no_set_or_has_no_such_dimension_is_refused(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call(constraints)
