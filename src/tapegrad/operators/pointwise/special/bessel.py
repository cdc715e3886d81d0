"""Bessel functions: the modified ones of order 0 and 1, which are differentiable, and others."""

from tapegrad.core.annotations import Any, Array, Namespace
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import COMPLEX, lacks
from tapegrad.operators.pointwise.special.real_function import constant_function, real_function

__torch__ = "i0 i0_"


@vjp(x=lambda xp, g, x: g * xp.i1(x))
@elementwise(promote="float", check=lacks("i0_vml_cpu", COMPLEX), kernels=("i0", "i1"))
def i0(xp, x):
    """The modified Bessel function of the first kind of order 0.

    `1 / pi` times the integral of `exp(x cos(t))` over t from 0 to pi.

    >>> torch.i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """
    return xp.i0(x)


i0_ = in_place(i0)


@vjp(x=lambda xp, g, x, y: g * (xp.i1e(x) - xp.sign(x) * y))
@real_function("i0e", "i1e")
def i0e(xp, x):
    """`i0(x) * exp(-|x|)`, without overflow.

    >>> torch.special.i0e(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])
    """
    return xp.i0e(x)


def _over(xp: Namespace, y: Array, x: Array) -> Any:
    """`y / x`, and its limit 1/2 where both vanish."""
    small = xp.abs(x) < 1e-14
    return xp.where(small, 0.5, y / xp.where(small, 1.0, x))


@vjp(x=lambda xp, g, x, y: g * (xp.i0(x) - _over(xp, y, x)))
@real_function("i1", "i0")
def i1(xp, x):
    """The modified Bessel function of the first kind of order 1.

    `1 / pi` times the integral of `exp(x cos(t)) cos(t)` over t from 0 to pi.

    >>> torch.special.i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """
    return xp.i1(x)


@vjp(x=lambda xp, g, x, y: g * (xp.i0e(x) - y * xp.sign(x) - _over(xp, y, x)))
@real_function("i1e", "i0e")
def i1e(xp, x):
    """`i1(x) * exp(-|x|)`, without overflow.

    >>> torch.special.i1e(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])
    """
    return xp.i1e(x)


# --- without derivative, as in PyTorch -------------------------------------------------------


@constant_function("bessel_j0")
def bessel_j0(xp, x):
    """The Bessel function of the first kind of order 0.

    `1 / pi` times the integral of `cos(x sin(t))` over t from 0 to pi.

    Accurate to rounding; PyTorch's own double precision is off by up to 1e-6 just above 5.

    >>> torch.special.bessel_j0(torch.tensor([0.0, 2.0]))
    tensor([1.0000, 0.2239])
    """
    return xp.bessel_j0(x)


@constant_function("bessel_j1")
def bessel_j1(xp, x):
    """The Bessel function of the first kind of order 1.

    `1 / pi` times the integral of `cos(t - x sin(t))` over t from 0 to pi.

    Accurate to rounding; PyTorch's own double precision is off by up to 1e-6 just above 5.

    >>> torch.special.bessel_j1(torch.tensor([0.0, 2.0]))
    tensor([0.0000, 0.5767])
    """
    return xp.bessel_j1(x)


@constant_function("bessel_y0")
def bessel_y0(xp, x):
    """The Bessel function of the second kind of order 0.

    `-2 / pi` times the integral of `cos(x cosh(t))` over all t > 0; -inf at 0, nan below.

    Accurate to rounding; PyTorch's own double precision is off by up to 6e-7 just above 5.

    >>> torch.special.bessel_y0(torch.tensor([0.5, 2.0]))
    tensor([-0.4445,  0.5104])
    """
    return xp.bessel_y0(x)


@constant_function("bessel_y1")
def bessel_y1(xp, x):
    """The Bessel function of the second kind of order 1.

    Minus the derivative of `bessel_y0`; -inf at 0, nan below.

    Accurate to rounding; PyTorch's own double precision is off by up to 3e-6 just above 5.

    >>> torch.special.bessel_y1(torch.tensor([0.5, 2.0]))
    tensor([-1.4715, -0.1070])
    """
    return xp.bessel_y1(x)


@constant_function("i0")
def modified_bessel_i0(xp, x):
    """The same as `i0`, without derivative.

    >>> torch.special.modified_bessel_i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """
    return xp.i0(x)


@constant_function("i1")
def modified_bessel_i1(xp, x):
    """The same as `i1`, without derivative.

    >>> torch.special.modified_bessel_i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """
    return xp.i1(x)
