"""Writing at an index: `x[...] = value`, `index_put`."""

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.arrays.numpy.getitem_setitem import store_at
from tapegrad.autograd.captured import refuse_captured
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import INFERENCE
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.autograd.writable import check_overlap, check_writable, warn_repeated
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Namespace, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.promote_types import can_cast
from tapegrad.core.registration import DISPATCH_CLASSES
from tapegrad.core.result_order import as_first
from tapegrad.core.scalar import fitted
from tapegrad.core.streams.recorded import RECORDERS
from tapegrad.core.tensor_base import REFUSING
from tapegrad.core.torch_dispatch import CLASSES, tensors_of
from tapegrad.core.torch_function import overridden
from tapegrad.dispatch.in_place import check_storable, overwrite, update, written
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.indexing import index_check
from tapegrad.operators.indexing.copy_fill_zero import copy_, fill_
from tapegrad.operators.indexing.getitem import FULL, basic, indices_of, sliced
from tapegrad.operators.shape.clone import clone
from tapegrad.operators.shape.expand_broadcast import expand
from tapegrad.operators.shape.reshape_flatten_atleast import reshape
from tapegrad.operators.shape.squeeze_unsqueeze import unsqueeze


def _zeros(xp: Namespace, g: Array) -> Any:
    return xp.zeros((), dtype=g.dtype)


def _unwritten(xp: Namespace, g: Array, index: Array, axes: tuple[int, ...], add: bool) -> Any:
    return g if add else xp.write_at(g, _zeros(xp, g), index, axes, False)


@vjp(
    x=_unwritten,
    values=lambda xp, g, values_like, index, axes: sum_to_shape(
        xp, xp.read_at(g, index, axes), values_like.shape
    ),
)
@linear(
    node="IndexPutBackward0", hidden=("index",), kernels=("write_at", "read_at"), order=as_first
)
def write_at(xp, x, values, index, *, axes, add):
    """`x` with `values` at index arrays on `axes`, or with them added there."""
    return xp.write_at(x, values, index, axes, add)


@vjp(
    x=lambda xp, g, mask: xp.write_mask(g, _zeros(xp, g), mask),
    values=lambda xp, g, values_like, mask: sum_to_shape(xp, g[mask], values_like.shape),
)
@linear(node="IndexPutBackward0", hidden=("mask",), kernels=("write_mask",), order=as_first)
def write_mask(xp, x, values, mask):
    """`x` with `values` where `mask`, which may have fewer axes, is true."""
    return xp.write_mask(x, values, mask)


# --- x[index] = value ----------------------------------------------------------------------------


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """`x[index] = value`."""
    try:
        if REFUSING[0]:
            refuse_captured("index_put_" if _has_arrays(index) else "copy_", x)
        if x._node is None and x._view is None and _stored(x, index, value):
            return
        given = value
        if not isinstance(value, tensor_base.TensorBase):
            given = _number(x, value)
        if index is False:
            return
        whole = type(index) is slice and index == FULL and x._array.ndim
        if index is Ellipsis or whole:
            view, arrays = x, list[Any]()
        elif index is True:
            view, arrays = unsqueeze(x, 0), list[Any]()
        elif type(index) is slice:
            view, arrays = sliced(x, 0, index, among=True), list[Any]()
        else:
            view, arrays = basic(x, indices_of(index))
        if arrays and CLASSES and tensors_of((view, given, arrays)):
            DISPATCH_CLASSES().put(view, arrays, given)
        elif arrays:
            _put(view, arrays, _without_leading_ones(given), False)
        elif given._array.ndim or is_batched(given._array) or not view._array.ndim:
            shape = view._array.shape
            fits = given._array.shape == shape
            copy_(view, given if fits else expand(_without_leading_ones(given), shape))
        else:
            check_writable(view, (given,))
            check_storable(view)
            fill_(view, given)
    except Exception:
        again = overridden(tensor_base.Tensor.__setitem__, (x, index, value))
        if again is None:
            raise
        again()


def _wrapped(number: np.ndarray) -> Any:
    return tensor_base.wrap(RECORDERS[-1].as_constant(number) if RECORDERS else number)


def _has_arrays(index: Any) -> bool:
    """Whether an index holds a mask or numbers of places."""
    if type(index) is not tuple:
        return isinstance(index, (tensor_base.TensorBase, np.ndarray, list))
    return any([_has_arrays(item) for item in index])


