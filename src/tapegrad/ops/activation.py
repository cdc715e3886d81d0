"""Activations of neural networks that are functions of each element."""

from __future__ import annotations

from typing import Any

from tapegrad import errors
from tapegrad.autograd.inplace import in_place
from tapegrad.boundary import takes_tensors
from tapegrad.op import elementwise, primitive
from tapegrad.ops.logistic import logistic
from tapegrad.ops.refusal import BOOL, COMPLEX, INTEGER, common_dtype, lacks, no_complex, no_kernel
from tapegrad.precision import autocast

__all__ = [
    "celu",
    "celu_",
    "hardshrink",
    "prelu",
    "relu",
    "relu_",
    "selu",
    "selu_",
    "threshold",
    "threshold_",
]


def _floats(kernel: str) -> Any:
    return lacks(kernel, BOOL, INTEGER, COMPLEX)


_no_complex = no_complex("clamp is not supported for complex types", NotImplementedError)


def _no_bools(message: str) -> Any:
    def check(*operands: Any) -> None:
        if common_dtype(*operands).category == BOOL:
            raise errors.advised(RuntimeError(message), "Convert it first: .to(torch.uint8).")
        _no_complex(*operands)

    return check


@elementwise(check=_no_bools("Boolean inputs not supported for relu"))
def relu(xp, input):
    """max(x, 0) of each element.

    >>> torch.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return xp.maximum(input, 0)


relu.vjp(input=lambda xp, g, y: xp.where(y <= 0, 0, g))
relu_ = in_place(relu)


@elementwise(node="LeakyReluBackward0", check=_floats("leaky_relu_cpu"))
def leaky_relu(xp, input, *, negative_slope):
    """x where it is positive, negative_slope * x elsewhere."""
    if 0 < negative_slope <= 1:
        return xp.maximum(input, input * negative_slope)
    return xp.where(input > 0, input, input * negative_slope)


leaky_relu.vjp(
    input=lambda xp, g, input, negative_slope: xp.where(input > 0, g, g * negative_slope)
)


@elementwise(node="EluBackward0", promote="float", check=_floats("elu_cpu"))
def elu_scaled(xp, input, *, alpha, scale, input_scale):
    """scale * x for positive x, scale * alpha * (exp(input_scale * x) - 1) elsewhere."""
    negative = xp.expm1(xp.minimum(input, 0) * input_scale) * (alpha * scale)
    return xp.where(input > 0, input * scale, negative)


def _elu_vjp(xp, g, input, alpha, scale, input_scale):
    slope = xp.exp(xp.minimum(input, 0) * input_scale) * (input_scale * alpha * scale)
    return xp.where(input > 0, g * scale, g * slope)


elu_scaled.vjp(input=_elu_vjp)


@takes_tensors
def elu(input: Any, alpha: float = 1.0) -> Any:
    """x for positive x, alpha * (exp(x) - 1) elsewhere.

    Source: Clevert et al., "Fast and Accurate Deep Network Learning by ELUs", 2015, eq. 15.

    >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return elu_scaled(input, alpha=alpha, scale=1.0, input_scale=1.0)


