"""Parts of complex numbers: views, and real gradients."""

import math

import numpy as np
import pytest

import tapegrad as torch

inf, nan = math.inf, math.nan


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
