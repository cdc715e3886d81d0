"""Kernels on class numbers: picking one entry of the class axis, and putting it back."""

import math

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.memory_pool import zeros
from tapegrad.core.annotations import Any, Array


def _places(target: Array, shape: tuple[int, ...]) -> Any:
    """Where in the flattened array of `shape` (N, C, ...) the class of each target is."""
    n_inner = math.prod(shape[2:])
    rows = np.arange(0, shape[0] * shape[1] * n_inner, shape[1] * n_inner or 1)
    if n_inner == 1:
        return rows.reshape(target.shape) + target
    inner = np.arange(n_inner).reshape(shape[2:])
    return rows.reshape(-1, *(1,) * len(shape[2:])) + target * n_inner + inner


@kernel
def pick(x: Array, target: Array) -> Any:
    """x[i, target[i, ...], ...] for x (N, C, ...) and target (N, ...)."""
    return x.reshape(-1).take(_places(target, x.shape).astype(np.intp, copy=False))


@kernel
def unpick(g: Array, target: Array, shape: tuple[int, ...]) -> Any:
    """Zeros of `shape` (N, C, ...) with `g` (N, ...) at the picked places."""
    out = zeros((math.prod(shape),), g.dtype)
    out[_places(target, shape)] = g
    return out.reshape(shape)
