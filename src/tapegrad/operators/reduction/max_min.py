"""The largest and the smallest element: max, min, amax, amin, argmax, argmin, median."""

from typing import Any

from tapegrad import return_types
from tapegrad.core import errors
from tapegrad.core.annotations import Array, Callable, Dim, Namespace, OperatorLike, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.family import family
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import constant, primitive
from tapegrad.operators.dtype_check import refuse_kinds, require_order
from tapegrad.operators.reduction.sum_mean import reduction_axes

__all__ = ["amax", "amin", "argmax", "argmin", "max", "min"]


def _chosen(xp: Namespace, x: Array, y: Array, axis: tuple[int, ...]) -> tuple:
    """Where the extremum is, nan like nan, and how many share it: an axis reduced has size 1."""
    kept = tuple([1 if i in axis else n for i, n in enumerate(x.shape)])
    y = xp.reshape(y, kept)
    hit = (x == y) | (xp.isnan(x) & xp.isnan(y))
    return hit, xp.astype(xp.count_nonzero(hit, axis=axis, keepdims=True), y.dtype)


def _extremum_vjp(xp, g, x, y, axis):
    hit, n = _chosen(xp, x, y, axis)
    return xp.where(hit, xp.reshape(g, n.shape) / n, 0.0)


def _extremum_jvp(xp, t, x, y, axis):
    hit, n = _chosen(xp, x, y, axis)
    total = xp.sum(xp.where(hit, t, 0.0), axis=axis, keepdims=True)
    return xp.reshape(total / n, y.shape)


def extremum_rules(operator: OperatorLike) -> None:
    """Rules of operators that reduce to an extremum: ties share its gradient evenly."""
    operator.vjp(x=_extremum_vjp)
    operator.jvp(x=_extremum_jvp)


@primitive(node="AmaxBackward0")
def largest(xp, x, *, axis, keepdims):
    """The largest element along `axis`."""
    return xp.max(x, axis=axis, keepdims=keepdims)


@primitive(node="AminBackward0")
def smallest(xp, x, *, axis, keepdims):
    """The smallest element along `axis`."""
    return xp.min(x, axis=axis, keepdims=keepdims)


@primitive(node="MaxBackward1")
def largest_of_all(xp, x, *, axis, keepdims):
    """The largest element."""
    return xp.max(x, axis=axis, keepdims=keepdims)


@primitive(node="MinBackward1")
def smallest_of_all(xp, x, *, axis, keepdims):
    """The smallest element."""
    return xp.min(x, axis=axis, keepdims=keepdims)


for _operator in (largest, smallest, largest_of_all, smallest_of_all):
    extremum_rules(_operator)


def _kept_axis(xp: Namespace, x: Array, axis: int, keepdims: bool) -> Any:
    """A reduced array with its axis back, of size 1."""
    return x if keepdims else xp.expand_dims(x, axis=axis)


def _picked(xp: Namespace, t: Array, indices: Array, axis: int, keepdims: bool) -> Any:
    """The elements of `t` at `indices` along `axis`."""
    found = xp.take_along_axis(t, _kept_axis(xp, indices, axis, keepdims), axis=axis)
    return found if keepdims else xp.squeeze(found, axis=axis)


def choice_rules(operator: OperatorLike) -> None:
    """Rules of operators that choose one element along an axis."""
    operator.vjp(
        x=lambda xp, g, x_like, indices, axis, keepdims: xp.put_along(
            _kept_axis(xp, g, axis, keepdims),
            _kept_axis(xp, indices, axis, keepdims),
            x_like.shape,
            axis,
        )
    )
    operator.jvp(x=lambda xp, t, indices, axis, keepdims: _picked(xp, t, indices, axis, keepdims))


def choose(xp: Namespace, x: Array, indices: Array, axis: int, keepdims: bool) -> tuple:
    """The elements at `indices` (kept as an axis of size 1), and the indices."""
    values = xp.take_along_axis(x, indices, axis=axis)
    if keepdims:
        return values, indices
    return xp.squeeze(values, axis=axis), xp.squeeze(indices, axis=axis)


CHOICE = {"outputs": ("values", "indices"), "nondiff": ("indices",)}


