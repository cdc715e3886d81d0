"""Kernels that read images at scattered pixels, and that add up what comes back."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np


def read_points(x: Any, index: Any) -> Any:
    """Pixels `index` (N, P) of images x (N, C, *space), as (N, C, P); 0 for a negative index."""
    n, c = x.shape[:2]
    flat = x.reshape((n, c, prod(x.shape[2:])))
    out = np.empty((n, c, index.shape[1]), x.dtype)
    outside = index < 0
    safe = np.where(outside, 0, index)
    for i in range(n):
        np.take(flat[i], safe[i], axis=1, out=out[i], mode="clip")
        if outside[i].any():
            out[i, :, outside[i]] = 0
    return out


def add_points(g: Any, index: Any, space: tuple[int, ...]) -> Any:
    """Images (N, C, *space): zeros with g (N, C, P) added at pixels `index` (N, P), if any."""
    n, c = g.shape[:2]
    size = prod(space)
    out = np.empty((n, c, size), g.dtype)
    for i in range(n):
        inside = index[i] >= 0
        places = index[i][inside] + np.arange(0, c * size, size)[:, None]
        values = g[i][:, inside].astype(np.float64)
        found = np.bincount(places.reshape(-1), values.reshape(-1), c * size)
        out[i] = found.reshape((c, size))
    return out.reshape((n, c, *space))
