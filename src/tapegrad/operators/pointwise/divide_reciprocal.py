"""Division: quotients, exact and rounded; what is left over is in leftover.py."""

from tapegrad.arrays.namespaces import anywhere
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import also_called, two_operands
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import BOOL, COMPLEX, lacks, no_derivative

__all__ = ["div", "divide", "floor_divide", "reciprocal", "reciprocal_", "true_divide"]


@vjp(input=lambda g, other: g / other, other=lambda g, input, other: -g * ((input / other) / other))
@elementwise(name="div", node="DivBackward0", promote="float", ufunc="divide", exact_number=True)
def quotient(xp, input, other):
    """The exact quotient of two tensors."""
    return input / other


@vjp(x=lambda g, y: -g * (y * y))
@elementwise(promote="float", ufunc="reciprocal")
def reciprocal(xp, x):
    """One divided by each element.

    >>> torch.reciprocal(torch.tensor([1.0, 4.0]))
    tensor([1.0000, 0.2500])
    """
    return xp.reciprocal(x)


# --- rounded quotients -----------------------------------------------------------------------


def of_integers(xp: Namespace, input: Array, other: Array) -> bool:
    """Whether the operands are integers; an error if a divisor is zero then."""
    array = input if hasattr(input, "dtype") else other
    if not xp.isdtype(array.dtype, ("integral", "bool")):
        return False
    if anywhere(xp.asarray(other) == 0):
        raise errors.runtime_error(
            "ZeroDivisionError",
            "An integer tensor holds a zero to divide by: convert to a floating-point type to get "
            "inf instead.",
        )
    return True


def floored(xp: Namespace, input: Array, other: Array) -> Any:
    """The quotient rounded towards minus infinity."""
    of_integers(xp, input, other)
    return xp.floor_divide(input, other)


def truncated(xp: Namespace, input: Array, other: Array) -> Any:
    """The quotient rounded towards zero."""
    if not of_integers(xp, input, other):
        return xp.trunc(input / other)
    down = xp.floor_divide(input, other)
    if xp.isdtype(down.dtype, "unsigned integer"):
        return down
    inexact = down * other != input
    return xp.where(inexact & (down < 0), down + 1, down)


@vjp(input=lambda xp, g: xp.zeros_like(g), other=lambda xp, g: xp.zeros_like(g))
@elementwise(node="DivBackward2", exact_number=True)
def div_rounded(xp, input, other, *, rounding_mode):
    """The quotient rounded to an integer, which has no slope."""
    return (floored if rounding_mode == "floor" else truncated)(xp, input, other)


@two_operands(quotient.direct)
def div(input: Tensor, other: Scalar, *, rounding_mode: str | None = None, out: Out = None) -> Any:
    """The quotient, exact or rounded: towards zero ("trunc") or minus infinity ("floor").

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError for another `rounding_mode`.

    >>> torch.div(torch.tensor([-7.0, 7.0]), 2)
    tensor([-3.5000,  3.5000])
    >>> torch.div(torch.tensor([-7, 7]), 2, rounding_mode="floor")
    tensor([-4,  3])
    """
    if rounding_mode is None:
        return quotient(input, other, out=out)
    if rounding_mode not in ("trunc", "floor"):
        raise errors.runtime_error(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'",
            "Leave rounding_mode away for the exact quotient.",
        )
    lacks(f"div_{rounding_mode}_cpu", BOOL, COMPLEX)(input, other)
    return finish("div", div_rounded(input, other, rounding_mode=rounding_mode), out, input, other)


div.op = quotient.op


@two_operands(quotient.direct)
def true_divide(input: Tensor, other: Scalar, *, out: Out = None) -> Any:
    """The exact quotient; the same as `div`.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.true_divide(torch.tensor([1, 2]), 4)
    tensor([0.2500, 0.5000])
    """
    return quotient(input, other, out=out)


true_divide.op = quotient.op


@elementwise(node="NotImplemented", check=lacks("div_floor_cpu", BOOL, COMPLEX), exact_number=True)
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


reciprocal_, div_, true_divide_ = in_place(reciprocal), in_place(div), in_place(true_divide)
divide = also_called("divide", div)
divide_ = also_called("divide_", div_)
