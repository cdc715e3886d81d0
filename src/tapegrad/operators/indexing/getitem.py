"""Indexing: `x[...]` with everything PyTorch accepts.

Integers, slices, None and the ellipsis make views, one operator each; masks and index tensors then
make a copy, at once.
"""

import operator

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.streams.recorded import RECORDERS
from tapegrad.core.torch_function import overridden
from tapegrad.operators.indexing import index_check
from tapegrad.operators.indexing.gather_index_select import index_at, index_mask
from tapegrad.operators.shape.as_strided import alias
from tapegrad.operators.shape.slice_select_narrow import select_index, slice_axis
from tapegrad.operators.shape.squeeze_unsqueeze import insert_axis

FULL = slice(None)


# --- x[index] --------------------------------------------------------------------------------


def getitem(x: Tensor, index: Any) -> Any:
    """`x[index]`."""
    kind = type(index)
    try:
        if kind is int:
            return _select(x, 0, index, 0)
        if kind is slice:
            return sliced(x, 0, index)
        given = index
        if kind is not tuple:
            if index is Ellipsis:
                return alias(x)
            array = getattr(index, "_array", None)
            if array is not None and array.ndim and x._array.ndim and array.dtype.char in "lq":
                return _read(x, index, (0,))
            given = indices_of(index)
        view, arrays = basic(x, given)
        if arrays:
            return _advanced(view, arrays)
        return alias(x) if view is x else view
    except Exception:
        again = overridden(tensor_base.Tensor.__getitem__, (x, index))
        if again is None:
            raise
    return again()


def indices_of(index: Tensor) -> tuple:
    """One index as a tuple of one; a list of indices that are no numbers is a tuple, too."""
    if isinstance(index, (list, range)) and len(index) < 32:
        for item in index:
            if item is None or item is Ellipsis or isinstance(item, (slice, list, tuple, range)):
                return tuple(index)
            if isinstance(item, (tensor_base.TensorBase, np.ndarray)):
                return tuple(index)
    return index if isinstance(index, tuple) else (index,)  # torch.Size, too


def basic(x: Tensor, index: tuple) -> tuple[Any, list]:
    """Apply what makes views; returns the view, and index arrays by axis (None: no array there)."""
    index = tuple([_plain(item) for item in index])
    used = sum(_axes_used(item) for item in index)
    ndim = x._array.ndim
    if not ndim and used == 1 and type(index[0]) is int:
        return _select(x, 0, index[0], 0), []  # which raises
    if used > ndim:
        text = f"too many indices for tensor of dimension {ndim}"
        raise errors.index_error(text, f"The index names {used} dimensions.")
    axis = given = 0
    arrays: list[Any] = []
    for item in index:
        if type(item) is int:
            x = _select(x, axis, item, given)
            given += 1
            continue
        if type(item) is slice:
            if item != FULL:
                x = sliced(x, axis, item, among=True)
            axis += 1
        elif item is Ellipsis:
            axis += ndim - used
            given += ndim - used
            continue
        elif item is None:
            x = insert_axis(x, axis=axis)
            axis += 1
            continue
        elif item is True or item is False:
            x = insert_axis(x, axis=axis)
            arrays += [None] * (axis - len(arrays)) + [tensor_base.wrap(np.array([item]))]
            axis += 1
            continue
        else:
            arrays += [None] * (axis - len(arrays)) + [item]
            axis += _axes_used(item)
            arrays += [None] * (axis - len(arrays))
        given += 1
    return x, arrays


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis or item is True or item is False:
        return 0
    if isinstance(item, tensor_base.TensorBase) and item._array.dtype.kind == "b":
        return item._array.ndim
    return 1


def _plain(item: Any) -> Any:
    """One of: int, slice, None, Ellipsis, bool, a tensor of at least one dimension."""
    kind = type(item)
    if kind is int or kind is slice or item is None or item is Ellipsis or kind is bool:
        return item
    if isinstance(item, tensor_base.TensorBase):
        return index_check.index_tensor(item)
    if isinstance(item, (list, tuple, range)):
        from tapegrad.operators.creation.tensor import tensor

        made = tensor(item if item else np.empty(0, np.int64))
        if made._array.dtype.kind == "f":
            made = made.long()  # as PyTorch reads a list of floats
        return index_check.index_tensor(made)
    if isinstance(item, np.ndarray):
        array = RECORDERS[-1].as_constant(item) if RECORDERS else item
        return index_check.index_tensor(tensor_base.wrap(array))
    if kind is not np.bool_:  # which NumPy 2.0 takes for a number, with a warning
        try:
            return operator.index(item)
        except TypeError:
            pass
    raise errors.index_error(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
        f"are valid indices (got {errors.type_name(item)})",
        "Convert the index first, for example with int().",
    )


def _select(x: Tensor, axis: int, index: int, given: int) -> Any:
    shape = x._array.shape
    if not shape:
        if index or axis:
            raise index_check.outside(index, given, 0)
        raise errors.index_error(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number",
            "A 0-d tensor has one element: item() gives it.",
        )
    n = shape[axis]
    if index < 0:
        index += n
    if not 0 <= index < n:
        if index < 0:
            index -= n
        raise index_check.outside(index, given, n)
    return select_index(x, axis=axis, index=index)


def sliced(x: Tensor, axis: int, key: slice, among: bool = False) -> Any:
    """The part of one axis that a slice names, a view.

    `among` other indices, a slice that reaches over the whole axis makes no view of its own.
    """
    shape = x._array.shape
    if not shape:
        text = "slice() cannot be applied to a 0-dim tensor."
        raise errors.index_error(text, "A 0-d tensor has one element: item() gives it.")
    step = key.step
    if step is not None and operator.index(step) <= 0:
        if step == 0:
            raise errors.value_error("slice step cannot be zero", "1 takes every element.")
        raise errors.value_error("step must be greater than zero", "flip() reverses a dimension.")
    try:
        start, stop, step = key.indices(shape[axis])
    except TypeError:
        text = "slice indices must be integers or None or have an __index__ method"
        raise errors.type_error(text, "Convert the bounds with int().") from None
    if among and step == 1 and stop == shape[axis] and (key.start is None or key.start == 0):
        return x
    return slice_axis(x, axis=axis, start=start, stop=max(start, stop), step=step)


def _advanced(x: Tensor, arrays: list) -> Any:
    """`x` at masks and index tensors, given for each axis of `x` (None: the whole axis)."""
    first = next(i for i, item in enumerate(arrays) if item is not None)
    index_check.check_masks(x, arrays)
    rest = [item for item in arrays[first + 1 :] if item is not None]
    single = arrays[first]
    if not rest and single._array.dtype.kind == "b" and first == 0:
        return index_mask(x, single)
    axes, index = index_check.normal_index(x, arrays)
    return _read(x, index, axes)


def _read(x: Tensor, index: Tensor, axes: tuple[int, ...]) -> Any:
    try:
        return index_at(x, index, axes=axes)
    except IndexError:
        index_check.check_bounds(x, index, axes)
        raise
