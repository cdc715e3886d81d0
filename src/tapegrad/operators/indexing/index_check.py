"""Index tensors: what may be one, what it points at, and the errors of those that do not fit."""

import numpy as np

from tapegrad.arrays.namespaces import elements, is_mapped, namespace_of, refuse_batch
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import users_level

# --- masks and index tensors of x[...] ---


def index_tensor(item: Any, numbers: bool = True) -> Any:
    """An index tensor that may be used as one; a 0-d tensor as a number, if `numbers`."""
    array = item._array
    kind = array.dtype.kind
    if kind not in "iub" or (array.dtype.itemsize > 4 and kind == "u"):
        raise _not_an_index(item)
    if numbers and not array.ndim and not is_mapped(array):
        return bool(array) if kind in "bu" else int(array)
    if kind == "u":
        errors.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
            "instead.",
            users_level(),
        )
        return tensor_base.wrap(array.astype(bool))
    return item


def _not_an_index(item: Any) -> IndexError:
    text = "tensors used as indices must be long, int, byte or bool tensors"
    return errors.index_error(text, f"This one is {item.dtype}: convert it with .long().")


def check_masks(x: Tensor, arrays: list) -> None:
    """Raise unless each mask has the sizes of the axes it stands for."""
    for axis, item in enumerate(arrays):
        if item is not None and item._array.dtype.kind == "b":
            check_mask(x, item, axis)


def check_mask(x: Tensor, mask: Tensor, axis: int) -> None:
    """Raise unless a mask has the sizes of the axes from `axis` on, as many as there are."""
    shape, own = x._array.shape, mask._array.shape
    for i, (n, m) in enumerate(zip(own, shape[axis:], strict=False)):
        if n != m:
            raise errors.index_error(
                f"The shape of the mask {list(own)} at index {i} does not match the shape of the "
                f"indexed tensor {list(shape)} at index {axis + i}",
                "A mask has the sizes of the dimensions it selects from.",
            )


def normal_index(x: Tensor, arrays: list) -> tuple[tuple[int, ...], Any]:
    """Axes, and one index tensor: as given for one axis, else one slice of it for each axis."""
    axes: list[int] = []
    parts: list[Any] = []
    for axis, item in enumerate(arrays):
        if item is None:
            continue
        if item._array.dtype.kind == "b":
            refuse_batch("index", item._array)
            for i, part in enumerate(np.nonzero(elements(item._array))):
                axes.append(axis + i)
                parts.append(part)
        else:
            axes.append(axis)
            parts.append(item._array)
    if len(parts) == 1:
        given = next(item for item in arrays if item is not None)
        return tuple(axes), given if given._array is parts[0] else tensor_base.wrap(parts[0])
    xp = namespace_of(parts)
    try:
        joined = xp.broadcast_arrays(*parts)
    except ValueError:
        shapes = ", ".join(str(list(part.shape)) for part in parts)
        raise errors.index_error(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes "
            f"{shapes}",
            "Index tensors are read together, element by element.",
        ) from None
    return tuple(axes), tensor_base.wrap(xp.stack(joined))


def check_bounds(x: Tensor, index: Tensor, axes: tuple[int, ...]) -> None:
    """Raise for the first index tensor that points outside its axis, numbered among themselves."""
    parts = (index._array,) if len(axes) == 1 else index._array
    for number, (axis, part) in enumerate(zip(axes, parts, strict=True)):
        n, part = x._array.shape[axis], elements(part)
        if part.size:
            low, high = np.minimum.reduce(part, None), np.maximum.reduce(part, None)
            if low < -n or high >= n:
                wrong = low if low < -n else high
                if not n:
                    text = "index is out of bounds for dimension with size 0"
                    raise errors.index_error(text, "That dimension has no elements.")
                raise outside(wrong, number, n)


def outside(index: Any, axis: int, n: int) -> IndexError:
    """An index outside one dimension, where negative ones count from the last."""
    advice = f"Indices go from {-n} to {n - 1}." if n else "That dimension has no elements."
    return errors.advised(bounds_error(index, axis, n, IndexError), advice)


# --- indices along one dimension ---

INT32_OR_INT64 = ("int32", "int64")


def check_index_dtype(
    index: Tensor, message: str, kinds: Any = ("int64",), error: type = RuntimeError
) -> None:
    """Raise `error(message)` unless the dtype of `index` is one of `kinds`."""
    if index._array.dtype.char in "lq":  # int64 is always one
        return
    if index._array.dtype.name not in kinds:
        advice = f"The index is {index.dtype}: convert it with .long()."
        raise errors.advised(error(message), advice)


def check_range(index: Tensor, n: int, error: Any, low: int = 0) -> None:
    """Raise what `error(number)` gives for the first number outside low, ..., n - 1."""
    array = elements(index._array)
    if array.size and (np.minimum.reduce(array, None) < low or np.maximum.reduce(array, None) >= n):
        wrong = array[(array < low) | (array >= n)].ravel()[0]
        advice = f"Indices go from {low} to {n - 1}." if n else "That dimension has no elements."
        raise errors.advised(error(wrong), advice)


def bounds_error(wrong: int, axis: int, n: int, kind: type = RuntimeError) -> Any:
    """An index outside one dimension."""
    return kind(f"index {wrong} is out of bounds for dimension {axis} with size {n}")
