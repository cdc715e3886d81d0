"""Floating-point numbers of 16 bits: computed in float32, kept and differentiated in their own."""

import numpy as np
import pytest

import tapegrad as torch

NARROW = [torch.float16, torch.bfloat16]

FUNCTIONS = [
    lambda x: x + 0.1,
    lambda x: x * x / 3,
    lambda x: 1 - x,
    lambda x: x**2.5,
    lambda x: x.sigmoid(),
    lambda x: x.tanh().exp(),
    lambda x: torch.erf(x),
    lambda x: torch.lgamma(x),
    lambda x: x.clamp(0.2, 0.9),
    lambda x: torch.where(x > 0.5, x, 0.0),
    lambda x: torch.deg2rad(x),
    lambda x: torch.maximum(x, x * 0.5),
    lambda x: torch.lerp(x, -x, 0.3),
    lambda x: x.logit(0.1),
    lambda x: x % 0.3,
]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_and_gradients_keep_the_dtype(function, dtype):
    points = [0.25, 0.625, 1.5]
    narrow = torch.tensor(points, dtype=dtype, requires_grad=True)
    wide = torch.tensor(points, requires_grad=True)
    y, z = function(narrow), function(wide)
    assert y.dtype is dtype
    tolerance = {"rtol": 2e-2, "atol": 1e-2, "equal_nan": True}
    np.testing.assert_allclose(y.float().tolist(), z.tolist(), **tolerance)
    y.sum().backward()
    z.sum().backward()
    assert narrow.grad.dtype is dtype
    np.testing.assert_allclose(narrow.grad.float().tolist(), wide.grad.tolist(), **tolerance)


def test_a_result_is_rounded_once():
    x = torch.tensor([1.0], dtype=torch.float16)
    assert torch.sigmoid(x).item() == 0.73095703125
    assert torch.addcmul(x, x, x, value=0.0004).item() == 1
    assert torch.addcmul(x, x, x, value=0.0006).item() == 1.0009765625


def test_comparisons_of_narrow_numbers():
    for dtype in NARROW:
        x = torch.tensor([1.0, 2.0, float("nan")], dtype=dtype)
        assert (x > 1).tolist() == [False, True, False]
        assert x.isnan().tolist() == [False, False, True]
        assert torch.isclose(x, x).tolist() == [True, True, False]


def test_narrow_and_wide_promote():
    half, brain = (torch.ones(2, dtype=dtype) for dtype in NARROW)
    assert (half + brain).dtype is torch.float32
    assert (half + torch.ones(2)).dtype is torch.float32
    assert (half + torch.tensor(1.0)).dtype is torch.float16
    assert (half + torch.ones(2, dtype=torch.int64)).dtype is torch.float16
    assert torch.sqrt(brain).dtype is torch.bfloat16


def test_bits_of_narrow_numbers_are_refused():
    with pytest.raises(NotImplementedError, match="\"bitwise_and_cpu\" not implemented for 'Half'"):
        torch.ones(2, dtype=torch.float16) & 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_of_16_bits_keep_what_is_small(dtype):
    ones = torch.ones(2, 3000, dtype=dtype)
    assert ones.sum(1).tolist() == pytest.approx([3000, 3000], rel=0.004)
    assert ones.mean().item() == 1 and ones.mean(1).tolist() == [1, 1]
    assert ones.cumsum(1)[0, -1].item() == pytest.approx(3000, rel=0.004)
    assert ones.softmax(1)[0, 0].item() == pytest.approx(1 / 3000, rel=0.004)
    assert ones.norm().item() == pytest.approx(6000**0.5, rel=0.004)
    assert torch.nn.functional.mse_loss(ones, ones * 3).item() == 4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_losses_of_16_bits_have_gradients_of_16_bits(dtype):
    x = torch.zeros(3, 1000, dtype=dtype, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(x, torch.tensor([0, 1, 2]))
    loss.backward()
    assert loss.dtype is dtype and loss.item() == pytest.approx(6.9078, rel=0.004)
    assert x.grad.dtype is dtype
    assert x.grad[0, :2].tolist() == pytest.approx([(0.001 - 1) / 3, 0.001 / 3], rel=0.004)