def _stored(x: Tensor, index: Any, value: Any) -> bool:
    """Write where neither a graph nor views have to know, and nothing has to be converted.

    That is at integers and slices, at an index tensor or a mask; a number, or a tensor as large as
    what is there. NumPy checks before it writes; what it refuses, and what is not done here, the
    general path does, or refuses in PyTorch's words.
    """
    array = x._array
    if type(array) is not np.ndarray or x._counter is INFERENCE or type(MODE.get()) is not bool:
        return False
    name = "index_put_" if isinstance(index, tensor_base.TensorBase) else ""
    if name:
        index = index._array
        if type(index) is not np.ndarray or index.dtype.char not in "lq?" or not index.ndim:
            return False
        if array.dtype.kind != "f":
            return False
    else:
        for item in index if type(index) is tuple else (index,):
            if type(item) is not int and (type(item) is not slice or item.step is not None):
                return False
    try:
        if type(value) is float or type(value) is int:
            if array.dtype.kind != "f" or not -6e4 < value < 6e4:  # it fits the smallest of them
                return False
            array[index] = value
            written(x, name or "fill_")
            return True
        if not _is_apart(x, value):
            if name or not _stands_there(x, index, value):
                return False
            written(x, "copy_")
            return True
        value = value._array
        if type(value) is not np.ndarray or value.dtype is not array.dtype or not value.ndim:
            return False
        if not name:
            shape = array[index].shape
        elif index.dtype.char != "?":
            shape = (*index.shape, *array.shape[1:])
        else:
            return False
        if value.shape != shape:
            return False
        array[index] = value
    except (IndexError, TypeError, ValueError):
        return False
    written(x, name or "copy_")
    return True


def _is_apart(x: Tensor, value: Scalar) -> bool:
    """Whether a value is a tensor outside of the graph with memory that is not that of `x`."""
    if not isinstance(value, tensor_base.TensorBase) or value._node is not None:
        return False
    return value._view is None and (x._counter is None or value._counter is not x._counter)


def _stands_there(x: Tensor, index: Any, value: Scalar) -> bool:
    """Whether a value is `x[index]` itself: what `x[index] += 1` assigns is changed already."""
    if not isinstance(value, tensor_base.TensorBase) or value._node is not None:
        return False
    if x._counter is None or value._counter is not x._counter:
        return False
    own = value._array
    if type(own) is not np.ndarray:
        return False
    there = x._array[(*index, ...) if type(index) is tuple else (index, ...)]
    alike = there.shape == own.shape and there.strides == own.strides and there.dtype is own.dtype
    return alike and there.ctypes.data == own.ctypes.data