@primitive(node="MaxBackward0", kernels=("put_along",), **CHOICE)
def largest_along(xp, x, *, axis, keepdims):
    """The largest element along one axis, and where it is."""
    return choose(xp, x, xp.argmax(x, axis=axis, keepdims=True), axis, keepdims)


@primitive(node="MinBackward0", kernels=("put_along",), **CHOICE)
def smallest_along(xp, x, *, axis, keepdims):
    """The smallest element along one axis, and where it is."""
    return choose(xp, x, xp.argmin(x, axis=axis, keepdims=True), axis, keepdims)


for _operator in (largest_along, smallest_along):
    choice_rules(_operator)


@constant
def argmax_along(xp, x, *, axis, keepdims):
    """The index of the largest element."""
    return xp.astype(xp.argmax(x, axis=axis, keepdims=keepdims), xp.int64)


@constant
def argmin_along(xp, x, *, axis, keepdims):
    """The index of the smallest element."""
    return xp.astype(xp.argmin(x, axis=axis, keepdims=keepdims), xp.int64)


# --- the public functions ---


def refuse_empty(name: str, input: Tensor, dim: Dim = None, shown: Any = None) -> None:
    """Raise where there is nothing to choose from along `dim`, or in the whole tensor."""
    if input._array.size:
        return
    if dim is None:
        raise errors.runtime_error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument.",
            "The tensor is empty.",
        )
    axis = axis_of(dim, input._array.ndim)
    if input._array.shape[axis] == 0:
        shown = axis if shown is None else shown
        text = f"{name}(): Expected reduction dim {shown} to have non-zero size."
        raise errors.index_error(text, "There is no element to choose.")


def along(
    name: str, operator: OperatorLike, result: Any, input: Tensor, dim: Dim, keepdim: bool, out: Out
) -> Any:
    """The chosen elements along `dim` and their indices, as a named pair."""
    refuse_empty(name, input, dim)
    if input._array.ndim == 0:
        values, indices = operator(input.reshape(1), axis=0, keepdims=False)
    else:
        axis = axis_of(dim, input._array.ndim)
        values, indices = operator(input, axis=axis, keepdims=bool(keepdim))
    return finish(name, result((values, indices)), out, input)


_FORMS = (
    "Tensor input, *, Tensor out = None",
    "Tensor input, Tensor other, *, Tensor out = None",
    "Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None",
)


def _check_forms(name: str, input: Tensor, dim: Dim) -> None:
    """Raise unless `max` or `min` is asked of a tensor; of two; or along a dimension."""
    if not hasattr(input, "_array") and dim is None:
        raise errors.must_be(name, "input", 1, "Tensor", input)
    right = dim is None or hasattr(dim, "_array") or hasattr(dim, "__index__")
    right = right and not isinstance(dim, bool)
    if not right or not hasattr(input, "_array"):
        raise errors.invalid_combination(name, (input, dim), {}, _FORMS)


@family
def _extreme(name: str, of_all: OperatorLike, of_axis: OperatorLike, of_two: str) -> Callable:
    result = getattr(return_types, name)

    def extreme(input: Any, dim: Dim = None, keepdim: bool = False, *, out: Out = None) -> Any:
        _check_forms(name, input, dim)
        if dim is None:
            refuse_empty(name, input)
            require_order(f"{name}_all", input)
            axis = tuple(range(input._array.ndim))
            return finish(name, of_all(input, axis=axis, keepdims=False), out)
        if hasattr(dim, "_array"):
            found = getattr(input, of_two)(dim)
            return found if out is None else finish(name, found, out, input, dim)
        axis_of(dim, input._array.ndim)
        refuse_kinds(name + "(): does not support {} input", input)
        return along(name, of_axis, result, input, dim, keepdim, out)

    return extreme


@require_tensors
@_extreme("max", largest_of_all, largest_along, "maximum")
def max() -> Any:
    """The largest element; with `dim` a pair (values, indices); with a tensor the larger of two.

    Shape: (), or with `dim` the input's without it (1 there with `keepdim`), or the common one.
    Raises: RuntimeError for an empty tensor without `dim`.

    >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 3.0]]), dim=1)
    torch.return_types.max(
    values=tensor([5., 7.]),
    indices=tensor([1, 0]))
    """


