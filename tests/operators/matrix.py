"""Matrices for tests of linear algebra, and their comparison with expected numbers."""

import numpy as np

import tapegrad as torch


def matrix(values):
    """A float64 tensor."""
    return torch.tensor(values, dtype=torch.float64)


def close(x, values):
    """The tensor has the shape and, but for rounding, the values expected."""
    rtol = 1e-9 if x.dtype.itemsize >= 8 and x.dtype is not torch.complex64 else 1e-5
    assert tuple(x.shape) == np.shape(values)
    np.testing.assert_allclose(x.detach().numpy(), values, rtol=rtol, atol=rtol)
