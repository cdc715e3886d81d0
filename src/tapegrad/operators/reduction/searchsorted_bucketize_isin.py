"""Binary search in sorted sequences: searchsorted, bucketize; membership: isin."""

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import int32, int64
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import constant
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.dtype_check import common_dtype, no_kernel

__torch__ = "bucketize isin searchsorted"


@constant(kernels=("places_in",))
def places_in(xp, sequence, values, *, right):
    """How many elements of the sorted last axis of `sequence` come before each of `values`."""
    return xp.places_in(sequence, values, right)


_SEARCH_REST = (
    "*, bool out_int32 = False, bool right = False, str side = None, Tensor sorter = None, "
    "Tensor out = None"
)


def _search(sequence: Any, values: Tensor, right: bool, out_int32: bool, out: Out) -> Any:
    """The common end of searchsorted and bucketize."""
    kind = int32 if out_int32 else int64
    if out is not None and getattr(out, "dtype", None) is not kind:
        raise errors.runtime_error(
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) "
            "or Long(int64) depending on whether out_int32 flag is True, but we got output "
            f"tensor's dtype {out.dtype.scalar_name} and out_int32 flag is "
            f"{bool(out_int32)}",
            f"Give an out tensor of {kind}.",
        )
    dtype = common_dtype(sequence, values)
    if dtype.category in (0, 3):
        raise no_kernel("searchsorted_out_cpu", dtype)
    if dtype.itemsize == 2 and dtype.is_floating_point:
        from tapegrad.core.dtype import float32 as dtype
    a, b = sequence.detach().to(dtype), values
    b = b.detach().to(dtype) if hasattr(b, "_array") else wrap(np.asarray(b, dtype.numpy))
    return finish("searchsorted", places_in(a, b, right=right).to(kind), out)


@per_sample
def searchsorted(
    sorted_sequence: Any,
    input: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
    out: Out = None,
) -> Any:
    """Where each element of `input` would have to be put to keep the sequence sorted.

    Before elements equal to it, or after them with `right=True` or `side="right"`. The sequence is
    a vector, or the last dimension of a tensor with the other dimensions of the input. `sorter`
    has the indices that sort a sequence which is not sorted.

    Shapes: sequence (n,) or (*batch, n), input any or (*batch, k); the result the input's.
    Raises: RuntimeError where `side` and `right` contradict each other, or the shapes do not fit.

    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 4]))
    tensor([1, 2])
    """
    number = isinstance(input, (bool, int, float, complex)) or isinstance(input, np.number)
    if not hasattr(sorted_sequence, "_array") or not (number or hasattr(input, "_array")):
        kinds = ("Tensor input", "Number self")
        forms = tuple(f"Tensor sorted_sequence, {kind}, {_SEARCH_REST}" for kind in kinds)
        raise errors.invalid_combination("searchsorted", (sorted_sequence, input), {}, forms)
    if side not in (None, "left", "right"):
        text = f"side can only be 'left' or 'right' but got {side}"
        raise _refused(text, 'Equal elements: "left" of them.')
    if side == "left" and right:
        text = "side and right can't be set to opposites, got side of left while right was True"
        raise _refused(text, "Give one of them.")
    if sorter is not None:
        _check_sorter(sorted_sequence, sorter)
    shape = sorted_sequence._array.shape
    _check_sequence(shape, () if number else input._array.shape)
    sequence = sorted_sequence if sorter is None else _sorted_by(sorted_sequence, sorter)
    return _search(sequence, input, bool(right) or side == "right", out_int32, out)


def _refused(problem: str, advice: str) -> RuntimeError:
    return errors.runtime_error(f"torch.searchsorted(): {problem}", advice)


def _check_sequence(shape: tuple, values: tuple) -> None:
    if len(shape) == 1:
        return
    if not values:
        raise _refused(
            "input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({len(shape)}) and input value's dim(0) numel(1)",
            "Give a value for each sequence.",
        )
    if not shape:
        text = "boundaries tensor should have positive dimension, but got 0 dimension"
        raise _refused(text, "The sequence is a vector.")
    if shape[:-1] != values[:-1]:
        raise _refused(
            "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(shape)} "
            f"and input value tensor {list(values)}",
            "Each row of values has a sequence of its own, or all have one.",
        )


