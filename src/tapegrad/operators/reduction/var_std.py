"""Variance and standard deviation."""

from collections.abc import Callable
from typing import Any

from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors
from tapegrad.core.annotations import Array, Dim, Namespace, Number, OperatorLike, Out, Tensor
from tapegrad.core.argument_check import require_tensors, users_level
from tapegrad.core.family import family
from tapegrad.core.scalar import number_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.reduction.sum_mean import count, mean, reduction_axes, spread

INF, NAN = float("inf"), float("nan")
_SMALL, _LARGE = 1e-15, 1e15  # deviations of float32 between them have squares of full precision
_MOST = 3.4028234663852886e38  # of float32

__all__ = ["std", "std_mean", "var", "var_mean"]


def _centred(xp: Namespace, x: Array, axis: tuple[int, ...]) -> Any:
    return x - xp.mean(x, axis=axis, keepdims=True)


def _freedom(shape: tuple[int, ...], axis: tuple[int, ...], correction: float) -> float:
    return max(count(shape, axis) - correction, 0)


def _divided(xp: Namespace, total: Array, freedom: float) -> Any:
    """total / freedom, and nan or inf where no degree of freedom is left."""
    return total / freedom if freedom else xp.where(total == 0, NAN, total) * INF


def _variance_rule(xp, g, x, axis, correction, keepdims):
    slope = _divided(
        xp, spread(xp, g, x.shape, axis, keepdims), _freedom(x.shape, axis, correction)
    )
    return 2 * slope * _centred(xp, x, axis)


def _variance_tangent(xp, t, x, axis, correction, keepdims):
    total = xp.sum(2 * t * _centred(xp, x, axis), axis=axis, keepdims=keepdims)
    return _divided(xp, total, _freedom(x.shape, axis, correction))


@jvp(x=_variance_tangent)
@vjp(x=_variance_rule)
@primitive(node="VarBackward0", holomorphic=False)
def variance(xp, x, *, axis, correction, keepdims):
    """sum((x - mean(x))^2) / (n - correction) over `axis`, whose sum float32 cannot always hold."""
    y = _mean_square(xp, x, axis, correction, keepdims)
    if x.dtype == xp.float32 and not _lies_below(y, _MOST):
        y = xp.astype(
            _mean_square(xp, xp.astype(x, xp.float64), axis, correction, keepdims), xp.float32
        )
    return y


def _mean_square(xp: Namespace, x: Array, axis: Any, correction: float, keepdims: bool) -> Any:
    d = _centred(xp, x, axis)
    total = xp.sum(d * d, axis=axis, keepdims=keepdims)
    return _divided(xp, total, _freedom(x.shape, axis, correction))


def _lies_below(y: Array, most: float) -> bool:
    """Whether no number is larger, nor nan."""
    y = elements(getattr(y, "_array", y))
    return not y.size or bool((y.max() if y.ndim else y) <= most)


def _lies_within(y: Array, least: float, most: float) -> bool:
    """Whether all numbers lie between two, none of them nan."""
    y = elements(getattr(y, "_array", y))
    return _lies_below(y, most) and (not y.size or bool((y.min() if y.ndim else y) >= least))


def _half_over(xp: Namespace, y: Array) -> Any:
    """1 / (2 y), and 0 where y is 0: the subgradient PyTorch takes."""
    return xp.where(y == 0, 0, 0.5 / xp.where(y == 0, 1, y))


@jvp(
    x=lambda xp, t, x, y, axis, correction, keepdims: (
        _half_over(xp, y) * _variance_tangent(xp, t, x, axis, correction, keepdims)
    )
)
@vjp(
    x=lambda xp, g, x, y, axis, correction, keepdims: _variance_rule(
        xp, g * _half_over(xp, y), x, axis, correction, keepdims
    )
)
@primitive(node="StdBackward0", holomorphic=False)
def deviation(xp, x, *, axis, correction, keepdims):
    """The square root of the variance, whose squares float32 cannot always hold."""
    options = {"axis": axis, "correction": correction, "keepdims": keepdims}
    y = xp.sqrt(_mean_square(xp, x, axis, correction, keepdims))
    if x.dtype == xp.float32 and not _lies_within(y, _SMALL, _LARGE):
        wide = variance.on_arrays(xp, xp.astype(x, xp.float64), **options)
        y = xp.astype(xp.sqrt(wide), xp.float32)
    return y


def _both_tangents(xp, t, x, axis, correction, keepdims):
    middle = xp.mean(t, axis=axis, keepdims=keepdims)
    return _variance_tangent(xp, t, x, axis, correction, keepdims), middle


def _spread_mean(xp, g, x, axis, keepdims):
    return spread(xp, g / (count(x.shape, axis) or 1), x.shape, axis, keepdims)


