"""Gamma and Dirichlet numbers: moments, and slopes at a fixed probability."""

import numpy as np
import pytest

import tapegrad as torch

special = pytest.importorskip("scipy.special")
SHAPES = [0.05, 0.3, 1.0, 2.5, 30.0, 1e4]
CHANCES = np.array([0.01, 0.2, 0.5, 0.8, 0.99])


@pytest.mark.parametrize("a", SHAPES)
def test_a_gamma_number_moves_so_that_its_probability_stays(a):
    h = 1e-4 * a
    x = special.gammaincinv(a, CHANCES)
    expected = (special.gammaincinv(a + h, CHANCES) - special.gammaincinv(a - h, CHANCES)) / (2 * h)
    shapes = torch.full((5,), a, dtype=torch.float64)
    slope = torch._standard_gamma_grad(shapes, torch.tensor(x))
    np.testing.assert_allclose(slope.numpy(), expected, rtol=2e-5)


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.6), (1.0, 1.0), (2.0, 5.0), (40.0, 3.0)])
def test_a_beta_number_moves_so_that_its_probability_stays(a, b):
    h = 1e-4 * a
    x = special.betaincinv(a, b, CHANCES)
    moved = special.betaincinv(a + h, b, CHANCES) - special.betaincinv(a - h, b, CHANCES)
    alpha, total = (torch.full((5,), v, dtype=torch.float64) for v in (a, a + b))
    slope = torch._dirichlet_grad(torch.tensor(x), alpha, total)
    np.testing.assert_allclose(slope.numpy() * (1 - x), moved / (2 * h), rtol=2e-5)


def test_a_seed_gives_the_numbers_of_pytorch():
    torch.manual_seed(0)
    drawn = torch._standard_gamma(torch.tensor([0.5, 1.0, 2.0, 10.0, 0.1]))
    expected = [7.8936e-04, 1.1898e-01, 1.8824, 7.9011, 1.1811e-02]
    np.testing.assert_allclose(drawn.numpy(), expected, rtol=1e-4)


def test_samples_have_a_first_derivative_only():
    a = torch.tensor([0.5, 1.0], requires_grad=True)
    (slope,) = torch.autograd.grad(torch._standard_gamma(a).sum(), a, create_graph=True)
    with pytest.raises(NotImplementedError, match="derivative for '_standard_gamma_grad' is not"):
        slope.sum().backward()
    with pytest.raises(RuntimeError, match="derivative for aten::_sample_dirichlet is not"):
        torch._sample_dirichlet(a).sum().backward()


def test_integers_are_refused():
    with pytest.raises(NotImplementedError, match="\"gamma_cpu\" not implemented for 'Long'"):
        torch._standard_gamma(torch.tensor([1, 2]))
