"""Functions of two legs and of angles' units: atan2, hypot, copysign, deg2rad."""

import math

from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import also_called, two_operands
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import BOOL, COMPLEX, INTEGER, lacks, no_complex, tensor_first

__all__ = ["arctan2", "atan2", "copysign", "deg2rad", "deg2rad_", "hypot", "rad2deg", "rad2deg_"]


def _over_square(xp: Namespace, g: Array, input: Array, other: Array) -> Any:
    """g over the squared distance from the origin; 0 at the origin."""
    square = input * input + other * other
    return xp.where(square == 0, 0.0, g / square)


@vjp(
    input=lambda xp, g, input, other: _over_square(xp, g, input, other) * other,
    other=lambda xp, g, input, other: _over_square(xp, g, input, other) * -input,
)
@elementwise(promote="float", numbers=False, ufunc="arctan2", check=lacks("atan2_cpu", COMPLEX))
def atan2(xp, input, other):
    """The angle of the point with height `input` and width `other`, from -pi to pi.

    >>> torch.atan2(torch.tensor([1.0, 0.0]), torch.tensor([1.0, -1.0]))
    tensor([0.7854, 3.1416])
    """
    return xp.atan2(input, other)


atan2_ = in_place(atan2)


@vjp(input=lambda g, input, y: g * (input / y), other=lambda g, other, y: g * (other / y))
@elementwise(
    promote="float", numbers=False, ufunc="hypot", check=lacks("hypot_cpu", BOOL, INTEGER, COMPLEX)
)
def hypot(xp, input, other):
    """The length of the hypotenuse, `sqrt(a**2 + b**2)` without overflow.

    >>> torch.hypot(torch.tensor([3.0]), torch.tensor([4.0]))
    tensor([5.])
    """
    return xp.hypot(input, other)


# --- signs -----------------------------------------------------------------------------------


def _sign_ratio(xp: Namespace, g: Array, x: Array, y: Array) -> Any:
    return xp.where(x == 0, 0.0, g * (y / x))


_check_copysign = tensor_first("copysign", "other", lacks("copysign_cpu", COMPLEX))


@vjp(
    input=lambda xp, g, input, y: _sign_ratio(xp, g, input, y), other=lambda xp, g: xp.zeros_like(g)
)
@elementwise(name="copysign", promote="float", check=_check_copysign)
def with_sign_of(xp, input, other):
    """The modulus of `input` with the sign of `other`."""
    return xp.copysign(input, other)


@vjp(input=lambda xp, g, input, y: _sign_ratio(xp, g, input, y))
@elementwise(node="CopysignBackward1", promote="float", hidden=("other",), check=_check_copysign)
def with_sign_of_number(xp, input, other):
    """The same for a number `other`."""
    return xp.copysign(input, xp.asarray(other, dtype=input.dtype))


@two_operands()
def copysign(input: Tensor, other: Scalar, *, out: Out = None) -> Any:
    """The modulus of `input` with the sign of `other`.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.copysign(torch.tensor([1.0, -2.0]), -0.0)
    tensor([-1., -2.])
    """
    by = with_sign_of if hasattr(other, "_array") else with_sign_of_number
    return by.direct(input, other) if out is None else by(input, other, out=out)


# --- units -----------------------------------------------------------------------------------


@vjp(x=lambda g: g * (math.pi / 180))
@elementwise(
    node="Deg2RadBackward0",
    promote="float",
    check=no_complex("deg2rad is not supported for complex tensors."),
)
def deg2rad(xp, x):
    """Degrees as radians.

    >>> torch.deg2rad(torch.tensor([180.0, 90.0]))
    tensor([3.1416, 1.5708])
    """
    return x * (math.pi / 180)


@vjp(x=lambda g: g * (180 / math.pi))
@elementwise(
    node="Rad2DegBackward0",
    promote="float",
    check=no_complex("rad2deg is not supported for complex tensors."),
)
def rad2deg(xp, x):
    """Radians as degrees.

    >>> torch.rad2deg(torch.tensor([3.1416, 1.5708]))
    tensor([180.0004,  90.0002])
    """
    return x * (180 / math.pi)


hypot_, copysign_, deg2rad_ = in_place(hypot), in_place(copysign), in_place(deg2rad)
rad2deg_ = in_place(rad2deg)
arctan2 = also_called("arctan2", atan2)
arctan2_ = also_called("arctan2_", atan2_)
