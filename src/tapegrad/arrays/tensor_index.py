"""Indexing in the Tensor namespace: the array standard's names and our kernels, for tensors."""

from __future__ import annotations

from typing import Any

from tapegrad.ops import index as _index


def take(x: Any, indices: Any, /, *, axis: int = 0) -> Any:
    return _index.index_select(x, axis, indices)


# --- kernels beyond the standard -------------------------------------------------------------


def read_at(x: Any, index: Any, axes: tuple[int, ...]) -> Any:
    return _index.index_at(x, index, axes=axes)


def add_at(x: Any, shape: Any, index: Any, axes: tuple[int, ...]) -> Any:
    return _index.add_at(x, index, shape=tuple(shape), axes=axes)


def spread_mask(x: Any, shape: Any, mask: Any) -> Any:
    return _index.spread_mask(x, mask, shape=tuple(shape))


__all__ = ["add_at", "read_at", "spread_mask", "take"]
