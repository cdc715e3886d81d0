"""Kernels of parts: zeros around a slice, copies, views of broadcast memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.layout import permuted


def copied(x: Any, order: Any) -> Any:
    """A copy in row-major order ("C"), laid out as `x` is ("K"), or with its axes in `order`."""
    if type(order) is tuple:
        out = permuted(x.shape, x.dtype, order)
        np.copyto(out, x)
        return out
    return x.copy("C" if 0 in x.strides else order)


def view_to(x: Any, /, shape: tuple[int, ...]) -> Any:
    """A view of `x` broadcast to `shape`, however small; writable if nothing is repeated."""
    extra = len(shape) - x.ndim
    whole = x[(None,) * extra + (...,)]
    return whole if whole.shape == shape else np.broadcast_to(x, shape)


def pad_select(x: Any, shape: Any, axis: int, index: int) -> Any:
    """Zeros of `shape` with `x` at `index` of `axis`."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * axis + (index,)] = x
    return out


def pad_slice(x: Any, shape: Any, axis: int, start: int, stop: int, step: int) -> Any:
    """Zeros of `shape` with `x` in the places start, start + step, ... below stop of `axis`."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * axis + (slice(start, stop, step),)] = x
    return out
