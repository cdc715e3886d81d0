"""Bessel functions of the second kind for imaginary arguments, Airy's; without derivative."""

from tapegrad.operators.pointwise.special.real_function import constant_function


@constant_function("bessel_k0")
def modified_bessel_k0(xp, x):
    """The modified Bessel function of the second kind of order 0: inf at 0, nan below.

    The integral of `exp(-x cosh(t))` over all t > 0.

    >>> torch.special.modified_bessel_k0(torch.tensor([0.5, 2.0]))
    tensor([0.9244, 0.1139])
    """
    return xp.bessel_k0(x)


@constant_function("bessel_k1")
def modified_bessel_k1(xp, x):
    """The modified Bessel function of the second kind of order 1: inf at 0, nan below.

    The integral of `exp(-x cosh(t)) cosh(t)` over all t > 0.

    >>> torch.special.modified_bessel_k1(torch.tensor([0.5, 2.0]))
    tensor([1.6564, 0.1399])
    """
    return xp.bessel_k1(x)


@constant_function("bessel_k0e")
def scaled_modified_bessel_k0(xp, x):
    """`modified_bessel_k0(x) * exp(x)`, without underflow.

    >>> torch.special.scaled_modified_bessel_k0(torch.tensor([0.5, 2.0]))
    tensor([1.5241, 0.8416])
    """
    return xp.bessel_k0e(x)


@constant_function("bessel_k1e")
def scaled_modified_bessel_k1(xp, x):
    """`modified_bessel_k1(x) * exp(x)`, without underflow.

    >>> torch.special.scaled_modified_bessel_k1(torch.tensor([0.5, 2.0]))
    tensor([2.7310, 1.0335])
    """
    return xp.bessel_k1e(x)


@constant_function("airy_ai")
def airy_ai(xp, x):
    """Airy's function Ai: the solution of y'' = x y that vanishes for large x.

    Accurate to rounding; PyTorch's own double precision is off by up to 8e-6 around -2.

    >>> torch.special.airy_ai(torch.tensor([-2.0, 0.0, 1.0]))
    tensor([0.2274, 0.3550, 0.1353])
    """
    return xp.airy_ai(x)


@constant_function()
def spherical_bessel_j0(xp, x):
    """The spherical Bessel function of the first kind of order 0: `sin(x) / x`, and 1 at 0.

    >>> torch.special.spherical_bessel_j0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.8415])
    """
    y = xp.sin(x) / xp.where(x == 0, 1.0, x)
    return xp.where(xp.isinf(x), 0.0, xp.where(x == 0, 1.0, y))
