"""Operators of `torch.ops.aten` that are no public function of `torch`."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any


def _slice(
    self: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    before = (builtins.slice(None),) * (dim % self.dim())
    return self[(*before, builtins.slice(start, end, step))]


def _index(self: Any, indices: Sequence[Any]) -> Any:
    return self[tuple(builtins.slice(None) if each is None else each for each in indices)]


def _to_copy(
    self: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Any:
    options = {} if memory_format is None else {"memory_format": memory_format}
    kind = self.dtype if dtype is None else dtype
    place = self.device if device is None else device
    return self.to(device=place, dtype=kind, copy=True, **options)


def _sym_size(self: Any, dim: int | None = None) -> Any:
    return self.size() if dim is None else self.size(dim)


def _sym_stride(self: Any, dim: int | None = None) -> Any:
    return self.stride() if dim is None else self.stride(dim)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_local_scalar_dense": lambda self: self.item(),
    "_to_copy": _to_copy,
    "index": _index,
    "lift_fresh": lambda self: self,
    "slice": _slice,
    "sym_numel": lambda self: self.numel(),
    "sym_size": _sym_size,
    "sym_stride": _sym_stride,
}
