"""Incomplete and multivariate gamma functions, zeta, x log(1 + y)."""

import math

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors, two_operands
from tapegrad.core.dtype import bool_
from tapegrad.core.result_order import row_major
from tapegrad.core.shape import countable_bytes
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import (
    BOOL,
    COMPLEX,
    INTEGER,
    lacks,
    no_kernel,
    some_tensor,
    wide_only,
)

__torch__ = "igamma igamma_ igammac igammac_ mvlgamma"


def _unknown(name: str) -> Any:
    def rule(g: Array) -> Any:
        raise errors.not_implemented(
            f"the derivative for '{name}' is not implemented.",
            "Its derivative is known with respect to the other argument only: detach() this one.",
        )

    return rule


def _density(xp: Namespace, a: Array, x: Array) -> Any:
    """The slope of the regularised incomplete gamma function: a gamma distribution's density."""
    return xp.exp((a - 1) * xp.log(x) - x - xp.lgamma(a))


@vjp(
    input=_unknown("igamma: input"),
    other=lambda xp, g, input, other: g * _density(xp, input, other),
)
@elementwise(
    promote="float",
    numbers=False,
    kernels=("gammainc", "lgamma"),
    check=lacks("igamma_cpu", BOOL, INTEGER, COMPLEX),
)
def igamma(xp, input, other):
    """The regularised lower incomplete gamma function of order `input` at `other`.

    `1 / Gamma(a)` times the integral of `t^(a - 1) exp(-t)` from 0 to x, a = input, x = other.

    >>> torch.igamma(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 1.0]))
    tensor([0.3935, 0.2642])
    """
    found = xp.gammainc(input, other)
    return xp.where((other == 0) & (input != input), xp.zeros_like(found), found)


@vjp(
    input=_unknown("igammac: input"),
    other=lambda xp, g, input, other: -g * _density(xp, input, other),
)
@elementwise(
    promote="float",
    numbers=False,
    kernels=("gammaincc", "lgamma"),
    check=lacks("igammac_cpu", BOOL, INTEGER, COMPLEX),
)
def igammac(xp, input, other):
    """The regularised upper incomplete gamma function: `1 - igamma`, accurate where that is small.

    >>> torch.igammac(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 1.0]))
    tensor([0.6065, 0.7358])
    """
    found = xp.gammaincc(input, other)
    return xp.where((other == 0) & (input != input), xp.ones_like(found), found)


_FEW, _BLOCK = 32, 4096  # steps that are taken one by one; of more, so many at once


def _over_steps(xp: Namespace, function: Callable, x: Array, p: int) -> Any:
    """The sum of `function(x - i / 2)` over i from 0 to p - 1."""
    total = function(x)
    if p <= _FEW:
        for i in range(1, p):
            total = total + function(x - i / 2)
        return total
    steps = xp.arange(p, dtype=x.dtype) / 2  # all of them, as PyTorch: of too many it says so
    x = xp.expand_dims(x, axis=-1)
    for i in range(1, p, _BLOCK):
        total = total + xp.sum(function(x - steps[i : i + _BLOCK]), axis=-1)
    return total


def _mvlgamma_rule(xp: Namespace, g: Array, x: Array, p: int) -> Any:
    return g * _over_steps(xp, xp.digamma, x, p)


@vjp(x=_mvlgamma_rule)
@elementwise(name="mvlgamma", promote="float", kernels=("lgamma", "digamma"), order=row_major)
def multivariate_lgamma(xp, x, *, p):
    """The logarithm of the multivariate gamma function: a sum of `lgamma(x - i / 2)`."""
    return _over_steps(xp, xp.lgamma, x, p) + p * (p - 1) / 4 * math.log(math.pi)


def _check_mvlgamma(input: Tensor, p: int) -> None:
    if input.dtype is bool_:
        text = "The input tensor may not be a boolean tensor."
        raise errors.runtime_error(text, "Convert it with .float().")
    if input.dtype.is_complex:
        raise no_kernel("arange_cpu", input.dtype)


@require_tensors
def mvlgamma(input: Tensor, p: int, *, out: Out = None) -> Any:
    """The logarithm of the multivariate gamma function of dimension `p`.

    `p (p - 1) / 4 log(pi)` and the sum of `lgamma(x - i / 2)` over i from 0 to p - 1.

    Shape: any, and that of the result.
    Raises: RuntimeError for a `p` below 1, and for truth values.

    >>> torch.mvlgamma(torch.tensor([2.0, 3.0]), 2)
    tensor([0.4516, 1.5502])
    """
    _check_mvlgamma(input, p)
    if p < 1:
        raise errors.runtime_error("p has to be greater than or equal to 1", "It is a dimension.")
    countable_bytes((p,), 8)
    return finish("mvlgamma", multivariate_lgamma(input, p=p), out)


