"""Bilinear forms, against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning
from tests.operators.waves import cosines, sines, value_and_gradients

F = torch.nn.functional


def near(values):
    return pytest.approx(values, abs=1e-8)


def test_bilinear_forms():
    a, b = sines(3, 4), cosines(3, 3)
    y, of_a, of_b, of_weight = value_and_gradients(F.bilinear, a, b, cosines(2, 4, 3))
    assert y == near(
        [-0.123848883, -0.168795423, 1.047741582, 0.822433921, 1.486797376, 1.361254067]
    )
    assert of_a[:2] == near([2.742351558, -2.623807959])
    assert of_b[:2] == near([-0.20467491, -0.030841123])
    assert of_weight[:2] == near([1.699181183, 1.240558536])


TOO_FEW_DIMENSIONS = (  # the shapes of the inputs and the weight, and PyTorch's error
    ((2, 3), (2, 4), (), "Dimension specified as 1 but tensor has no dimensions"),
    ((), (), (5, 3, 4), "Dimension specified as -1 but tensor has no dimensions"),
    ((2, 3), (2, 4), (5, 3), "Dimension out of range (expected to be in range of [-2, 1], "),
)


@pytest.mark.parametrize(("first", "second", "weight", "text"), TOO_FEW_DIMENSIONS)
def test_dimensions_that_are_not_there(first, second, weight, text):
    with raises_beginning(IndexError, text):
        torch.bilinear(torch.ones(first), torch.ones(second), torch.ones(weight))


def test_integers_keep_their_dtype_and_truth_values_are_refused():
    for dtype in (torch.int16, torch.uint8):
        a, b, w = (torch.ones(s, dtype=dtype) for s in ((2, 3), (2, 4), (1, 3, 4)))
        result = torch.bilinear(a, b, w, torch.ones(1, dtype=dtype))
        assert (result.dtype, result.tolist()) == (dtype, [[13], [13]])
    a, b, w = (torch.ones(s, dtype=torch.bool) for s in ((2, 3), (2, 4), (1, 3, 4)))
    with raises(NotImplementedError, "\"bmm\" not implemented for 'Bool'"):
        torch.bilinear(a, b, w, None)