def _check_sorter(sequence: Any, sorter: Any) -> None:
    a, b = sequence._array.shape, sorter._array.shape
    if a != b:
        raise _refused(
            "boundary and sorter must have the same size, but got boundary tensor "
            f"{list(a)}and got sorter tensor {list(b)}",
            "torch.argsort gives one.",
        )
    if sorter.dtype is not int64:
        text = f"sorter must be a tensor of long dtype but got dtype {sorter.dtype.scalar_name}"
        raise _refused(text, "torch.argsort gives one.")


def _sorted_by(sequence: Any, sorter: Any) -> Any:
    indices, n = sorter._array, sorter._array.shape[-1]
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise _refused("sorter index out of range", f"Indices go from 0 to {n - 1}.")
    return wrap(np.take_along_axis(sequence._array, indices, -1))


@require_tensors
def bucketize(
    input: Tensor, boundaries: Any, *, out_int32: bool = False, right: bool = False, out: Out = None
) -> Any:
    """The number of the bucket each element falls into, between sorted `boundaries`.

    An element equal to a boundary belongs to the bucket below it; above it with `right=True`.

    Shapes: boundaries (n,); the result has the input's.
    Raises: RuntimeError for boundaries in more than one dimension.

    >>> torch.bucketize(torch.tensor([3, 6, 9]), torch.tensor([1, 3, 5, 7, 9]))
    tensor([1, 3, 4])
    """
    number = isinstance(input, (bool, int, float, complex)) or isinstance(input, np.number)
    if not hasattr(boundaries, "_array") or not (number or hasattr(input, "_array")):
        rest = "Tensor boundaries, *, bool out_int32 = False, bool right = False"
        forms = (f"Tensor input, {rest}, Tensor out = None", f"Number self, {rest}")
        raise errors.invalid_combination("bucketize", (input, boundaries), {}, forms)
    if boundaries._array.ndim != 1:
        text = f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})"
        advice = "searchsorted() takes a row of boundaries for each row of values."
        raise errors.runtime_error(text, advice)
    return _search(boundaries, input, bool(right), out_int32, out)


# --- membership ------------------------------------------------------------------------------

_ISIN_FORMS = tuple(
    f"{kinds}, *, bool assume_unique = False, bool invert = False, Tensor out = None"
    for kinds in (
        "Tensor elements, Tensor test_elements",
        "Number element, Tensor test_elements",
        "Tensor elements, Number test_element",
    )
)


@constant(kernels=("members",))
def members(xp, x, among, *, unique, invert):
    """Whether each element of `x` is one of `among`."""
    return xp.members(x, among, unique, invert)


@require_tensors
def isin(
    elements: Any = None,
    test_elements: Any = None,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Out = None,
    element: Any = None,
    test_element: Any = None,
) -> Any:
    """Whether each of `elements` is one of `test_elements`; the opposite with `invert`.

    Shape: that of `elements`.
    Raises: RuntimeError for complex numbers.

    >>> torch.isin(torch.tensor([[1, 2], [3, 4]]), torch.tensor([2, 3]))
    tensor([[False,  True],
            [ True, False]])
    """
    x = elements if element is None else element
    among = test_elements if test_element is None else test_element
    tensors = [hasattr(each, "_array") for each in (x, among)]
    numbers = [isinstance(each, (bool, int, float, complex)) for each in (x, among)]
    if not any(tensors) or not all(a or b for a, b in zip(tensors, numbers, strict=True)):
        raise errors.invalid_combination("isin", (x, among), {}, _ISIN_FORMS)
    if out is not None and out._array.dtype != bool:
        text = f"Expected out tensor to have dtype bool, but got {errors.c_name(out.dtype)} instead"
        raise errors.runtime_error(text, "Give an out tensor of torch.bool.")
    dtype = common_dtype(x, among)
    if dtype.category in (0, 3):
        text = f"Unsupported input type encountered for isin(): {dtype.scalar_name}"
        raise errors.runtime_error(text, "It compares integers and real numbers.")
    if dtype.itemsize == 2 and dtype.is_floating_point:
        from tapegrad.core.dtype import float32 as dtype
    a, b = (
        each.detach().to(dtype)
        if hasattr(each, "_array")
        else wrap(np.asarray(each).astype(dtype.numpy))
        for each in (x, among)
    )
    found = members(a, b, unique=bool(assume_unique), invert=bool(invert))
    return finish("isin", found, out)