# --- of torch.special alone ------------------------------------------------------------------


_check_zeta = some_tensor("special_zeta", wide_only("zeta_cpu"))
_check_xlog1py = some_tensor("special_xlog1py", lacks("xlog1py_cpu", COMPLEX))


def _slope_of_zeta(xp: Namespace, g: Array, input: Any, other: Array) -> Any:
    return g * -input * xp.zeta(input + 1, other)


@vjp(input=_unknown("zeta"), other=_slope_of_zeta)
@elementwise(
    name="zeta", node="SpecialZetaBackward0", promote="float", check=_check_zeta, kernels=("zeta",)
)
def zeta_of_tensors(xp, input, other):
    """The sum of `(k + other) ** -input` over all k >= 0."""
    return xp.zeta(input, other)


@vjp(other=lambda xp, g, other, number: _slope_of_zeta(xp, g, number, other))
@elementwise(
    node="SpecialZetaBackward1",
    promote="float",
    hidden=("number",),
    check=_check_zeta,
    kernels=("zeta",),
)
def zeta_of_number(xp, other, number):
    """The sum of `(k + other) ** -number` over all k >= 0."""
    return xp.zeta(number, other)


@vjp(input=_unknown("zeta"))
@elementwise(
    node="SpecialZetaBackward2",
    promote="float",
    hidden=("number",),
    check=_check_zeta,
    kernels=("zeta",),
)
def zeta_from_number(xp, input, number):
    """The sum of `(k + number) ** -input` over all k >= 0."""
    return xp.zeta(input, number)


def _of_two(both: Any, of_number: Any, with_number: Any, input: Any, other: Any, out: Any) -> Any:
    """The operator for two tensors, for a number and a tensor, or for a tensor and a number."""
    if not hasattr(other, "_array"):
        return with_number(input, other, out=out)
    if not hasattr(input, "_array"):
        return of_number(other, input, out=out)
    return both(input, other, out=out)


@two_operands()
def zeta(input: Scalar, other: Scalar, *, out: Out = None) -> Any:
    """The Hurwitz zeta function, the sum of `(k + other) ** -input` over all k >= 0.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.zeta(torch.tensor([2.0, 4.0]), 1)
    tensor([1.6449, 1.0823])
    """
    return _of_two(zeta_of_tensors, zeta_of_number, zeta_from_number, input, other, out)


def _x_log1p_y(xp: Namespace, x: Array, y: Array) -> Any:
    return xp.where(xp.logical_and(x == 0, y == y), 0.0, x * xp.log1p(y))


@vjp(
    input=lambda xp, g, input, other: xp.where(
        xp.logical_and(input == 0, other <= -1), 0.0, g * xp.log1p(other)
    ),
    other=lambda g, input, other: g * input / (other + 1),
)
@elementwise(name="xlog1py", node="SpecialXlog1PyBackward0", promote="float", check=_check_xlog1py)
def x_log1p_y(xp, input, other):
    """`input * log(1 + other)`."""
    return _x_log1p_y(xp, input, other)


@vjp(other=lambda g, other, number: g * number / (other + 1))
@elementwise(
    node="SpecialXlog1PyBackward1", promote="float", hidden=("number",), check=_check_xlog1py
)
def number_log1p_y(xp, other, number):
    """`number * log(1 + other)`."""
    return _x_log1p_y(xp, xp.asarray(number, dtype=other.dtype), other)


def _x_log1p_number_rule(xp: Namespace, g: Array, input: Array, number: Any) -> Any:
    if number > -1:
        return g * math.log1p(float(number))
    log = -math.inf if number == -1 else math.nan
    return xp.where(input == 0, 0.0, g * log)


@vjp(input=_x_log1p_number_rule)
@elementwise(
    node="SpecialXlog1PyBackward2", promote="float", hidden=("number",), check=_check_xlog1py
)
def x_log1p_number(xp, input, number):
    """`input * log(1 + number)`."""
    return _x_log1p_y(xp, input, xp.asarray(number, dtype=input.dtype))


@two_operands()
def xlog1py(input: Scalar, other: Scalar, *, out: Out = None) -> Any:
    """`input * log(1 + other)`, and 0 where `input` is 0.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.xlog1py(torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """
    return _of_two(x_log1p_y, number_log1p_y, x_log1p_number, input, other, out)


igamma_, igammac_ = in_place(igamma), in_place(igammac)
mvlgamma_ = in_place(mvlgamma, first=_check_mvlgamma)
