"""Exponential linear units: elu, selu and celu."""

from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.scalar import factor_of, number_of
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import floats_only

__torch__ = "celu celu_ selu selu_"


def _elu_vjp(xp, g, input, alpha, scale, input_scale):
    slope = xp.exp(xp.minimum(input, 0) * input_scale) * (input_scale * alpha * scale)
    return xp.where(input > 0, g * scale, g * slope)


@vjp(input=_elu_vjp)
@elementwise(node="EluBackward0", promote="float", check=floats_only("elu_cpu"))
def elu_scaled(xp, input, *, alpha, scale, input_scale):
    """scale * x for positive x, scale * alpha * (exp(input_scale * x) - 1) elsewhere."""
    negative = xp.expm1(xp.minimum(input, 0) * input_scale) * (alpha * scale)
    return xp.where(input > 0, input * scale, negative)


@require_tensors
def elu(input: Tensor, alpha: float = 1.0) -> Any:
    """x for positive x, alpha * (exp(x) - 1) elsewhere.

    Source: Clevert et al., "Fast and Accurate Deep Network Learning by ELUs", 2015, eq. 15.

    >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    if type(alpha) is not float or not -1e38 < alpha < 1e38:
        alpha = factor_of(number_of("elu", "alpha", 2, alpha), input.dtype)
    return elu_scaled(input, alpha=alpha, scale=1.0, input_scale=1.0)


def _elu(input: Tensor, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    """scale * x for positive x, scale * alpha * (exp(input_scale * x) - 1) elsewhere."""
    alpha, scale, input_scale = [factor_of(x, input.dtype) for x in (alpha, scale, input_scale)]
    return elu_scaled(input, alpha=alpha, scale=scale, input_scale=input_scale)


@require_tensors
def selu(input: Tensor) -> Any:
    """scale * elu(x, alpha) with the constants that keep mean 0 and variance 1.

    Shape: any, and that of the result.

    Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017, eq. 2.

    >>> torch.selu(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return elu_scaled(input, alpha=alpha, scale=scale, input_scale=1.0)


@vjp(
    input=lambda xp, g, input, alpha: xp.where(
        input > 0, g, g * xp.exp(xp.minimum(input, 0) / alpha)
    )
)
@elementwise(node="CeluBackward0", promote="float", check=floats_only("elu_cpu"))
def celu_scaled(xp, input, *, alpha):
    """x for positive x, alpha * (exp(x / alpha) - 1) elsewhere."""
    negative = xp.expm1(xp.minimum(input, 0) / alpha) * alpha
    return xp.where(input > 0, input, negative)


@require_tensors
def celu(input: Tensor, alpha: float = 1.0) -> Any:
    """x for positive x, alpha * (exp(x / alpha) - 1) elsewhere.

    Shape: any, and that of the result.
    Raises: RuntimeError for an `alpha` of 0.

    Source: Barron, "Continuously Differentiable Exponential Linear Units", 2017.

    >>> torch.celu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    if type(alpha) is not float:
        alpha = number_of("celu", "alpha", 2, alpha)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return celu_scaled(input, alpha=alpha)


elu_, selu_, celu_ = in_place(_elu, "elu_"), in_place(selu), in_place(celu)
