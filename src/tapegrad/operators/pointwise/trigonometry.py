"""Angles: trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

from tapegrad.core.annotations import Array, Namespace
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise

__all__ = [
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan_",
    "arctanh",
    "arctanh_",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan_",
    "atanh",
    "atanh_",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "sin",
    "sin_",
    "sinc",
    "sinc_",
    "sinh",
    "sinh_",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
]


@elementwise(promote="float", ufunc="sin")
def sin(xp, x):
    """The sine of each element, an angle in radians.

    >>> torch.sin(torch.tensor([0.0, 1.5708]))
    tensor([0., 1.])
    """
    return xp.sin(x)


sin.vjp(x=lambda xp, g, x: g * xp.cos(x))
sin_ = in_place(sin)


@elementwise(promote="float", ufunc="cos")
def cos(xp, x):
    """The cosine of each element, an angle in radians.

    >>> torch.cos(torch.tensor([0.0, 3.1416]))
    tensor([ 1., -1.])
    """
    return xp.cos(x)


cos.vjp(x=lambda xp, g, x: g * -xp.sin(x))
cos_ = in_place(cos)


@elementwise(promote="float", ufunc="tan")
def tan(xp, x):
    """The tangent of each element, an angle in radians.

    >>> torch.tan(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5463])
    """
    return xp.tan(x)


tan.vjp(x=lambda g, y: g * (1 + y * y))
tan_ = in_place(tan)


@elementwise(promote="float", ufunc="arcsin")
def asin(xp, x):
    """The angle whose sine is given.

    >>> torch.asin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """
    return xp.asin(x)


asin.vjp(x=lambda xp, g, x: g / xp.sqrt((1 - x) * (1 + x)))
asin_ = in_place(asin)
arcsin, arcsin_ = asin, asin_


@elementwise(promote="float", ufunc="arccos")
def acos(xp, x):
    """The angle whose cosine is given.

    >>> torch.acos(torch.tensor([0.0, 1.0]))
    tensor([1.5708, 0.0000])
    """
    return xp.acos(x)


acos.vjp(x=lambda xp, g, x: -g / xp.sqrt((1 - x) * (1 + x)))
acos_ = in_place(acos)
arccos, arccos_ = acos, acos_


@elementwise(promote="float", ufunc="arctan")
def atan(xp, x):
    """The angle whose tangent is given.

    >>> torch.atan(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """
    return xp.atan(x)


atan.vjp(x=lambda g, x: g / (x * x + 1))
atan_ = in_place(atan)
arctan, arctan_ = atan, atan_


@elementwise(promote="float", ufunc="sinh")
def sinh(xp, x):
    """The hyperbolic sine of each element.

    >>> torch.sinh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.1752])
    """
    return xp.sinh(x)


sinh.vjp(x=lambda xp, g, x: g * xp.cosh(x))
sinh_ = in_place(sinh)


@elementwise(promote="float", ufunc="cosh")
def cosh(xp, x):
    """The hyperbolic cosine of each element.

    >>> torch.cosh(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.5431])
    """
    return xp.cosh(x)


cosh.vjp(x=lambda xp, g, x: g * xp.sinh(x))
cosh_ = in_place(cosh)


@elementwise(promote="float", ufunc="tanh")
def tanh(xp, x):
    """The hyperbolic tangent of each element.

    >>> torch.tanh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return xp.tanh(x)


# 1 - y^2 in factors: where y is nearly 1, the rounding of y * y would be most of it
tanh.vjp(x=lambda g, y: g * ((1 - y) * (1 + y)))
tanh_ = in_place(tanh)


_tanh_rule = tanh.op.vjps["x"].function


@elementwise(name="tanh_backward", numbers=False)
def tanh_slope(xp, grad, result):
    """A cotangent of `tanh` brought to its argument: 1 - y^2 times it."""
    return _tanh_rule(grad, result)


tanh_slope.vjp(
    grad=lambda g, result: _tanh_rule(g, result),  # linear in it
    result=lambda g, grad, result: g * (grad * (-2 * result)),
)
tanh_slope.recorded(grad=lambda g, result: tanh_slope(g, result))
tanh.recorded(x=lambda g, y: tanh_slope(g, y))


@elementwise(promote="float", ufunc="arcsinh")
def asinh(xp, x):
    """The inverse of the hyperbolic sine.

    >>> torch.asinh(torch.tensor([0.0, 2.0]))
    tensor([0.0000, 1.4436])
    """
    return xp.asinh(x)


asinh.vjp(x=lambda xp, g, x: g / xp.sqrt(x * x + 1))
asinh_ = in_place(asinh)
arcsinh, arcsinh_ = asinh, asinh_


@elementwise(promote="float", ufunc="arccosh")
def acosh(xp, x):
    """The inverse of the hyperbolic cosine.

    >>> torch.acosh(torch.tensor([1.0, 1.5431]))
    tensor([0.0000, 1.0000])
    """
    return xp.acosh(x)


acosh.vjp(x=lambda xp, g, x: g / xp.sqrt((x - 1) * (x + 1)))
acosh_ = in_place(acosh)
arccosh, arccosh_ = acosh, acosh_


@elementwise(promote="float", ufunc="arctanh")
def atanh(xp, x):
    """The inverse of the hyperbolic tangent.

    >>> torch.atanh(torch.tensor([0.0, 0.7616]))
    tensor([0.0000, 1.0000])
    """
    return xp.atanh(x)


atanh.vjp(x=lambda g, x: g / ((1 - x) * (1 + x)))
atanh_ = in_place(atanh)
arctanh, arctanh_ = atanh, atanh_


@elementwise(promote="float")
def sinc(xp, x):
    """`sin(pi x) / (pi x)`, 1 at zero.

    >>> torch.sinc(torch.tensor([0.0, 0.5]))
    tensor([1.0000, 0.6366])
    """
    angle = math.pi * x
    one = xp.ones_like(x)
    return xp.where(x == 0, one, xp.sin(angle) / xp.where(x == 0, one, angle))


def _sinc_rule(xp: Namespace, g: Array, x: Array) -> Any:
    angle = math.pi * x
    slope = (xp.cos(angle) - xp.sin(angle) / angle) / x  # angle * x might be 0 where x is not
    return xp.where(x == 0, 0.0, g * slope)


sinc.vjp(x=_sinc_rule)
sinc_ = in_place(sinc)
