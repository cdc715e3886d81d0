"""Angles: trigonometric and hyperbolic functions and their inverses."""

import math

from tapegrad.core.annotations import Any, Array, Namespace
from tapegrad.core.argument_check import also_called
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.with_number import times_number

__all__ = [
    "acos", "acos_", "acosh", "acosh_", "arccos", "arccos_", "arccosh", "arccosh_", "arcsin",
    "arcsin_", "arcsinh", "arcsinh_", "arctan", "arctan_", "arctanh", "arctanh_", "asin", "asin_",
    "asinh", "asinh_", "atan", "atan_", "atanh", "atanh_", "cos", "cos_", "cosh", "cosh_", "sin",
    "sin_", "sinc", "sinc_", "sinh", "sinh_", "tan", "tan_", "tanh", "tanh_",
]  # fmt: skip


@vjp(x=lambda xp, g, x: g * xp.cos(x))
@elementwise(promote="float", ufunc="sin")
def sin(xp, x):
    """The sine of each element, an angle in radians.

    >>> torch.sin(torch.tensor([0.0, 1.5708]))
    tensor([0., 1.])
    """
    return xp.sin(x)


@vjp(x=lambda xp, g, x: g * -xp.sin(x))
@elementwise(promote="float", ufunc="cos")
def cos(xp, x):
    """The cosine of each element, an angle in radians.

    >>> torch.cos(torch.tensor([0.0, 3.1416]))
    tensor([ 1., -1.])
    """
    return xp.cos(x)


@vjp(x=lambda g, y: g * (1 + y * y))
@elementwise(promote="float", ufunc="tan")
def tan(xp, x):
    """The tangent of each element, an angle in radians.

    >>> torch.tan(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5463])
    """
    return xp.tan(x)


def _root(xp: Namespace, x: Array) -> Any:
    """sqrt(x^2 - 1); of a complex number by two roots, whose product is right in all quadrants."""
    if xp.isdtype(x.dtype, "complex floating"):  # `+ 1` would take -0 for 0, the side of a cut
        return xp.sqrt(x - 1) * xp.sqrt(x - -1)
    return xp.sqrt((x - 1) * (x + 1) + 0.0)  # 0 at -1, not -0


def _co_root(xp: Namespace, x: Array) -> Any:
    """sqrt(1 - x^2), in the same way."""
    if xp.isdtype(x.dtype, "complex floating"):
        return xp.sqrt(-(x - 1)) * xp.sqrt(x - -1)
    return xp.sqrt((1 - x) * (1 + x))


@vjp(x=lambda xp, g, x: g / _co_root(xp, x))
@elementwise(promote="float", ufunc="arcsin")
def asin(xp, x):
    """The angle whose sine is given.

    >>> torch.asin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """
    return xp.asin(x)


@vjp(x=lambda xp, g, x: -g / _co_root(xp, x))
@elementwise(promote="float", ufunc="arccos")
def acos(xp, x):
    """The angle whose cosine is given.

    >>> torch.acos(torch.tensor([0.0, 1.0]))
    tensor([1.5708, 0.0000])
    """
    return xp.acos(x)


@vjp(x=lambda g, x: g / (x * x + 1))
@elementwise(promote="float", ufunc="arctan")
def atan(xp, x):
    """The angle whose tangent is given.

    >>> torch.atan(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """
    return xp.atan(x)


@vjp(x=lambda xp, g, x: g * xp.cosh(x))
@elementwise(promote="float", ufunc="sinh")
def sinh(xp, x):
    """The hyperbolic sine of each element.

    >>> torch.sinh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.1752])
    """
    return xp.sinh(x)


@vjp(x=lambda xp, g, x: g * xp.sinh(x))
@elementwise(promote="float", ufunc="cosh")
def cosh(xp, x):
    """The hyperbolic cosine of each element.

    >>> torch.cosh(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.5431])
    """
    return xp.cosh(x)


