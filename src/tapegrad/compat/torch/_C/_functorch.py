"""`torch._C._functorch`: which transforms a tensor takes part in, and its batch axis moved."""

from typing import Any

from tapegrad.arrays.batched.array import Level as _Batch
from tapegrad.arrays.namespaces import is_batched as _is_batched
from tapegrad.core import errors as _errors
from tapegrad.core.missing import refuses as _refuses
from tapegrad.func.level import (
    axis_of_batch,
    behind,
    debug_unwrap,
    enter,
    is_inside,
    is_mapped,
    is_tracked,
    leave,
    lift,
    transforms,
)
from tapegrad.tensors.tensor import Tensor


def maybe_current_level() -> int | None:
    """How many transforms are running; None outside of all.

    >>> torch._C._functorch.maybe_current_level() is None
    True
    """
    return len(transforms()) or None


def current_level() -> int:
    """The same, where there is one."""
    level = maybe_current_level()
    if level is None:
        raise _errors.runtime_error(
            "maybe_layer.has_value() INTERNAL ASSERT FAILED",
            "No transform of torch.func is running: ask maybe_current_level().",
        )
    return level


def is_batchedtensor(tensor: Tensor, /) -> bool:
    """Whether the innermost transform that a tensor takes part in is a `vmap`."""
    what = _innermost(tensor)
    return type(what) is _Batch


def is_gradtrackingtensor(tensor: Tensor, /) -> bool:
    """Whether the innermost transform that a tensor takes part in takes derivatives."""
    what = _innermost(tensor)
    return what is not None and type(what) is not _Batch


def is_functorch_wrapped_tensor(tensor: Tensor, /) -> bool:
    """Whether a tensor takes part in a transform."""
    return _innermost(tensor) is not None


def is_functionaltensor(tensor: Tensor, /) -> bool:
    """Whether a tensor is one of `functionalize`, whose tensors are plain ones here."""
    return False


def is_legacy_batchedtensor(tensor: Tensor, /) -> bool:
    """Whether a tensor is of the batches of `is_grads_batched`, which are no level of `vmap`."""
    return _is_batched(tensor._array) and not is_batchedtensor(tensor)


def _innermost(tensor: Tensor) -> Any:
    """What the innermost transform that a tensor takes part in is known by."""
    found = transforms()
    if not found:
        return None
    edges = behind(tensor)
    for _, what in found:
        if type(what) is _Batch:
            if is_mapped(tensor._array, what):
                return what
        elif is_tracked(tensor, what, edges):
            return what
    return None


def maybe_get_level(tensor: Tensor, /) -> int:
    """The number of the innermost transform that a tensor takes part in; -1 if there is none."""
    found = transforms()
    what = _innermost(tensor)
    for i, (_, each) in enumerate(found):
        if what is not None and each is what:
            return len(found) - i
    return -1


def maybe_get_bdim(tensor: Tensor, /) -> int:
    """Which axis the batch is outside of the transform; -1 for a tensor without one."""
    return axis_of_batch(tensor._array, _innermost(tensor)) if is_batchedtensor(tensor) else -1


def get_unwrapped(tensor: Tensor, /) -> Tensor:
    """What a tensor is outside of the innermost transform it takes part in."""
    if _innermost(tensor) is None:
        raise _errors.runtime_error(
            "No wrappers present!", "The tensor takes part in no transform of torch.func."
        )
    return debug_unwrap(tensor, recurse=False)


def _batch_at(level: int) -> Any:
    """The `vmap` that has a number."""
    found = transforms()
    what = found[-level][1] if 0 < level <= len(found) else None
    if type(what) is not _Batch:
        raise _errors.runtime_error(
            f"vmap level {level} is not there", "Levels count the transforms that run, from 1."
        )
    return what


def _add_batch_dim(tensor: Tensor, in_dim: int, level: int) -> Tensor:
    """A tensor in a running `vmap`, its dimension `in_dim` the batch."""
    return enter(tensor, axis=in_dim % tensor.ndim, level=_batch_at(level))


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """A tensor outside of a running `vmap`, its batch as dimension `out_dim`."""
    what = _batch_at(level)
    if not is_inside(tensor._array, what):
        tensor = lift(tensor, level=what)
    return leave(tensor, axis=out_dim % (tensor.ndim + 1), level=what)


def reshape_dim_into(src: int, dst: int, x: Tensor) -> Tensor:
    """An axis moved in front of another one and merged with it.

    >>> torch._C._functorch.reshape_dim_into(0, 1, torch.ones(2, 3, 4)).shape
    torch.Size([3, 8])
    """
    src %= x.ndim
    dst %= x.ndim - 1  # the axis is gone from where it was
    moved = x.movedim(src, dst)
    shape = moved.shape
    return moved.reshape(*shape[:dst], shape[dst] * shape[dst + 1], *shape[dst + 2 :])


def reshape_dim_outof(src: int, size1: int, x: Tensor) -> Tensor:
    """An axis taken apart into one of `size1` and the rest.

    >>> torch._C._functorch.reshape_dim_outof(0, 2, torch.ones(6, 4)).shape
    torch.Size([2, 3, 4])
    """
    src %= x.ndim
    shape = x.shape
    if shape[src] % size1:
        raise _errors.runtime_error(
            "shape[src] % size1 == 0 INTERNAL ASSERT FAILED",
            f"{size1} does not divide {shape[src]}, the size of the axis.",
        )
    return x.reshape(*shape[:src], size1, shape[src] // size1, *shape[src + 1 :])


__getattr__ = _refuses(__name__)
