"""Activations of neural networks that are smooth, each a function of one element."""

from __future__ import annotations

from typing import Any

from tapegrad.core.annotations import Array, TensorLike
from tapegrad.core.argument_check import takes_tensors
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, primitive
from tapegrad.operators.dtype_check import BOOL, INTEGER, floats_only, lacks
from tapegrad.operators.pointwise.sigmoid_logit import logistic

__all__ = ["celu", "celu_", "selu", "selu_"]


@elementwise(node="EluBackward0", promote="float", check=floats_only("elu_cpu"))
def elu_scaled(xp, input, *, alpha, scale, input_scale):
    """scale * x for positive x, scale * alpha * (exp(input_scale * x) - 1) elsewhere."""
    negative = xp.expm1(xp.minimum(input, 0) * input_scale) * (alpha * scale)
    return xp.where(input > 0, input * scale, negative)


def _elu_vjp(xp, g, input, alpha, scale, input_scale):
    slope = xp.exp(xp.minimum(input, 0) * input_scale) * (input_scale * alpha * scale)
    return xp.where(input > 0, g * scale, g * slope)


elu_scaled.vjp(input=_elu_vjp)


@takes_tensors
def elu(input: TensorLike, alpha: float = 1.0) -> Any:
    """x for positive x, alpha * (exp(x) - 1) elsewhere.

    Source: Clevert et al., "Fast and Accurate Deep Network Learning by ELUs", 2015, eq. 15.

    >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return elu_scaled(input, alpha=alpha, scale=1.0, input_scale=1.0)


@takes_tensors
def selu(input: TensorLike) -> Any:
    """scale * elu(x, alpha) with the constants that keep mean 0 and variance 1.

    Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017, eq. 2.

    >>> torch.selu(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return elu_scaled(input, alpha=alpha, scale=scale, input_scale=1.0)


@elementwise(node="CeluBackward0", promote="float", check=floats_only("elu_cpu"))
def celu_scaled(xp, input, *, alpha):
    """x for positive x, alpha * (exp(x / alpha) - 1) elsewhere."""
    negative = xp.expm1(xp.minimum(input, 0) / alpha) * alpha
    return xp.where(input > 0, input, negative)


celu_scaled.vjp(
    input=lambda xp, g, input, alpha: xp.where(
        input > 0, g, g * xp.exp(xp.minimum(input, 0) / alpha)
    )
)


@takes_tensors
def celu(input: TensorLike, alpha: float = 1.0) -> Any:
    """x for positive x, alpha * (exp(x / alpha) - 1) elsewhere.

    Source: Barron, "Continuously Differentiable Exponential Linear Units", 2017.

    >>> torch.celu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return celu_scaled(input, alpha=alpha)


@primitive(
    name="gelu",
    promote="float",
    kernels=("gelu", "gelu_back"),
    node="GeluBackward0",
    check=floats_only("GeluKernelImpl"),
)
def gelu_curve(xp, input, *, approximate):
    """x Phi(x), Phi the distribution function of the normal law, or an approximation of it."""
    return xp.gelu(input, approximate)


gelu_curve.vjp(input=lambda xp, g, input, approximate: xp.gelu_back(g, input, approximate))
gelu_curve.jvp(input=lambda xp, t, input, approximate: xp.gelu_back(t, input, approximate))


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


def gelu(input: TensorLike, *, approximate: str = "none") -> Any:
    """x * Phi(x); with approximate="tanh" its approximation by tanh.

    Phi is the distribution function of the normal law; the approximation is
    0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, section 2.

    >>> torch.nn.functional.gelu(torch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return gelu_curve(input, approximate=approximate)


@elementwise(promote="float", node="SiluBackward0", check=lacks("silu_cpu", BOOL, INTEGER))
def silu(xp, input):
    """x * sigmoid(x) of each element.

    Source: Elfwing et al., "Sigmoid-Weighted Linear Units", 2017, eq. 6.

    >>> torch.nn.functional.silu(torch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    return input * logistic(xp, input)


def _silu_vjp(xp, g, input):
    s = logistic(xp, input)
    return g * (s * (1 + input * (1 - s)))


silu.vjp(input=_silu_vjp)


def _softplus(xp, x):
    """log(1 + exp(x)) without overflow."""
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))


@elementwise(promote="float", node="MishBackward0", check=floats_only("mish_cpu"))
def mish(xp, input):
    """x * tanh(log(1 + exp(x))) of each element.

    Source: Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019.

    >>> torch.nn.functional.mish(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """
    return input * xp.tanh(_softplus(xp, input))


def _mish_vjp(xp, g, input):
    t = xp.tanh(_softplus(xp, input))
    return g * (t + input * logistic(xp, input) * (1 - t) * (1 + t))


mish.vjp(input=_mish_vjp)


@elementwise(promote="float", node="SoftplusBackward0", check=floats_only("softplus_cpu"))
def softplus_beta(xp, input, *, beta, threshold):
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold."""
    scaled = input * beta
    return xp.where(scaled > threshold, input, _softplus(xp, scaled) / beta)


softplus_beta.vjp(
    input=lambda xp, g, input, beta, threshold: xp.where(
        input * beta > threshold, g, g * logistic(xp, input * beta)
    )
)


@takes_tensors
def softplus(input: TensorLike, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta x)) / beta of each element.

    Where `beta x` is above `threshold` it is x itself.

    >>> torch.nn.functional.softplus(torch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    return softplus_beta(input, beta=beta, threshold=threshold)


@elementwise(promote="float", node="LogSigmoidBackward0", check=floats_only("log_sigmoid_cpu"))
def log_sigmoid(xp, input):
    """log(1 / (1 + exp(-x))) of each element.

    >>> torch.nn.functional.logsigmoid(torch.tensor([-1.0, 2.0]))
    tensor([-1.3133, -0.1269])
    """
    return -_softplus(xp, -input)


log_sigmoid.vjp(input=lambda xp, g, input: g * logistic(xp, -input))


elu_ = in_place(elu)
selu_ = in_place(selu)
celu_ = in_place(celu)