def _number(x: Tensor, value: Any) -> Any:
    """A number to assign, as a 0-d tensor."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        value = value.item()
    if isinstance(value, (bool, int, float, complex)):
        if x._array.dtype.kind == "f" and not isinstance(value, complex) and -6e4 < value < 6e4:
            return _wrapped(np.asarray(value, x._array.dtype))  # fits the smallest of them
        return _wrapped(np.asarray(fitted(value, x.dtype), x._array.dtype))
    text = f"can't assign a {errors.type_name(value)} to a torch.{x.dtype.scalar_name}Tensor"
    raise errors.type_error(text, "Assign a number or a tensor: torch.tensor(...) makes one.")


def _without_leading_ones(value: Any) -> Any:
    shape = value._array.shape
    extra = 0
    while extra < len(shape) and shape[extra] == 1:
        extra += 1
    return reshape(value, shape[extra:]) if extra else value


def _check_values(x: Tensor, values: Tensor) -> None:
    if values._array.dtype != x._array.dtype:
        raise errors.runtime_error(
            "Index put requires the source and destination dtypes match, got "
            f"{x.dtype.scalar_name} for the destination and {values.dtype.scalar_name} for "
            "the source.",
            f"Convert the values with .to({x.dtype}).",
        )


def _put(x: Tensor, arrays: list, values: Tensor, add: bool) -> None:
    """Write `values` at masks and index tensors, given for each axis of `x`."""
    if not arrays and _check_whole("index_put_", x, values):
        return
    check_writable(x, (values,))
    first = arrays[0]
    alone = first is not None and all(item is None for item in arrays[1:])
    masked = alone and first._array.dtype.kind == "b" and not add
    if masked and values._array.size == 1 and can_cast(values.dtype, x.dtype):
        values = values.to(x.dtype)  # one number for all: of any dtype, as masked_fill_ takes it
    index_check.check_masks(x, arrays)
    in_batch = any(is_batched(t._array) for t in (x, values, *arrays) if t is not None)
    array = x._array
    warn_repeated("index_put_", x)
    check_overlap(x, (values, *arrays), apart=True)
    if masked and in_batch:
        _check_values(x, values)
        update("index_put_", x, lambda before: write_mask(before, values, first))
        return
    if masked:
        mask = first._array
        if values._array.ndim:  # a number fits, however many there are
            shape = (int(np.count_nonzero(mask)), *array.shape[mask.ndim :])
            values = _broadcastable(values, shape)
        _check_values(x, values)
        source = values._array

        def store() -> None:
            array[mask] = source

        if values._array.size == 1:
            warn_repeated("masked_fill_", x)
        overwrite("index_put_", write_mask, (x, values, first), {}, store, True)
        return
    axes, index, values = _placed(x, arrays, values)
    options = {"axes": axes, "add": add}
    if in_batch:
        update("index_put_", x, lambda before: write_at(before, values, index, **options))
        return
    overwrite(
        "index_put_",
        write_at,
        (x, values, index),
        options,
        lambda: store_at(array, values._array, index._array, axes, add),
        True,
    )


def _placed(x: Tensor, arrays: list, values: Tensor) -> tuple[tuple[int, ...], Any, Any]:
    """The axes that are indexed, the indices of all of them, and the values to write there."""
    axes, index = index_check.normal_index(x, arrays)
    values = _broadcastable(values, _indexed_shape(x, axes, index))
    _check_values(x, values)
    index_check.check_bounds(x, index, axes)
    return axes, index, values


def _check_whole(name: str, x: Tensor, values: Tensor) -> bool:
    """Raise for want of indices, unless there is nothing that they would point to."""
    if values._array.size != 1:
        _check_values(x, _broadcastable(values, x._array.shape))
        if not x._array.size:
            return True
    text = f"{name}(): there are no indices"
    raise errors.runtime_error(text, "Pass a tensor for each dimension that is indexed.")


def _indexed_shape(x: Tensor, axes: tuple[int, ...], index: Tensor) -> tuple[int, ...]:
    """The shape that `x` has at index arrays on `axes`."""
    shape = x._array.shape
    one = index._array.shape if len(axes) == 1 else index._array.shape[1:]
    if axes[-1] - axes[0] == len(axes) - 1:
        return (*shape[: axes[0]], *one, *shape[axes[-1] + 1 :])
    return (*one, *[n for i, n in enumerate(shape) if i not in axes])


def _broadcastable(values: Tensor, shape: tuple[int, ...]) -> Any:
    """Values to write where an index gives `shape`."""
    have = values._array.shape
    if have == shape:
        return values
    extra = max(len(have) - len(shape), 0)
    fits = all(n == 1 for n in have[:extra]) and all(
        m in (1, n) for m, n in zip(have[extra:][::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise errors.runtime_error(
            f"shape mismatch: value tensor of shape {list(have)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}",
            "Counted from the last, dimensions must be equal or 1.",
        )
    return reshape(values, have[extra:]) if extra else values


def delitem(self: Tensor, index: Any) -> None:
    """Elements of a tensor cannot be taken out: an error."""
    text = "Tensor does not support deleting items"
    raise errors.type_error(text, "x[mask] is a tensor without the others.")


# --- index_put ------------------------------------------------------------------------------------


def _given(input: Tensor, indices: Tensor, name: str) -> list:
    """The index tensors of `index_put` by axis, masks and all."""
    if not isinstance(indices, (tuple, list)):
        advice = f"Put it in a tuple: {name}((index,), values)."
        raise errors.must_be(name, "indices", 1, "tuple of Tensors", indices, advice)
    errors.need_sequence(indices, "Index tensors only: x[...] = values takes the rest.")
    _check_number(input, len(indices))
    arrays: list[Any] = []
    for item in indices:
        item = index_check.index_tensor(item, numbers=False)
        arrays.append(item)
        if item._array.dtype.kind == "b":
            index_check.check_mask(input, item, len(arrays) - 1)
            arrays += [None] * (item._array.ndim - 1)
    _check_number(input, len(arrays))
    return arrays


def _check_number(input: Tensor, n: int) -> None:
    if n > input._array.ndim:
        text = f"too many indices for tensor of dimension {input._array.ndim} (got {n})"
        raise errors.index_error(text, "One index for each dimension at most.")


def index_put_(input: Tensor, indices: Tensor, values: Tensor, accumulate: bool = False) -> Any:
    """Write `values` where the index tensors say, or add them there.

    Shapes: values broadcast to that of `input[indices]`; the input's stays.

    >>> x = torch.zeros(3)
    >>> x.index_put_((torch.tensor([0, 0]),), torch.tensor([1.0, 2.0]), accumulate=True)
    tensor([3., 0., 0.])
    """
    if REFUSING[0]:
        refuse_captured("index_put_", input)
    check_writable(input)
    _put(input, _given(input, indices, "index_put_"), values, accumulate)
    return input


@require_tensors
def index_put(input: Tensor, indices: Tensor, values: Tensor, accumulate: bool = False) -> Any:
    """The tensor with `values` where the index tensors say, or with them added there.

    Shapes: values broadcast to that of `input[indices]`; the result has the input's.

    >>> torch.index_put(torch.zeros(3), (torch.tensor([0, 2]),), torch.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    arrays = _given(input, indices, "index_put")
    if not arrays and _check_whole("index_put", input, values):
        return clone(input)
    axes, index, values = _placed(input, arrays, values)
    return write_at(input, values, index, axes=axes, add=accumulate)


__all__ = ["index_put", "index_put_"]
