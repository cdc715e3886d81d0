"""Incomplete and multivariate gamma functions, zeta, x log(1 + y)."""

import math

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
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


@vjp(
    input=_unknown("zeta"), other=lambda xp, g, input, other: g * -input * xp.zeta(input + 1, other)
)
@elementwise(
    node="SpecialZetaBackward0",
    promote="float",
    check=some_tensor("special_zeta", wide_only("zeta_cpu")),
    kernels=("zeta",),
)
def zeta(xp, input, other):
    """The Hurwitz zeta function, the sum of `(k + other) ** -input` over all k >= 0.

    >>> torch.special.zeta(torch.tensor([2.0, 4.0]), 1)
    tensor([1.6449, 1.0823])
    """
    return xp.zeta(input, other)


def _xlog1py_rule(xp: Namespace, g: Array, input: Array, other: Array) -> Any:
    if not hasattr(other, "dtype"):
        log = math.log1p(other) if other > -1 else -math.inf if other == -1 else math.nan
        return g * log if other > -1 else xp.where(input == 0, 0.0, g * log)
    return xp.where(xp.logical_and(input == 0, other <= -1), 0.0, g * xp.log1p(other))


@vjp(input=_xlog1py_rule, other=lambda g, input, other: g * input / (other + 1))
@elementwise(
    node="SpecialXlog1PyBackward0",
    promote="float",
    check=some_tensor("special_xlog1py", lacks("xlog1py_cpu", COMPLEX)),
)
def xlog1py(xp, input, other):
    """`input * log(1 + other)`, and 0 where `input` is 0.

    >>> torch.special.xlog1py(torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """
    x = input if hasattr(input, "dtype") else xp.asarray(input, dtype=other.dtype)
    y = other if hasattr(other, "dtype") else xp.asarray(other, dtype=input.dtype)
    return xp.where(xp.logical_and(x == 0, y == y), 0.0, x * xp.log1p(y))


igamma_, igammac_ = in_place(igamma), in_place(igammac)
mvlgamma_ = in_place(mvlgamma, first=_check_mvlgamma)
