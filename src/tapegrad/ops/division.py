"""Division: quotients, exact and rounded, and what is left over."""

from __future__ import annotations

from typing import Any

from tapegrad import errors
from tapegrad.autograd.inplace import in_place
from tapegrad.call import finish
from tapegrad.op import elementwise
from tapegrad.ops.refusal import (
    BOOL,
    COMPLEX,
    lacks,
    no_derivative,
    some_tensor,
    tensor_first,
)

__all__ = [
    "div",
    "divide",
    "floor_divide",
    "fmod",
    "reciprocal",
    "reciprocal_",
    "remainder",
    "true_divide",
]


@elementwise(name="div", node="DivBackward0", promote="float", ufunc="divide")
def quotient(xp, input, other):
    """The exact quotient of two tensors."""
    return input / other


quotient.vjp(
    input=lambda g, other: g / other,
    other=lambda g, input, other: -g * ((input / other) / other),
)


@elementwise(promote="float", ufunc="reciprocal")
def reciprocal(xp, x):
    """One divided by each element.

    >>> torch.reciprocal(torch.tensor([1.0, 4.0]))
    tensor([1.0000, 0.2500])
    """
    return xp.reciprocal(x)


reciprocal.vjp(x=lambda g, y: -g * (y * y))
reciprocal_ = in_place(reciprocal)


# --- rounded quotients -----------------------------------------------------------------------


def _is_integer(xp: Any, x: Any) -> bool:
    return xp.isdtype(x.dtype, ("integral", "bool"))


def _refuse_zero(xp: Any, input: Any, other: Any) -> bool:
    """Whether the operands are integers, after a look for zeros among the divisors."""
    array = input if hasattr(input, "dtype") else other
    if not _is_integer(xp, array):
        return False
    if xp.any(xp.asarray(other) == 0):
        raise errors.advised(
            RuntimeError("ZeroDivisionError"),
            "An integer tensor holds a zero to divide by: convert to a floating-point type to get "
            "inf instead.",
        )
    return True


def floored(xp: Any, input: Any, other: Any) -> Any:
    """The quotient rounded towards minus infinity."""
    _refuse_zero(xp, input, other)
    return xp.floor_divide(input, other)


def truncated(xp: Any, input: Any, other: Any) -> Any:
    """The quotient rounded towards zero."""
    if not _refuse_zero(xp, input, other):
        return xp.trunc(input / other)
    down = xp.floor_divide(input, other)
    if xp.isdtype(down.dtype, "unsigned integer"):
        return down
    inexact = down * other != input
    return xp.where(inexact & (down < 0), down + 1, down)


def _check_rounded(input: Any, other: Any) -> None:
    lacks("div_floor_cpu", BOOL, COMPLEX)(input, other)


@elementwise(node="DivBackward2", check=_check_rounded)
def div_rounded(xp, input, other, *, rounding_mode):
    """The quotient rounded to an integer, which has no slope."""
    return (floored if rounding_mode == "floor" else truncated)(xp, input, other)


div_rounded.vjp(input=lambda xp, g: xp.zeros_like(g), other=lambda xp, g: xp.zeros_like(g))


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """The quotient, exact or rounded: towards zero ("trunc") or minus infinity ("floor").

    >>> torch.div(torch.tensor([-7.0, 7.0]), 2)
    tensor([-3.5000,  3.5000])
    >>> torch.div(torch.tensor([-7, 7]), 2, rounding_mode="floor")
    tensor([-4,  3])
    """
    if rounding_mode is None:
        return quotient(input, other, out=out)
    if rounding_mode not in ("trunc", "floor"):
        raise errors.advised(
            RuntimeError(
                "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                f"'{rounding_mode}'"
            ),
            "Leave rounding_mode away for the exact quotient.",
        )
    return finish("div", div_rounded(input, other, rounding_mode=rounding_mode), out)


div.op = quotient.op  # type: ignore[attr-defined]
div_ = in_place(div)
divide, divide_ = div, div_


