"""sinc around zero."""

import math

import numpy as np

import tapegrad as torch


def test_sinc_is_smooth_at_zero():
    x = torch.tensor([-0.5, 0.0, 0.7], dtype=torch.float64, requires_grad=True)
    y = torch.sinc(x)
    np.testing.assert_allclose(y.detach().numpy(), np.sinc([-0.5, 0.0, 0.7]))
    (first,) = torch.autograd.grad(y.sum(), x)
    np.testing.assert_allclose(first.numpy(), [4 / math.pi, 0, -1.3652], rtol=1e-4)


def test_slopes_of_sinc_keep_their_digits_around_zero():
    x = torch.tensor([0.0, 1e-8, 0.0795], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.sinc(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(
        slope.detach().numpy(), [0.0, -3.289868133696452e-08, -0.25991667503455557], rtol=1e-14
    )
    np.testing.assert_allclose(
        second.numpy(), [-3.2898681336964524, -3.2898681336964515, -3.2285313742451565], rtol=1e-14
    )
