"""Special functions: error functions, gamma functions."""

import math

from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.errors import must_be
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import COMPLEX, lacks

__all__ = ["digamma", "erf", "erf_", "erfc", "erfc_", "erfinv", "lgamma", "polygamma"]

_SLOPE = 2 / math.sqrt(math.pi)  # of erf at 0


@vjp(x=lambda xp, g, x: g * (xp.exp(-(x * x)) * _SLOPE))
@elementwise(promote="float", check=lacks("erf_vml_cpu", COMPLEX), kernels=("erf",))
def erf(xp, x):
    """The error function, `2 / sqrt(pi)` times the integral of `exp(-t**2)` from 0 to `x`.

    >>> torch.erf(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """
    return xp.erf(x)


@vjp(x=lambda xp, g, x: g * (xp.exp(-(x * x)) * -_SLOPE))
@elementwise(promote="float", check=lacks("erfc_vml_cpu", COMPLEX), kernels=("erfc",))
def erfc(xp, x):
    """`1 - erf(x)`, accurate where that is small.

    >>> torch.erfc(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.1573])
    """
    return xp.erfc(x)


@vjp(x=lambda xp, g, y: g * (xp.exp(y * y) * (1 / _SLOPE)))
@elementwise(promote="float", check=lacks("erfinv_vml_cpu", COMPLEX), kernels=("erfinv",))
def erfinv(xp, x):
    """The inverse of the error function: the y with `erf(y) = x`, for x from -1 to 1.

    >>> torch.erfinv(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.4769])
    """
    return xp.erfinv(x)


# --- gamma functions -------------------------------------------------------------------------


@vjp(x=lambda xp, g, x: g * xp.digamma(x))
@elementwise(promote="float", check=lacks("lgamma_vml_cpu", COMPLEX), kernels=("lgamma", "digamma"))
def lgamma(xp, x):
    """`log |Gamma(x)|`, the logarithm of the modulus of the gamma function.

    Gamma(x) is the integral of `t^(x - 1) exp(-t)` over all t > 0, and (x - 1)! for whole x > 0.

    >>> torch.lgamma(torch.tensor([1.0, 5.0]))
    tensor([0.0000, 3.1781])
    """
    return xp.lgamma(x)


@vjp(x=lambda xp, g, x: g * xp.polygamma(x, n=1))
@elementwise(promote="float", check=lacks("digamma", COMPLEX), kernels=("digamma", "polygamma"))
def digamma(xp, x):
    """`Gamma'(x) / Gamma(x)`, the derivative of `lgamma`.

    >>> torch.digamma(torch.tensor([1.0, 2.0]))
    tensor([-0.5772,  0.4228])
    """
    return xp.digamma(x)


@vjp(x=lambda xp, g, x, n: g * xp.polygamma(x, n=n + 1))
@elementwise(
    name="polygamma", promote="float", check=lacks("polygamma", COMPLEX), kernels=("polygamma",)
)
def higher_digamma(xp, x, *, n):
    """The derivative of order `n` of the digamma function."""
    return xp.polygamma(x, n=n)


@require_tensors
def polygamma(n: int, input: Tensor, *, out: Out = None) -> Any:
    """The derivative of order `n` of the digamma function.

    `(-1)^(n + 1) n! zeta(n + 1, x)` for n above 0.

    Shape: any, and that of the result.
    Raises: RuntimeError for a negative `n`.

    >>> torch.polygamma(1, torch.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])
    """
    if not isinstance(n, int):
        raise must_be("polygamma", "n", 1, "int", n)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(input, out=out)
    return finish("polygamma", higher_digamma(input, n=n), out, input)


def _polygamma_of(input: Tensor, n: int) -> Any:
    return polygamma(n, input)


erf_, erfc_, erfinv_, lgamma_ = in_place(erf), in_place(erfc), in_place(erfinv), in_place(lgamma)
digamma_, polygamma_ = in_place(digamma), in_place(_polygamma_of, "polygamma_")