def true_divide(input: Any, other: Any, *, out: Any = None) -> Any:
    """The exact quotient; the same as `div`.

    >>> torch.true_divide(torch.tensor([1, 2]), 4)
    tensor([0.2500, 0.5000])
    """
    return quotient(input, other, out=out)


true_divide.op = quotient.op  # type: ignore[attr-defined]
true_divide_ = in_place(true_divide)


@elementwise(node="NotImplemented", check=lacks("div_floor_cpu", BOOL, COMPLEX))
def floor_divide(xp, input, other):
    """The quotient rounded towards minus infinity.

    >>> torch.floor_divide(torch.tensor([-7, 7]), torch.tensor([2, 2]))
    tensor([-4,  3])
    """
    return floored(xp, input, other)


_refuse = no_derivative(
    "floor_divide", "torch.div(a, b, rounding_mode='floor') has a derivative: zero."
)
floor_divide.vjp(input=_refuse, other=_refuse)
floor_divide_ = in_place(floor_divide)


# --- remainders ------------------------------------------------------------------------------


def _modulo(xp: Any, input: Any, other: Any) -> Any:
    _refuse_zero(xp, input, other)
    return xp.remainder(input, other)


_numbers_only = some_tensor("remainder", lacks("remainder_cpu", BOOL, COMPLEX))


@elementwise(name="remainder", node="RemainderBackward1", check=_numbers_only)
def modulo(xp, input, other):
    """What `floor_divide` leaves over, with the sign of `other`."""
    return _modulo(xp, input, other)


modulo.vjp(
    input=lambda g: g,
    other=lambda xp, g, input, other: -g * xp.floor_divide(input, other),
)


@elementwise(node="RemainderBackward0", hidden=("other",), check=_numbers_only)
def remainder_number(xp, input, other):
    """The same for a number `other`."""
    return _modulo(xp, input, other)


remainder_number.vjp(input=lambda g: g)


@elementwise(node="NotImplemented", hidden=("number",), check=_numbers_only)
def remainder_of_number(xp, other, number):
    """What a number leaves over."""
    return _modulo(xp, number, other)


remainder_of_number.vjp(
    other=no_derivative("remainder", "Make a tensor of the number: it has one then.")
)


def remainder(input: Any, other: Any, *, out: Any = None) -> Any:
    """What is left of `input` after as many whole `other` as fit, with the sign of `other`.

    >>> torch.remainder(torch.tensor([-3.0, 3.0]), 2)
    tensor([1., 1.])
    """
    if not hasattr(other, "_array"):
        return remainder_number(input, other, out=out)
    if not hasattr(input, "_array"):
        return remainder_of_number(other, input, out=out)
    return modulo(input, other, out=out)


remainder_ = in_place(remainder)


def _fmod(xp: Any, input: Any, other: Any) -> Any:
    if _refuse_zero(xp, input, other):
        return input - other * truncated(xp, input, other)
    return xp.fmod(input, other)


_no_bools = tensor_first("fmod", "other", lacks("fmod_cpu", BOOL, COMPLEX))


@elementwise(name="fmod", node="FmodBackward1", kernels=("fmod",), check=_no_bools)
def fmod_tensors(xp, input, other):
    """What division towards zero leaves over, with the sign of `input`."""
    return _fmod(xp, input, other)


fmod_tensors.vjp(
    input=lambda g: g,
    other=lambda xp, g, input, other: -g * xp.trunc(input / other),
)


@elementwise(node="FmodBackward0", hidden=("other",), kernels=("fmod",), check=_no_bools)
def fmod_number(xp, input, other):
    """The same for a number `other`."""
    return _fmod(xp, input, other)


fmod_number.vjp(input=lambda g: g)


def fmod(input: Any, other: Any, *, out: Any = None) -> Any:
    """What is left of `input` after division by `other` towards zero, with the sign of `input`.

    >>> torch.fmod(torch.tensor([-3.0, 3.0]), 2)
    tensor([-1.,  1.])
    """
    of = fmod_tensors if hasattr(other, "_array") else fmod_number
    return of(input, other, out=out)


fmod_ = in_place(fmod)
