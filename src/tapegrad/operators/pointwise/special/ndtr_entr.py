"""The normal distribution's function, its logarithm and inverse; entropy; scaled erfc."""

import math

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import vjp
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.pointwise.special.real_function import real_function
from tapegrad.operators.with_number import times_number

__all__: list[str] = []  # they live in torch.special

_ROOT_HALF = math.sqrt(0.5)
_ROOT_PI = math.sqrt(math.pi)


@require_tensors
def ndtr(input: Tensor, *, out: Out = None) -> Any:
    """The part of a standard normal distribution that lies below `input`.

    `(1 + erf(x / sqrt(2))) / 2`

    By erfc, which keeps its digits far below zero, where PyTorch's gives 0.

    Shape: any, and that of the result.

    >>> torch.special.ndtr(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.9772])
    """
    from tapegrad.operators.pointwise.special.erf_gamma import erfc

    errors.need_tensors("special_ndtr", input=input)
    if input._array.dtype.kind == "c":
        raise no_kernel("erf_vml_cpu", input.dtype)
    y = erfc(times_number(input, number=-_ROOT_HALF))
    return finish("special_ndtr", times_number(y, number=0.5), out)


@vjp(x=lambda xp, g, x: g / xp.erfcx(x * -_ROOT_HALF) * (2 * _ROOT_HALF / _ROOT_PI))
@real_function("log_ndtr", "erfcx", narrow=False)
def log_ndtr(xp, x):
    """The logarithm of `ndtr`, accurate far below zero.

    >>> torch.special.log_ndtr(torch.tensor([0.0, -20.0]))
    tensor([  -0.6931, -203.9172])
    """
    return xp.log_ndtr(x)


@vjp(x=lambda xp, g, y: g * (_ROOT_PI / _ROOT_HALF * xp.exp(y * y / 2)))
@real_function("ndtri", narrow=False)
def ndtri(xp, x):
    """The inverse of `ndtr`.

    `sqrt(2) erfinv(2 x - 1)`

    >>> torch.special.ndtri(torch.tensor([0.5, 0.9]))
    tensor([0.0000, 1.2816])
    """
    return xp.ndtri(x)


@vjp(x=lambda g, x, y: g * (2 * x * y - 2 / _ROOT_PI))
@real_function("erfcx", narrow=False)
def erfcx(xp, x):
    """`exp(x**2) * erfc(x)`, without overflow.

    >>> torch.special.erfcx(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4276])
    """
    return xp.erfcx(x)


@vjp(x=lambda xp, g, x: g * (-xp.log(x) - 1))
@real_function()
def entr(xp, x):
    """The term `-x log(x)` of an entropy: 0 at 0, -inf below.

    >>> torch.special.entr(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.3466])
    """
    inside = xp.where(x == 0, 0.0, -x * xp.log(x))
    return xp.where(x < 0, -math.inf, inside)
