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