@require_tensors
@_extreme("min", smallest_of_all, smallest_along, "minimum")
def min() -> Any:
    """The smallest element; with `dim` a pair (values, indices); with a tensor the smaller of two.

    Shape: (), or with `dim` the input's without it (1 there with `keepdim`), or the common one.
    Raises: RuntimeError for an empty tensor without `dim`.

    >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 3.0]]), dim=1).values
    tensor([1., 3.])
    """


_KERNELS = {"amax": "max_values_cpu", "amin": "min_values_cpu", "aminmax": "aminmax_cpu"}


def extremum(name: str, operator: OperatorLike, input: Tensor, dim: Dim, keepdim: bool) -> Any:
    if not input._array.size:
        if dim is None or (isinstance(dim, (tuple, list)) and not dim):
            refuse_empty(name, input)
        for given in dim if isinstance(dim, (tuple, list)) else (dim,):
            refuse_empty(name, input, given, given)
    axis = reduction_axes(dim, input._array.ndim)
    if not axis and input._array.ndim:
        return input.clone()
    require_order(_KERNELS[name], input)
    return operator(input, axis=axis, keepdims=bool(keepdim))


def _check_out(input: Tensor, out: Out) -> None:
    if out is not None and out.dtype is not input.dtype:
        raise errors.runtime_error(
            "Expected the dtype for input and out to match, but got "
            f"{input.dtype.scalar_name} for input's dtype and {out.dtype.scalar_name} for "
            "out's dtype.",
            f"Give an out tensor of {input.dtype}.",
        )


@require_tensors
def amax(input: Tensor, dim: Dim = (), keepdim: bool = False, *, out: Out = None) -> Any:
    """The largest element along one dimension or several; ties share the gradient.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: RuntimeError for an empty tensor without `dim`.

    >>> torch.amax(torch.tensor([[1.0, 5.0], [7.0, 3.0]]), dim=1)
    tensor([5., 7.])
    """
    _check_out(input, out)
    return finish("amax", extremum("amax", largest, input, dim, keepdim), out)


@require_tensors
def amin(input: Tensor, dim: Dim = (), keepdim: bool = False, *, out: Out = None) -> Any:
    """The smallest element along one dimension or several; ties share the gradient.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: RuntimeError for an empty tensor without `dim`.

    >>> torch.amin(torch.tensor([[1.0, 5.0], [7.0, 3.0]]), dim=1)
    tensor([1., 3.])
    """
    _check_out(input, out)
    return finish("amin", extremum("amin", smallest, input, dim, keepdim), out)


def _arg(
    name: str, operator: OperatorLike, input: Tensor, dim: Dim, keepdim: bool, out: Out
) -> Any:
    if dim is None and not input._array.size:
        text = f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
        raise errors.index_error(text, "The tensor is empty.")
    refuse_empty(name, input, dim)
    refuse_kinds(name + "(): does not support {} input", input, "bc")
    if dim is None:
        column = (-1, *((1,) * (input._array.ndim - 1))) if keepdim else (-1,)
        keepdims = bool(keepdim) and input._array.ndim > 0
        result = operator(input.reshape(column), axis=0, keepdims=keepdims)
    elif input._array.ndim == 0:
        axis_of(dim, 0)
        result = operator(input.reshape(1), axis=0, keepdims=False)
    else:
        axis = axis_of(dim, input._array.ndim)
        result = operator(input, axis=axis, keepdims=bool(keepdim))
    return finish(name, result, out)


@require_tensors
def argmax(input: Tensor, dim: Dim = None, keepdim: bool = False, *, out: Out = None) -> Any:
    """The index of the largest element, of the flat tensor or along `dim`.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: IndexError for an empty tensor without `dim`.

    >>> torch.argmax(torch.tensor([1.0, 5.0, 3.0]))
    tensor(1)
    """
    return _arg("argmax", argmax_along, input, dim, keepdim, out)


@require_tensors
def argmin(input: Tensor, dim: Dim = None, keepdim: bool = False, *, out: Out = None) -> Any:
    """The index of the smallest element, of the flat tensor or along `dim`.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: IndexError for an empty tensor without `dim`.

    >>> torch.argmin(torch.tensor([1.0, 5.0, 3.0]))
    tensor(0)
    """
    return _arg("argmin", argmin_along, input, dim, keepdim, out)