@jvp(x=_both_tangents)
@vjp(
    x=lambda xp, g_result0, g_result1, x, axis, correction, keepdims: (
        _variance_rule(xp, g_result0, x, axis, correction, keepdims)
        + _spread_mean(xp, g_result1, x, axis, keepdims)
    )
)
@primitive(node="VarMeanBackward0", outputs=("result0", "result1"), holomorphic=False)
def variance_and_mean(xp, x, *, axis, correction, keepdims):
    """The variance and the mean over `axis`, by one node."""
    options = {"axis": axis, "correction": correction, "keepdims": keepdims}
    return variance.on_arrays(xp, x, **options), xp.mean(x, axis=axis, keepdims=keepdims)


def _std_tangents(xp, t, x, result0, axis, correction, keepdims):
    moved, middle = _both_tangents(xp, t, x, axis, correction, keepdims)
    return _half_over(xp, result0) * moved, middle


@jvp(x=_std_tangents)
@vjp(
    x=lambda xp, g_result0, g_result1, x, result0, axis, correction, keepdims: (
        _variance_rule(xp, g_result0 * _half_over(xp, result0), x, axis, correction, keepdims)
        + _spread_mean(xp, g_result1, x, axis, keepdims)
    )
)
@primitive(node="StdMeanBackward0", outputs=("result0", "result1"), holomorphic=False)
def deviation_and_mean(xp, x, *, axis, correction, keepdims):
    """The standard deviation and the mean over `axis`, by one node."""
    options = {"axis": axis, "correction": correction, "keepdims": keepdims}
    return deviation.on_arrays(xp, x, **options), xp.mean(x, axis=axis, keepdims=keepdims)


def _computed(
    name: str, operator: Any, x: Tensor, dim: Dim, unbiased: Any, correction: Any, keepdim: bool
) -> Any:
    if isinstance(dim, bool):  # var(x, unbiased)
        dim, unbiased = None, dim
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        which = name if name.endswith("_mean") else "std and var"
        text = f"{which} only support floating point and complex dtypes"
        raise errors.runtime_error(text, "Convert the tensor first: x.float().")
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    elif type(correction) is not int:
        correction = number_of(name, "correction", 0, correction)
    axis = reduction_axes(dim, x._array.ndim)
    if count(x._array.shape, axis) <= correction:
        errors.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
            users_level(),
        )
    if x.dtype.is_complex:
        parts = [
            variance(p, axis=axis, correction=correction, keepdims=bool(keepdim))
            for p in (x.real, x.imag)
        ]
        total = sum(parts)
        if operator in (deviation, deviation_and_mean):
            total = _root(total)
        pair = operator in (variance_and_mean, deviation_and_mean)
        return (total, mean(x, dim, keepdim)) if pair else total
    return operator(x, axis=axis, correction=correction, keepdims=bool(keepdim))


def _root(total: Any) -> Any:
    """The square root, and where it is 0 a gradient of 0: as of real numbers."""
    zero = total == 0
    return total.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)


@family
def _moment(name: str, operator: OperatorLike) -> Callable:
    def moment(
        input: Tensor,
        dim: Dim = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: Number | None = None,
        out: Out = None,
    ) -> Any:
        result = _computed(name, operator, input, dim, unbiased, correction, keepdim)
        return finish(name, result, out)

    return moment


@family
def _with_mean(name: str, operator: OperatorLike) -> Callable:
    def moments(
        input: Tensor,
        dim: Dim = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: Number | None = None,
    ) -> tuple:
        return tuple(_computed(name, operator, input, dim, unbiased, correction, keepdim))

    return moments


@require_tensors
@_moment("var", variance)
def var() -> Any:
    """sum((x - mean(x))^2) / (n - correction) of all elements or over `dim`; correction is 1.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: RuntimeError for integers.

    >>> torch.var(torch.tensor([1.0, 2.0, 4.0]))
    tensor(2.3333)
    """


@require_tensors
@_moment("std", deviation)
def std() -> Any:
    """sqrt(sum((x - mean(x))^2) / (n - correction)) of all elements or over `dim`; correction is 1.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: RuntimeError for integers.

    >>> torch.std(torch.tensor([1.0, 2.0, 4.0]))
    tensor(1.5275)
    """


@require_tensors
@_with_mean("var_mean", variance_and_mean)
def var_mean() -> Any:
    """The variance, as `var` has it, and the mean, of all elements or over `dim`: a pair.

    Shapes: both the input's without `dim` (by default all), with `keepdim` of size 1 there.

    >>> torch.var_mean(torch.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """


@require_tensors
@_with_mean("std_mean", deviation_and_mean)
def std_mean() -> Any:
    """The standard deviation, as `std` has it, and the mean, of all elements or over `dim`: a pair.

    Shapes: both the input's without `dim` (by default all), with `keepdim` of size 1 there.

    >>> torch.std_mean(torch.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