# 1 - y^2 in factors: where y is nearly 1, the rounding of y * y would be most of it
@vjp(x=lambda g, y: g * ((1 - y) * (1 + y)))
@elementwise(promote="float", ufunc="tanh")
def tanh(xp, x):
    """The hyperbolic tangent of each element.

    >>> torch.tanh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return xp.tanh(x)


_tanh_rule = tanh.op.vjps["x"].function


@vjp(
    grad=lambda g, result: _tanh_rule(g, result),  # linear in it
    result=lambda g, grad, result: g * (grad * (-2 * result)),
)
@elementwise(name="tanh_backward", numbers=False)
def tanh_slope(xp, grad, result):
    """A cotangent of `tanh` brought to its argument: 1 - y^2 times it."""
    return _tanh_rule(grad, result)


tanh_slope.recorded(
    grad=lambda g, result: tanh_slope(g, result),
    result=lambda g, grad, result: g * (times_number(result, number=-2) * grad),
)
tanh.recorded(x=lambda g, y: tanh_slope(g, y))


@vjp(x=lambda xp, g, x: g / xp.sqrt(x * x + 1))
@elementwise(promote="float", ufunc="arcsinh")
def asinh(xp, x):
    """The inverse of the hyperbolic sine.

    >>> torch.asinh(torch.tensor([0.0, 2.0]))
    tensor([0.0000, 1.4436])
    """
    return xp.asinh(x)


@vjp(x=lambda xp, g, x: g / _root(xp, x))
@elementwise(promote="float", ufunc="arccosh")
def acosh(xp, x):
    """The inverse of the hyperbolic cosine.

    >>> torch.acosh(torch.tensor([1.0, 1.5431]))
    tensor([0.0000, 1.0000])
    """
    return xp.acosh(x)


@vjp(x=lambda g, x: g / ((1 - x) * (1 + x)))
@elementwise(promote="float", ufunc="arctanh")
def atanh(xp, x):
    """The inverse of the hyperbolic tangent.

    >>> torch.atanh(torch.tensor([0.0, 0.7616]))
    tensor([0.0000, 1.0000])
    """
    return xp.atanh(x)


_SINC_SERIES = [2 * k * (-1) ** k / math.factorial(2 * k + 1) for k in range(1, 7)]
_SINC_SMALL = 0.25  # an angle at which these terms of the series suffice for float64


def _sinc_rule(xp: Namespace, g: Array, x: Array) -> Any:
    angle = math.pi * x
    is_small = xp.abs(angle) < _SINC_SMALL  # where the difference below has no digits left
    square = angle * angle
    series = _SINC_SERIES[-1]
    for c in reversed(_SINC_SERIES[:-1]):
        series = series * square + c
    x = xp.where(is_small, xp.ones_like(x), x)
    large = math.pi * x
    slope = (xp.cos(large) - xp.sin(large) / large) / x
    return g * xp.where(is_small, math.pi * angle * series, slope)


@vjp(x=_sinc_rule)
@elementwise(promote="float")
def sinc(xp, x):
    """`sin(pi x) / (pi x)`, 1 at zero.

    >>> torch.sinc(torch.tensor([0.0, 0.5]))
    tensor([1.0000, 0.6366])
    """
    angle = math.pi * x
    one = xp.ones_like(x)
    return xp.where(x == 0, one, xp.sin(angle) / xp.where(x == 0, one, angle))


sinc_ = in_place(sinc)


sin_, cos_, tan_, asin_ = in_place(sin), in_place(cos), in_place(tan), in_place(asin)
acos_, atan_, sinh_, cosh_ = in_place(acos), in_place(atan), in_place(sinh), in_place(cosh)
tanh_, asinh_, acosh_, atanh_ = in_place(tanh), in_place(asinh), in_place(acosh), in_place(atanh)
arcsin = also_called("arcsin", asin)
arcsin_ = also_called("arcsin_", asin_)
arccos = also_called("arccos", acos)
arccos_ = also_called("arccos_", acos_)
arctan = also_called("arctan", atan)
arctan_ = also_called("arctan_", atan_)
arcsinh = also_called("arcsinh", asinh)
arcsinh_ = also_called("arcsinh_", asinh_)
arccosh = also_called("arccosh", acosh)
arccosh_ = also_called("arccosh_", acosh_)
arctanh = also_called("arctanh", atanh)
arctanh_ = also_called("arctanh_", atanh_)
