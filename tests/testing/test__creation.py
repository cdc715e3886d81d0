"""make_tensor: PyTorch's numbers for the same seed."""

import math

import pytest

import tapegrad as torch
from tapegrad.testing import make_tensor


def made(*shape, dtype=torch.float32, **options):
    torch.manual_seed(3)
    return make_tensor(*shape, dtype=dtype, device="cpu", **options)


@pytest.mark.parametrize(
    ("dtype", "options", "numbers"),
    [
        (torch.float32, {}, [-8.923256874084473, -7.0997514724731445, -3.8548355102539062]),
        (torch.float64, {}, [-8.386052478290631, -3.8386759190164748, 4.912468997914518]),
        (torch.float16, {"low": 0}, [0.038360595703125, 0.9501953125, 2.572265625]),
        (torch.float16, {"low": -math.inf, "high": math.inf}, [-64960.0, -51680.0, -28064.0]),
        (
            torch.complex64, {"low": 1, "high": 3},
            [1.0085270404815674 + 1.2111387252807617j, 1.5716849565505981 + 1.0539096593856812j,
             1.9432287216186523 + 1.1202325820922852j],
        ),
        (torch.int64, {}, [4, 2, 7]),
        (torch.int8, {"low": 1.5, "high": 3.5}, [2, 2, 3]),
        (torch.int8, {"low": -math.inf, "high": math.inf}, [-22, 24, 121]),
        (torch.uint8, {"low": 250, "high": 500}, [254, 252, 251]),
        (torch.bool, {}, [False, False, True]),
        (torch.bool, {"exclude_zero": True}, [True, True, True]),
    ],
)  # fmt: skip
def test_numbers(dtype, options, numbers):
    x = made(3, dtype=dtype, **options)
    assert x.dtype == dtype
    assert x.tolist() == numbers


def test_shapes():
    assert made().shape == ()
    assert made(2, 3).tolist() == made((2, 3)).tolist() == made([2, 3]).tolist()


def test_layouts():
    x = made((2, 3), noncontiguous=True)
    assert x.stride() == (6, 2)
    assert x[0].tolist() == [-7.0997514724731445, -8.514813423156738, -7.917906761169434]
    assert made(1, noncontiguous=True).is_contiguous()
    x = made((2, 2, 1, 3), memory_format=torch.channels_last)
    assert x.stride() == (6, 1, 6, 2)
    assert x.is_leaf


def test_gradients_are_for_numbers_with_a_fraction():
    x = made(2, requires_grad=True)
    assert x.requires_grad
    assert x.is_leaf
    with pytest.raises(ValueError, match="not supported for boolean and integral dtypes"):
        made(2, dtype=torch.int64, requires_grad=True)


def test_zeros_become_the_least_normal_number():
    with pytest.warns(FutureWarning, match="Passing `low==high`"):
        x = made(2, low=0, high=0, exclude_zero=True)
    assert x.tolist() == [1.1754943508222875e-38] * 2
    assert made(10, dtype=torch.int32, low=0, high=2, exclude_zero=True).tolist() == [1] * 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"low": 5, "high": 4}, "`low` must be less than `high`, but got 5 >= 4"),
        ({"low": math.nan}, "`low` and `high` cannot be NaN, but got low=nan and high=9"),
        (
            {"dtype": torch.uint8, "low": 300, "high": 500},
            r"is \[300, 500\), but torch.uint8 only supports \[0, 256\)",
        ),
        (
            {"noncontiguous": True, "memory_format": torch.channels_last},
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive",
        ),
    ],
)
def test_ranges_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        made(3, **options)


def test_a_dtype_is_asked_for():
    with pytest.raises(TypeError, match="The requested dtype 'x' is not supported"):
        make_tensor(3, dtype="x", device="cpu")


def test_limits_may_be_integers_larger_than_any_float():
    with pytest.raises(ValueError, match="The value interval specified by `low` and `high`"):
        made(2, low=10**400, high=10**401)
