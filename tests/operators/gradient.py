"""What tests of subgradients share: values and gradients of a function at given points."""

import numpy as np

import tapegrad as torch


def value_and_gradients(function, *points):
    """The values of a function and its gradients, all as lists of float64 numbers."""
    leaves = [torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in points]
    y = function(*leaves)
    gradients = torch.autograd.grad(y.sum(), leaves, allow_unused=True)
    return y.tolist(), *(None if g is None else g.tolist() for g in gradients)


def gradients(function, *points):
    """The gradients alone: one list, or a tuple of lists for several points."""
    found = value_and_gradients(function, *points)[1:]
    return found[0] if len(found) == 1 else found


def assert_equal_numbers(got, want):
    """Equal to 12 digits, infinities by sign, nan where nan is expected."""
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-300, equal_nan=True)
