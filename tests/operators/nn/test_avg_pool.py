"""Average pooling: what the sums are divided by."""

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tests.messages import raises
from tests.tolerance import assert_near

X = torch.arange(25.0).reshape(1, 5, 5)


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        ((3, 2, 1), [[4 / 3, 3, 8 / 3], [7, 12, 9], [8, 13, 28 / 3]]),
        ((3, 2, 1, False, False), [[3, 4.5, 6], [10.5, 12, 13.5], [18, 19.5, 21]]),
        ((2, 2, 0, True), [[3, 5, 6.5], [13, 15, 16.5], [20.5, 22.5, 24]]),
        ((2, None, 0, False, True, 3), [[4, 20 / 3], [52 / 3, 20]]),
    ],
)
def test_the_divisor_counts_padding_or_not_or_is_given(arguments, want):
    assert_near(F.avg_pool2d(X, *arguments), torch.tensor([want]))


def test_means_of_integers_are_rounded_towards_zero():
    assert F.avg_pool2d(torch.tensor([[[-3, -4], [0, 0]]]), 2).tolist() == [[[-1]]]
    assert F.avg_pool2d(torch.tensor([[[3, 4], [0, 0]]]), 2).tolist() == [[[1]]]


def test_infinity_stays_in_the_windows_that_hold_it():
    x = torch.ones(1, 6)
    x[0, 2] = float("inf")
    assert F.avg_pool1d(x, 2).tolist() == [[1, float("inf"), 1]]
    assert F.adaptive_avg_pool1d(x, 4).tolist() == [[1, float("inf"), 1, 1]]


def test_half_precision_is_summed_in_single():
    x = torch.full((1, 1, 64, 64), 60000.0, dtype=torch.float16)
    y = F.avg_pool2d(x, 64)
    assert y.dtype is torch.float16 and y.item() == 60000


def test_what_makes_no_average_is_refused_in_pytorchs_words():
    with raises(RuntimeError, "divisor must be not zero"):
        F.avg_pool2d(X, 2, divisor_override=0)
    with raises(
        RuntimeError, "input image (T: 4 H: 4 W: 4) smaller than kernel size (kT: 8 kH: 8 kW: 8)"
    ):
        F.avg_pool3d(torch.ones(1, 4, 4, 4), 8)
    with raises(NotImplementedError, "\"avg_pool2d\" not implemented for 'Int'"):
        F.avg_pool2d(torch.ones(1, 4, 4, dtype=torch.int32), 2)
    with raises(
        RuntimeError,
        "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but "
        "received {2, -2}",
    ):
        F.adaptive_avg_pool2d(X, (2, -2))