@takes_tensors
def selu(input: Any) -> Any:
    """scale * elu(x, alpha) with the constants that keep mean 0 and variance 1.

    Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017, eq. 2.

    >>> torch.selu(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return elu_scaled(input, alpha=alpha, scale=scale, input_scale=1.0)


@elementwise(node="CeluBackward0", promote="float", check=_floats("elu_cpu"))
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
def celu(input: Any, alpha: float = 1.0) -> Any:
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
    check=_floats("GeluKernelImpl"),
)
def gelu_curve(xp, input, *, approximate):
    """x Phi(x), Phi the distribution function of the normal law, or an approximation of it."""
    return xp.gelu(input, approximate)


gelu_curve.vjp(
    input=lambda xp, g, input, approximate: xp.gelu_back(g, input, approximate),
)
gelu_curve.jvp(
    input=lambda xp, t, input, approximate: xp.gelu_back(t, input, approximate),
)


def gelu_back(g: Any, input: Any, approximate: str) -> Any:
    """The kernel on tensors, for derivatives of derivatives."""
    from tapegrad import namespace as xp

    if approximate == "none":
        phi = 0.5 * (1 + xp.erf(input * 0.7071067811865476))
        return g * (phi + input * xp.exp(input * input * -0.5) * 0.3989422804014327)
    square = input * input
    t = xp.tanh(0.7978845608028654 * input * (1 + 0.044715 * square))
    slope = 0.7978845608028654 * (1 + 3 * 0.044715 * square)
    return g * (0.5 * (1 + t) + 0.5 * input * (1 - t) * (1 + t) * slope)


def gelu(input: Any, *, approximate: str = "none") -> Any:
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


@elementwise(promote="float", node="MishBackward0", check=_floats("mish_cpu"))
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


@elementwise(promote="float", node="SoftplusBackward0", check=_floats("softplus_cpu"))
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
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta x)) / beta of each element.

    Where `beta x` is above `threshold` it is x itself.

    >>> torch.nn.functional.softplus(torch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    return softplus_beta(input, beta=beta, threshold=threshold)


@elementwise(promote="float", node="LogSigmoidBackward0", check=_floats("log_sigmoid_cpu"))
def log_sigmoid(xp, input):
    """log(1 / (1 + exp(-x))) of each element.

    >>> torch.nn.functional.logsigmoid(torch.tensor([-1.0, 2.0]))
    tensor([-1.3133, -0.1269])
    """
    return -_softplus(xp, -input)


log_sigmoid.vjp(input=lambda xp, g, input: g * logistic(xp, -input))


@elementwise(node="HardtanhBackward0", check=_no_bools("Bool inputs not supported for hardtanh"))
def hardtanh_between(xp, input, *, low, high):
    """x, at least low and at most high."""
    return xp.clip(input, low, high)


hardtanh_between.vjp(
    input=lambda xp, g, input, low, high: xp.where((input > low) & (input < high), g, 0)
)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x, at least min_val and at most max_val.

    >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    dtype = input.dtype
    if dtype.category == INTEGER:
        min_val, max_val = int(min_val), int(max_val)
        if min_val < 0 and not dtype.is_signed:
            raise errors.advised(
                RuntimeError("cannot do hardtanh on an unsigned type with negative limits"),
                "Clamp at 0 instead, or convert the input to a signed type.",
            )
    return hardtanh_between(input, low=min_val, high=max_val)


@elementwise(promote="float", node="HardswishBackward0", check=_floats("hardswish_cpu"))
def hardswish(xp, input):
    """x * min(max(x + 3, 0), 6) / 6 of each element.

    Source: Howard et al., "Searching for MobileNetV3", 2019, section 5.2.

    >>> torch.nn.functional.hardswish(torch.tensor([-1.0, 2.0]))
    tensor([-0.3333,  1.6667])
    """
    return input * xp.clip(input + 3, 0, 6) / 6


hardswish.vjp(
    input=lambda xp, g, input: xp.where(
        input <= -3, 0, xp.where(input < 3, g * (input / 3 + 0.5), g)
    )
)


@elementwise(promote="float", node="HardsigmoidBackward0", check=_floats("hardsigmoid_cpu"))
def hardsigmoid(xp, input):
    """min(max(x + 3, 0), 6) / 6 of each element.

    >>> torch.nn.functional.hardsigmoid(torch.tensor([-1.0, 4.0]))
    tensor([0.3333, 1.0000])
    """
    return xp.clip(input + 3, 0, 6) / 6


hardsigmoid.vjp(input=lambda xp, g, input: xp.where((input > -3) & (input < 3), g / 6, 0))


@elementwise(node="SoftshrinkBackward0", check=_floats("softshrink_check"))
def soft_shrink(xp, input, *, lambd):
    """x moved towards 0 by lambd, 0 where it is nearer than that."""
    return input - xp.clip(input, -lambd, lambd)


soft_shrink.vjp(
    input=lambda xp, g, input, lambd: xp.where((input < -lambd) | (input > lambd), g, 0)
)


_LARGEST = {
    "float64": 1.7976931348623157e308,
    "float32": 3.4028234663852886e38,
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
}


@takes_tensors
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x moved towards 0 by lambd, 0 where it is nearer than that.

    >>> torch.nn.functional.softshrink(torch.tensor([-1.0, 0.2]))
    tensor([-0.5000,  0.0000])
    """
    dtype = input.dtype
    if not dtype.is_floating_point:
        raise no_kernel("softshrink_check", dtype)
    if not 0 <= lambd <= _LARGEST[dtype.name]:
        raise errors.advised(
            RuntimeError(
                f"lambda must be in range [0, {_LARGEST[dtype.name]:g}] for input dtype "
                f"{dtype.scalar_name}, but found {lambd:g}"
            ),
            "Elements are moved by it towards 0.",
        )
    return soft_shrink(input, lambd=lambd)


