"""Parts of numbers: signs, exponents, neighbours, divisors, complex parts."""

import math

import numpy as np
import pytest

import tapegrad as torch
from tests.ops.gradient import assert_equal_numbers, gradients

inf, nan = math.inf, math.nan


def test_signbit_sees_the_sign_of_zero():
    assert torch.signbit(torch.tensor([-0.0, 0.0, -1.0, nan])).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert torch.signbit(torch.tensor([3, -2])).tolist() == [False, True]
    assert torch.signbit(torch.tensor([True])).tolist() == [False]


def test_infinities_are_told_apart():
    x = torch.tensor([inf, -inf, 1.0])
    assert torch.isposinf(x).tolist() == [True, False, False]
    assert torch.isneginf(x).tolist() == [False, True, False]
    assert torch.isposinf(torch.tensor([1, 2])).tolist() == [False, False]


def test_frexp_and_ldexp_are_inverse():
    x = torch.tensor([1.0, -2.0, 0.0, 6.5], requires_grad=True)
    pair = torch.frexp(x)
    assert pair.mantissa.tolist() == [0.5, -0.5, 0, 0.8125]
    assert pair.exponent.tolist() == [1, 2, 0, 3]
    assert pair.exponent.dtype is torch.int32
    assert torch.ldexp(*pair).tolist() == x.tolist()
    assert pair.mantissa.grad_fn.name() == "FrexpBackward0"
    pair.mantissa.sum().backward()
    assert x.grad.tolist() == [0.5, 0.25, 1, 0.125]
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        torch.frexp(torch.tensor([1]))


def test_ldexp_differentiates_in_both():
    first, second = gradients(torch.ldexp, [0.0, 1.0, -1.0], [-1.0, 0.0, 2.0])
    assert_equal_numbers(first, [0.5, 1, 4])
    assert_equal_numbers(second, [0, math.log(2), -4 * math.log(2)])
    assert torch.ldexp(torch.tensor([3]), torch.tensor([3])).tolist() == [24]


def test_nextafter_gives_its_gradient_to_the_one_it_leaves():
    first, second = gradients(torch.nextafter, [1.0, 2.0], [3.0, 1.0])
    assert (first, second) == ([1, 1], [0, 0])
    assert torch.nextafter(torch.tensor(0.0), torch.tensor(1.0)).item() == 2**-149


def test_divisors_of_integers():
    a, b = torch.tensor([12, -18, 0]), torch.tensor([18, 12, 0])
    assert torch.gcd(a, b).tolist() == [6, 6, 0]
    assert torch.lcm(a, torch.tensor([18, 12, 5])).tolist() == [36, 36, 0]
    with pytest.raises(NotImplementedError, match="\"gcd_cpu\" not implemented for 'Float'"):
        torch.gcd(torch.ones(1), torch.ones(1))


def test_heaviside_takes_its_value_at_zero():
    x = torch.tensor([1.0, -2.0, 0.0, nan], requires_grad=True)
    y = torch.heaviside(x, torch.tensor([0.5]))
    assert y.tolist() == [1, 0, 0.5, 0]
    with pytest.raises(RuntimeError, match="derivative for aten::heaviside is not implemented"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="not yet implemented for tensors with different dtypes"):
        torch.heaviside(x, torch.tensor([1]))


def test_sinc_is_smooth_at_zero():
    x = torch.tensor([-0.5, 0.0, 0.7], dtype=torch.float64, requires_grad=True)
    y = torch.sinc(x)
    np.testing.assert_allclose(y.detach().numpy(), np.sinc([-0.5, 0.0, 0.7]))
    (first,) = torch.autograd.grad(y.sum(), x)
    np.testing.assert_allclose(first.numpy(), [4 / math.pi, 0, -1.3652], rtol=1e-4)


# --- complex numbers -------------------------------------------------------------------------


def complex_gradient(function, value):
    x = torch.tensor([value], dtype=torch.complex128, requires_grad=True)
    y = function(x)
    (g,) = torch.autograd.grad(y.real.sum() if y.dtype.is_complex else y.sum(), x)
    return g.item()


@pytest.mark.parametrize(
    ("function", "gradient"),
    [
        (torch.abs, 0.6 + 0.8j),
        (torch.angle, -0.16 + 0.12j),
        (torch.real, 1),
        (torch.imag, 1j),
        (torch.conj, 1),
        (lambda z: z * z, 6 - 8j),
        (lambda z: z * 1j, -1j),
        (torch.exp, complex(np.conj(np.exp(3 + 4j)))),
        (lambda z: 1 / z, complex(np.conj(-1 / (3 + 4j) ** 2))),
        (torch.sgn, (1 - 0.6 * (0.6 + 0.8j)) / 5),
    ],
)
def test_gradients_of_complex_numbers_are_those_of_pytorch(function, gradient):
    assert abs(complex_gradient(function, 3 + 4j) - gradient) < 1e-12


def test_abs_and_angle_have_no_slope_at_zero():
    assert complex_gradient(torch.abs, 0) == 0
    assert complex_gradient(torch.angle, 0) == 0


def test_parts_of_complex_numbers_are_views():
    z = torch.tensor([1 + 2j])
    z.real[0] = 5
    z.imag[0] = 7
    assert z.tolist() == [5 + 7j]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex"):
        _ = torch.ones(1).imag


def test_a_real_tensor_is_its_own_conjugate():
    x = torch.ones(2)
    assert x.conj() is x
    assert x.real is x
    assert torch.angle(torch.tensor([-1.0, 2.0, nan])).tolist()[:2] == [pytest.approx(math.pi), 0]


def test_a_real_input_of_a_complex_product_gets_a_real_gradient():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * torch.tensor([3 + 4j])
    y.real.sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (torch.float32, [3])


def test_neighbours_of_16_bits_are_of_16_bits():
    one, two = torch.tensor([1.0]).half(), torch.tensor([2.0]).half()
    assert torch.nextafter(one, two).item() == 1.0009765625
    x = torch.tensor([1.0, 1.0], dtype=torch.float16, requires_grad=True)
    torch.nextafter(x, two).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_ldexp_does_not_overflow_on_the_way():
    assert torch.ldexp(torch.tensor([1e-30]), torch.tensor([140])).item() > 1e12
    assert torch.ldexp(torch.tensor([1e30]), torch.tensor([-200])).item() > 0
    assert torch.ldexp(torch.tensor([1j]), torch.tensor([1])).item() == 2j


def test_limits_of_logit_that_cross_are_tried_from_below():
    y = torch.logit(torch.tensor([0.1, 1.5]), 0.7)
    assert y.tolist() == [0.8472978472709656, -0.8472977876663208]
