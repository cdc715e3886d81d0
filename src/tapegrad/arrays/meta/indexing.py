"""Elements of arrays that are nowhere: what index arrays read and write."""

from typing import Any

import numpy as np

from tapegrad.arrays.kernel import meta_rule
from tapegrad.arrays.meta.creation import empty_like
from tapegrad.core import errors
from tapegrad.core.meta_array import nowhere


@meta_rule
def read_at(x: Any, index: Any, axes: Any = None) -> Any:
    """By index arrays on axes; or by any key of NumPy's."""
    if axes is None:
        return _read(x, index)
    key: list[Any] = [slice(None)] * x.ndim
    parts = (index,) if len(axes) == 1 else index
    for axis, each in zip(axes, parts, strict=True):
        key[axis] = each
    return _read(x, tuple(key))


def _read(x: Any, key: Any) -> Any:
    """What NumPy's indexing gives, computed on one byte that is broadcast."""
    whole = key if type(key) is tuple else (key,)
    kinds = [getattr(k, "dtype", None) for k in whole]
    if any([kind is not None and kind.kind == "b" for kind in kinds]):
        raise unknown_size("nonzero")
    shape = _indexed_shape(x.shape, whole)
    return nowhere(shape, x.dtype)


def _indexed_shape(shape: Any, key: tuple) -> tuple[int, ...]:
    arrays = [i for i, k in enumerate(key) if _is_array(k)]
    if any([k is Ellipsis for k in key]):
        at = next(i for i, k in enumerate(key) if k is Ellipsis)
        used = sum([k is not None and k is not Ellipsis for k in key])
        key = (*key[:at], *(slice(None),) * (len(shape) - used), *key[at + 1 :])
        arrays = [i for i, k in enumerate(key) if _is_array(k)]
    broadcast = np.broadcast_shapes(*[np.shape(key[i]) for i in arrays]) if arrays else ()
    apart = bool(arrays) and arrays != list(range(arrays[0], arrays[-1] + 1))
    found: list[int] = []
    axis = 0
    for i, k in enumerate(key):
        if k is None:
            found.append(1)
            continue
        n = shape[axis]
        axis += 1
        if isinstance(k, slice):
            found.append(len(range(*k.indices(n))))
        elif i in arrays and not apart and i == arrays[0]:
            found += broadcast
    found += shape[axis:]
    return (*broadcast, *found) if apart else tuple(found)


def _is_array(k: Any) -> bool:
    return not (k is None or k is Ellipsis or isinstance(k, slice))


def unknown_size(name: str) -> NotImplementedError:
    """The size of a result depends on elements."""
    if name == "nonzero":
        text = (
            "The register_meta function for torch.nonzero() raises unimplemented by default, as a "
            "correct data-independent implementation does not exist. This implementation returns "
            "a fake value, assuming all elements of the tensor are non-zero. To enable this "
            "registration, please set 'torch.fx.experimental._config."
            "meta_nonzero_assume_all_nonzero' to True."
        )
        return errors.not_implemented(text, _UNKNOWN)
    return errors.not_implemented(
        f"aten::{name}: attempted to run this operator with Meta tensors, but there was no fake "
        "impl or Meta kernel registered.",
        _UNKNOWN,
    )


_UNKNOWN = "The shape of the result depends on elements, which a tensor on meta has not."


@meta_rule
def nonzero(x: Any, /) -> Any:
    raise unknown_size("nonzero")


@meta_rule
def argwhere(x: Any, /) -> Any:
    raise unknown_size("nonzero")


@meta_rule
def unique_all(x: Any, /) -> Any:
    raise unknown_size("_unique2")


unique_counts = meta_rule(unique_all)
unique_inverse = meta_rule(unique_all)
unique_values = meta_rule(unique_all)
unique = meta_rule(unique_all)


@meta_rule
def tally(x: Any, weights: Any, minimum: int) -> Any:
    raise unknown_size("bincount")


@meta_rule
def count(mask: Any) -> Any:
    raise unknown_size("masked_select")


flatnonzero = meta_rule(argwhere)
extract = meta_rule(count)
compress = meta_rule(count)


@meta_rule
def take(x: Any, indices: Any, /, axis: int | None = None, **_: Any) -> Any:
    if axis is None:
        return nowhere(np.shape(indices), x.dtype)
    axis %= x.ndim
    return nowhere((*x.shape[:axis], *np.shape(indices), *x.shape[axis + 1 :]), x.dtype)


@meta_rule
def take_along_axis(x: Any, indices: Any, /, axis: int = -1) -> Any:
    if not x.ndim:
        return nowhere(indices.shape, x.dtype)
    axis %= x.ndim
    shape, own = list(indices.shape), list(x.shape)
    size = shape[axis]
    shape[axis] = own[axis] = 1
    both = list(np.broadcast_shapes(tuple(shape), tuple(own)))
    both[axis] = size
    return nowhere(tuple(both), x.dtype)


@meta_rule
def gather_along(x: Any, index: Any, axis: int) -> Any:
    return nowhere(index.shape, x.dtype)


@meta_rule
def add_at(g: Any, shape: Any, *_: Any) -> Any:
    return nowhere(tuple(shape), g.dtype)


add_along = meta_rule(add_at)
spread_mask = meta_rule(add_at)


@meta_rule
def write_at(x: Any, *_: Any) -> Any:
    return empty_like(x)


write_mask = meta_rule(write_at)
write_part = meta_rule(write_at)
scatter_along = meta_rule(write_at)


@meta_rule
def pick(x: Any, target: Any) -> Any:
    return nowhere(target.shape, x.dtype)


@meta_rule
def unpick(g: Any, target: Any, shape: Any) -> Any:
    return nowhere(tuple(shape), g.dtype)


@meta_rule
def spread_rows(g: Any, indices: Any, n: int, padding: int, by_frequency: bool) -> Any:
    return nowhere((n, g.shape[-1]), g.dtype)
