"""Exponentials and logarithms."""

import math

from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp

__all__ = [
    "exp", "exp2", "exp2_", "exp_", "expm1", "expm1_", "log", "log1p", "log1p_", "log2", "log2_",
    "log10", "log10_", "log_",
]  # fmt: skip

LN2, LN10 = math.log(2), math.log(10)


@vjp(x=lambda g, y: g * y)
@elementwise(promote="float", ufunc="exp")
def exp(xp, x):
    """e to the power of each element.

    >>> torch.exp(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    return xp.exp(x)


@vjp(x=lambda g, y: g * (y * LN2))
@elementwise(promote="float", ufunc="exp2", kernels=("exp2",))
def exp2(xp, x):
    """Two to the power of each element.

    >>> torch.exp2(torch.tensor([0.0, 3.0]))
    tensor([1., 8.])
    """
    return xp.exp2(x)


@vjp(x=lambda g, y: g * (y + 1))
@elementwise(promote="float", ufunc="expm1")
def expm1(xp, x):
    """`exp(x) - 1`, accurate where `x` is small.

    >>> torch.expm1(torch.tensor([0.0, 1e-8]))
    tensor([0.0000e+00, 1.0000e-08])
    """
    return xp.expm1(x)


@vjp(x=lambda g, x: g / x)
@elementwise(promote="float", ufunc="log")
def log(xp, x):
    """The natural logarithm of each element.

    >>> torch.log(torch.tensor([1.0, 10.0]))
    tensor([0.0000, 2.3026])
    """
    return xp.log(x)


@vjp(x=lambda g, x: g / (x * LN2))
@elementwise(promote="float", ufunc="log2")
def log2(xp, x):
    """The logarithm to base 2.

    >>> torch.log2(torch.tensor([1.0, 8.0]))
    tensor([0., 3.])
    """
    return xp.log2(x)


@vjp(x=lambda g, x: g / (x * LN10))
@elementwise(promote="float")
def log10(xp, x):
    """The logarithm to base 10.

    >>> torch.log10(torch.tensor([1.0, 100.0]))
    tensor([0., 2.])
    """
    return xp.log10(x)


@vjp(x=lambda g, x: g / (x + 1))
@elementwise(node="Log1PBackward0", promote="float", ufunc="log1p")
def log1p(xp, x):
    """`log(1 + x)`, accurate where `x` is small.

    >>> torch.log1p(torch.tensor([0.0, 1e-8]))
    tensor([0.0000e+00, 1.0000e-08])
    """
    return xp.log1p(x)


exp_, exp2_, expm1_, log_ = in_place(exp), in_place(exp2), in_place(expm1), in_place(log)
log2_, log10_, log1p_ = in_place(log2), in_place(log10), in_place(log1p)
