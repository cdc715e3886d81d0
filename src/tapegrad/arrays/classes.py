"""Kernels on class numbers: picking one entry of the class axis, and putting it back."""

from __future__ import annotations

from typing import Any

import numpy as np


def pick(x: Any, target: Any) -> Any:
    """x[i, target[i, ...], ...] for x (N, C, ...) and target (N, ...)."""
    return np.take_along_axis(x, np.expand_dims(target, 1), 1)[:, 0]


def unpick(g: Any, target: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of `shape` (N, C, ...) with `g` (N, ...) at the picked places."""
    out = np.zeros(shape, g.dtype)
    index = np.expand_dims(target, 1)
    np.put_along_axis(out, index, np.expand_dims(g, 1), 1)
    return out
