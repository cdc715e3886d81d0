"""Gelu: the Gaussian error linear unit, exact or by a hyperbolic tangent."""

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core.annotations import Any, Array, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.result_order import in_operands_order
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import floats_only


@jvp(input=lambda xp, t, input, approximate: xp.gelu_back(t, input, approximate))
@vjp(input=lambda xp, g, input, approximate: xp.gelu_back(g, input, approximate))
@primitive(
    name="gelu",
    promote="float",
    kernels=("gelu", "gelu_back"),
    node="GeluBackward0",
    check=floats_only("GeluKernelImpl"),
    order=in_operands_order,
)
def gelu_curve(xp, input, *, approximate):
    """x Phi(x), Phi the distribution function of the normal law, or an approximation of it."""
    return xp.gelu(input, approximate)


@tensor_kernel
def gelu_back(g: Array, input: Array, approximate: str) -> Any:
    """The kernel on tensors, for derivatives of derivatives."""
    xp = TENSOR_NAMESPACE()
    if approximate == "none":
        phi = 0.5 * (1 + xp.erf(input * 0.7071067811865476))
        return g * (phi + input * xp.exp(input * input * -0.5) * 0.3989422804014327)
    square = input * input
    t = xp.tanh(0.7978845608028654 * input * (1 + 0.044715 * square))
    slope = 0.7978845608028654 * (1 + 3 * 0.044715 * square)
    return g * (0.5 * (1 + t) + 0.5 * input * (1 - t) * (1 + t) * slope)


@require_tensors
def gelu(input: Tensor, *, approximate: str = "none") -> Any:
    """x * Phi(x); with approximate="tanh" its approximation by tanh.

    Phi is the distribution function of the normal law; the approximation is
    0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    Shape: any, and that of the result.
    Raises: RuntimeError for another `approximate`.

    Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, section 2.

    >>> torch.nn.functional.gelu(torch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return gelu_curve(input, approximate=approximate)
