"""The element in the middle: median, nanmedian."""

from tapegrad import return_types
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Dim, Namespace, OperatorLike, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.limits import iinfo
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import require_order
from tapegrad.operators.reduction.max_min import CHOICE, along, choice_rules, choose, extremum_rules

__torch__ = "median nanmedian"


@primitive(node="MedianBackward1", kernels=("median_index", "put_along"), **CHOICE)
def median_along(xp, x, *, axis, keepdims):
    """The lower median along one axis, and where it is."""
    return choose(xp, x, xp.median_index(x, axis, False), axis, keepdims)


@primitive(node="NanmedianBackward1", kernels=("median_index", "put_along"), **CHOICE)
def median_of_numbers_along(xp, x, *, axis, keepdims):
    """The lower median along one axis of what is not nan, and where it is."""
    return choose(xp, x, xp.median_index(x, axis, True), axis, keepdims)


choice_rules(median_along)
choice_rules(median_of_numbers_along)


def _median_of_all(xp: Namespace, x: Array, ignore_nan: bool) -> Any:
    flat = xp.reshape(x, (-1,))
    return choose(xp, flat, xp.median_index(flat, 0, ignore_nan), 0, False)[0]


@primitive(node="MedianBackward0", kernels=("median_index",))
def median_of_all(xp, x, *, axis):
    """The lower median of all elements; `axis` names all axes."""
    return _median_of_all(xp, x, False)


@primitive(node="NanmedianBackward0", kernels=("median_index",))
def median_of_all_numbers(xp, x, *, axis):
    """The lower median of all elements that are not nan; `axis` names all axes."""
    return _median_of_all(xp, x, True)


extremum_rules(median_of_all)
extremum_rules(median_of_all_numbers)


def _median(
    name: str, of_all: Any, operator: OperatorLike, input: Tensor, dim: Dim, keepdim: bool, out: Out
):
    if dim is None:
        if keepdim:
            text = f'{name}() missing 1 required positional arguments: "dim"'
            raise errors.type_error(text, "Say which dimension to keep with size 1.")
        require_order("median_cpu", input, bools=False)
    else:
        axis_of(dim, input._array.ndim)
        require_order("median_out", input, bools=False)
        return along(name, operator, getattr(return_types, name), input, dim, keepdim, out)
    if not input._array.size:
        return finish(name, _of_nothing(input), out)
    return finish(name, of_all(input, axis=tuple(range(input._array.ndim))), out)


def _of_nothing(input: Tensor) -> Any:
    """nan; of integers what nan is converted to: the least of wide ones, 0 of narrow ones."""
    if input.dtype.is_floating_point:
        return input.sum() * float("nan")
    wide = input.dtype.itemsize >= 4
    return input.new_full((), iinfo(input.dtype).min if wide else 0)


@require_tensors
def median(input: Tensor, dim: Dim = None, keepdim: bool = False, *, out: Out = None) -> Any:
    """The lower median; with `dim` a pair (values, indices); nan if there is one.

    Of all elements, equal ones share the gradient; along `dim` it goes to the one at the index.

    Shape: () without `dim`; else the input's without it, with `keepdim` of size 1 there.

    >>> torch.median(torch.tensor([1.0, 4.0, 3.0, 2.0]))
    tensor(2.)
    """
    return _median("median", median_of_all, median_along, input, dim, keepdim, out)


@require_tensors
def nanmedian(input: Tensor, dim: Dim = None, keepdim: bool = False, *, out: Out = None) -> Any:
    """The lower median of the elements that are not nan; otherwise as `median`.

    Shape: () without `dim`; else the input's without it, with `keepdim` of size 1 there.

    >>> torch.nanmedian(torch.tensor([1.0, float("nan"), 3.0]))
    tensor(1.)
    """
    of_all, operator = median_of_all_numbers, median_of_numbers_along
    return _median("nanmedian", of_all, operator, input, dim, keepdim, out)
