"""Numbers for tests that compare with PyTorch: sines and cosines of 0, 1, 2, ..."""

import numpy as np

import tapegrad as torch


def sines(*shape):
    return torch.from_numpy(np.sin(np.arange(float(np.prod(shape))).reshape(shape)))


def cosines(*shape):
    return torch.from_numpy(np.cos(np.arange(float(np.prod(shape))).reshape(shape)))


def value_and_gradients(function, *inputs):
    """The values of a function and the gradients of their sum, each as a flat list."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    y = function(*inputs)
    gradients = torch.autograd.grad(y.sum(), inputs)
    return [t.detach().flatten().tolist() for t in (y, *gradients)]