@elementwise(node="HardshrinkBackward0", check=_floats("hardshrink_cpu"))
def hard_shrink(xp, input, *, lambd):
    """x, 0 where |x| is at most lambd."""
    return xp.where((input >= -lambd) & (input <= lambd), 0, input)


hard_shrink.vjp(
    input=lambda xp, g, input, lambd: xp.where((input < -lambd) | (input > lambd), g, 0)
)


@takes_tensors
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x, 0 where |x| is at most lambd.

    >>> torch.hardshrink(torch.tensor([-1.0, 0.2]))
    tensor([-1.,  0.])
    """
    return hard_shrink(input, lambd=lambd)


@elementwise(node="ThresholdBackward0", check=lacks("threshold_cpu", BOOL, COMPLEX))
def threshold_above(xp, input, *, threshold, value):
    """x where it is above the threshold, value elsewhere."""
    return xp.where(input <= threshold, value, input)


threshold_above.vjp(input=lambda xp, g, input, threshold: xp.where(input <= threshold, 0, g))


def threshold(input: Any, threshold: float, value: float) -> Any:
    """x where it is above the threshold, value elsewhere.

    >>> torch.threshold(torch.tensor([-1.0, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
    """
    if not input.dtype.is_floating_point:
        threshold, value = int(threshold), int(value)
    return threshold_above(input, threshold=threshold, value=value)


@elementwise(node="PreluKernelBackward0", check=_floats("prelu_cpu"))
def prelu_kernel(xp, input, weight):
    """x where it is positive, weight * x elsewhere."""
    return xp.where(input > 0, input, input * weight)


prelu_kernel.vjp(
    input=lambda xp, g, input, weight: xp.where(input > 0, g, g * weight),
    weight=lambda xp, g, input: xp.where(input > 0, 0, g * input),
)


@autocast
def prelu(input: Any, weight: Any) -> Any:
    """x where it is positive, weight * x elsewhere; one weight, or one for each channel (dim 1).

    Source: He et al., "Delving Deep into Rectifiers", 2015, eq. 1.

    >>> torch.prelu(torch.tensor([-2.0, 2.0]), torch.tensor([0.25]))
    tensor([-0.5000,  2.0000])
    """
    if weight.ndim > 1:
        raise errors.advised(
            RuntimeError(
                "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
                f"{weight.ndim}"
            ),
            "There is one weight, or one for each channel.",
        )
    if weight.dtype is not input.dtype:
        raise errors.advised(
            RuntimeError(
                f"prelu: Type promoting not supported. Got {input.dtype.scalar_name} and "
                f"{weight.dtype.scalar_name}"
            ),
            f"Convert the weight: .to({input.dtype}).",
        )
    n = weight.numel()
    if n != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != n:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{n} and channel size = {channels}."
            )
        if input.ndim > 1:
            weight = weight.reshape(n, *[1] * (input.ndim - 2))
    elif weight.ndim and input.ndim != 1:
        weight = weight.reshape(())
    return prelu_kernel(input, weight)


elu_ = in_place(elu)
selu_ = in_place(selu)
celu_ = in_place(celu)
threshold_ = in_place(threshold)
leaky_relu_ = in_place(leaky_relu)
hardtanh_ = in_place(hardtanh)
