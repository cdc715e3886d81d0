"""Unique elements: of all of a tensor, of its rows, or of consecutive ones."""

from collections.abc import Callable

import numpy as np

from tapegrad.arrays.namespaces import elements, refuse_batch
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Dim, OperatorLike, Tensor
from tapegrad.core.argument_check import chosen_by, require_tensors
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import existing_axis
from tapegrad.dispatch.op import primitive, vjp
from tapegrad.operators.dtype_check import require_order

__torch__ = "unique unique_consecutive"


def _refused(name: str) -> Callable:
    def rule(g: Array) -> Any:
        raise errors.not_implemented(
            f"the derivative for '{name}' is not implemented.",
            "Ask for the inverse too, and index the tensor: gradients flow through that.",
        )

    return rule


@vjp(x=_refused("_unique2"))
@primitive(name="_unique2", node="Unique2Backward0")
def unique_elements(xp, x, *, found):
    """The different elements of `x`, which are `found`."""
    return found


@vjp(x=_refused("unique_dim"))
@primitive(name="unique_dim", node="UniqueDimBackward0")
def unique_slices(xp, x, *, found):
    """The different slices of `x`, which are `found`."""
    return found


@vjp(x=_refused("unique_consecutive"))
@primitive(name="unique_consecutive", node="UniqueConsecutiveBackward0")
def unique_runs(xp, x, *, found):
    """The elements or slices of `x` that differ from the one before, which are `found`."""
    return found


def _values(operator: OperatorLike, x: Tensor, found: Array) -> Any:
    """`found` as a tensor, with a node that has no derivative where x asks for one."""
    if x.requires_grad and is_grad_enabled():
        return operator(x, found=found)
    return tensor_base.wrap(found)


@require_tensors(name="_unique2")
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim = None,
) -> Any:
    """The different elements in order; on demand where each element went and how often it occurs.

    Shapes: (k,), or with `dim` k slices; inverse the input's, or (size of dim,); counts (k,).

    >>> torch.unique(torch.tensor([3, 1, 3, 2]))
    tensor([1, 2, 3])
    """
    refuse_batch("_unique2", input._array)
    array = elements(input._array)
    axis = _unique_axis(input, dim)
    operator = unique_elements if axis is None else unique_slices
    if axis is not None and array.dtype.kind == "f" and np.isnan(array).any():
        order = _insertion_order(np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1))
        values, inverse, counts = _runs(array.take(order, axis), axis)
        inverse = inverse[np.argsort(order)]
        values = _values(operator, input, values)
        return _chosen(values, inverse, counts, return_inverse, return_counts)
    if not (return_inverse or return_counts):
        return _values(operator, input, np.unique(array, axis=axis, equal_nan=False))
    values, inverse, counts = np.unique(
        array, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    inverse = inverse.reshape(array.shape if axis is None else (array.shape[axis],))
    values = _values(operator, input, values)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _insertion_order(rows: np.ndarray) -> list[int]:
    """The order in which an insertion sort leaves rows (n, k), the first difference deciding.

    Rows with nan have no order of their own: what they come to be depends on the sort. PyTorch's is
    this one up to 16 rows, and beyond them none that could be counted on.
    """
    order: list[int] = []
    for i, row in enumerate(rows):
        at = len(order)
        if order and _is_less(row, rows[order[0]]):
            at = 0
        else:
            while at and _is_less(row, rows[order[at - 1]]):
                at -= 1
        order.insert(at, i)
    return order


def _is_less(a: np.ndarray, b: np.ndarray) -> bool:
    less, greater = a < b, a > b
    different = np.flatnonzero(less | greater)
    return bool(different.size and less[different[0]])


def _unique_axis(input: Tensor, dim: Dim) -> int | None:
    """The axis along which slices are compared, None for all elements one by one."""
    require_order("unique" if dim is None else "unique_dim", input)
    if dim is None:
        return None
    shape = input._array.shape
    axis = existing_axis(dim, len(shape), "Leave dim= away.")
    if any(not n and i != axis for i, n in enumerate(shape)):
        text = "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        raise errors.runtime_error(text, "Slices without elements cannot be told apart.")
    return axis


def _chosen(values: Any, inverse: Any, counts: Any, with_inverse: bool, with_counts: bool) -> Any:
    found = [values]
    if with_inverse:
        found.append(tensor_base.wrap(inverse.astype(np.int64, copy=False)))
    if with_counts:
        found.append(tensor_base.wrap(counts.astype(np.int64, copy=False)))
    return found[0] if len(found) == 1 else tuple(found)


def _runs(array: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The slices that differ from the one before, which one each slice equals, and how many do."""
    n = array.shape[axis]
    rows = np.moveaxis(array, axis, 0)
    others = tuple(range(1, array.ndim))
    starts = np.concatenate([np.ones(min(n, 1), bool), (rows[1:] != rows[:-1]).any(others)])
    values = np.moveaxis(np.ascontiguousarray(rows[starts]), 0, axis)  # slice by slice
    inverse = np.cumsum(starts) - 1
    counts = np.diff(np.append(np.flatnonzero(starts), n))
    return values, inverse, counts


def _consecutive(return_inverse: bool, return_counts: bool) -> str:
    """PyTorch's name for the function that has these results."""
    parts = ["inverse"] * return_inverse + ["counts"] * return_counts
    return "_consecutive_return_" + ("_and_".join(parts) or "output")


@overridable
@chosen_by("return_inverse", "return_counts", names=_consecutive)
@require_tensors
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Dim = None
) -> Any:
    """The elements without those that equal the one before.

    Shapes: (k,), or with `dim` k slices; inverse the input's, or (size of dim,); counts (k,).

    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    refuse_batch("unique_consecutive", input._array)
    require_order("unique", input)
    array = elements(input._array)
    array = array if dim is not None else array.reshape(-1)
    axis = _unique_axis(input, dim) or 0
    values, inverse, counts = _runs(array, axis)
    if dim is None:
        inverse = inverse.reshape(input._array.shape)
    values = _values(unique_runs, input, values)
    return _chosen(values, inverse, counts, return_inverse, return_counts)
