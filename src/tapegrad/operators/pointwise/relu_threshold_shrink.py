"""Piecewise linear and quadratic activations: relu, threshold, the shrinks, the hard ones."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import int64
from tapegrad.core.limits import largest
from tapegrad.core.scalar import factor_of, fitted, number_of
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import (
    BOOL,
    COMPLEX,
    INTEGER,
    common_dtype,
    floats_only,
    lacks,
    no_complex,
    no_kernel,
    require_floating,
)

__all__ = ["hardshrink", "prelu", "relu", "relu_", "threshold", "threshold_"]

_no_complex = no_complex("clamp is not supported for complex types", NotImplementedError)


def _no_bools(message: str) -> Any:
    def check(*operands: Array) -> None:
        if common_dtype(*operands).category == BOOL:
            raise errors.runtime_error(message, "Convert it first: .to(torch.uint8).")
        _no_complex(*operands)

    return check


@one_node("ThresholdBackwardBackward0")
@vjp(input=lambda xp, g, y: xp.where(y <= 0, 0, g))
@elementwise(check=_no_bools("Boolean inputs not supported for relu"))
def relu(xp, input):
    """max(x, 0) of each element.

    >>> torch.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return xp.maximum(input, 0)


@one_node("LeakyReluBackwardBackward0")
@vjp(input=lambda xp, g, input, negative_slope: xp.where(input > 0, g, g * negative_slope))
@elementwise(node="LeakyReluBackward0", check=floats_only("leaky_relu_cpu"))
def leaky_relu(xp, input, *, negative_slope):
    """x where it is positive, negative_slope * x elsewhere."""
    if 0 < negative_slope <= 1:
        return xp.maximum(input, input * negative_slope)
    return xp.where(input > 0, input, input * negative_slope)


@one_node("HardtanhBackwardBackward0")
@vjp(input=lambda xp, g, input, low, high: xp.where((input <= low) | (input >= high), 0, g))
@elementwise(node="HardtanhBackward0", check=_no_bools("Bool inputs not supported for hardtanh"))
def hardtanh_between(xp, input, *, low, high):
    """x, at least low and at most high."""
    return xp.clip(input, low, high)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x, at least min_val and at most max_val.

    >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if type(min_val) is not float or type(max_val) is not float:
        min_val = number_of("hardtanh", "min_val", 2, min_val)
        max_val = number_of("hardtanh", "max_val", 3, max_val)
    if min_val > max_val:
        check_limits(min_val, max_val)
    if input.dtype.category == INTEGER:
        return _between(input, min_val, max_val)
    return hardtanh_between(input, low=min_val, high=max_val)


def check_limits(min_val: float, max_val: float) -> None:
    """Raise where nothing lies between two limits."""
    if min_val > max_val:
        raise errors.value_error(
            "min_val cannot be greater than max_val", f"They are {min_val} and {max_val}."
        )


def _between(input: Tensor, min_val: Any, max_val: Any) -> Any:
    dtype = input.dtype
    if dtype.category == INTEGER:
        min_val, max_val = fitted(min_val, int64), fitted(max_val, int64)
        if min_val < 0 and not dtype.is_signed:
            text = "cannot do hardtanh on an unsigned type with negative limits"
            advice = "Clamp at 0 instead, or convert the input to a signed type."
            raise errors.runtime_error(text, advice)
        min_val, max_val = fitted(min_val, dtype), fitted(max_val, dtype)
    return hardtanh_between(input, low=min_val, high=max_val)


@vjp(
    input=lambda xp, g, input: xp.where(
        input <= -3, 0, xp.where(input < 3, g * (input / 3 + 0.5), g)
    )
)
@elementwise(promote="float", node="HardswishBackward0", check=floats_only("hardswish_cpu"))
def hardswish(xp, input):
    """x * min(max(x + 3, 0), 6) / 6 of each element.

    Source: Howard et al., "Searching for MobileNetV3", 2019, section 5.2.

    >>> torch.nn.functional.hardswish(torch.tensor([-1.0, 2.0]))
    tensor([-0.3333,  1.6667])
    """
    return input * xp.clip(input + 3, 0, 6) / 6


@one_node("HardsigmoidBackwardBackward0")
@vjp(input=lambda xp, g, input: xp.where((input > -3) & (input < 3), g / 6, 0))
@elementwise(promote="float", node="HardsigmoidBackward0", check=floats_only("hardsigmoid_cpu"))
def hardsigmoid(xp, input):
    """min(max(x + 3, 0), 6) / 6 of each element.

    >>> torch.nn.functional.hardsigmoid(torch.tensor([-1.0, 4.0]))
    tensor([0.3333, 1.0000])
    """
    return xp.clip(input + 3, 0, 6) / 6


def _pull(xp: Namespace, g: Array, x: Array, lambd: float) -> Any:
    """The cotangent where x is not near 0, or not a number."""
    return xp.where((x >= -lambd) & (x <= lambd), 0, g)


@one_node("SoftshrinkBackwardBackward0")
@vjp(input=lambda xp, g, input, lambd: _pull(xp, g, input, lambd))
@elementwise(node="SoftshrinkBackward0", check=floats_only("softshrink_check"))
def soft_shrink(xp, input, *, lambd):
    """x moved towards 0 by lambd, 0 where it is nearer than that."""
    moved = input - xp.clip(input, -lambd, lambd)
    return xp.where(moved == 0, input * 0, moved)  # the zero of its sign


@require_tensors
def softshrink(input: Tensor, lambd: float = 0.5) -> Any:
    """x moved towards 0 by lambd, 0 where it is nearer than that.

    Shape: any, and that of the result.
    Raises: RuntimeError for a negative `lambd`.

    >>> torch.nn.functional.softshrink(torch.tensor([-1.0, 0.2]))
    tensor([-0.5000,  0.0000])
    """
    dtype = input.dtype
    require_floating("softshrink_check", input)
    most = largest(dtype)
    if not 0 <= lambd <= most:
        kind = dtype.scalar_name
        text = f"lambda must be in range [0, {most:g}] for input dtype {kind}, but found {lambd:g}"
        raise errors.runtime_error(text, "Elements are moved by it towards 0.")
    return soft_shrink(input, lambd=lambd)


@one_node("HardshrinkBackwardBackward0")
@vjp(input=lambda xp, g, input, lambd: _pull(xp, g, input, lambd))
@elementwise(node="HardshrinkBackward0", check=floats_only("hardshrink_cpu"))
def hard_shrink(xp, input, *, lambd):
    """x, 0 where |x| is at most lambd."""
    return xp.where((input >= -lambd) & (input <= lambd), 0, input)


@require_tensors
def hardshrink(input: Tensor, lambd: float = 0.5) -> Any:
    """x, 0 where |x| is at most lambd.

    Shape: any, and that of the result.

    >>> torch.hardshrink(torch.tensor([-1.0, 0.2]))
    tensor([-1.,  0.])
    """
    return hard_shrink(input, lambd=lambd)


@one_node("ThresholdBackwardBackward0")
@vjp(input=lambda xp, g, input, threshold: xp.where(input <= threshold, 0, g))
@elementwise(node="ThresholdBackward0", check=lacks("threshold_cpu", BOOL, COMPLEX))
def threshold_above(xp, input, *, threshold, value):
    """x where it is above the threshold, value elsewhere."""
    return xp.where(input <= threshold, value, input)


@require_tensors
def threshold(input: Tensor, threshold: float, value: float) -> Any:
    """x where it is above the threshold, value elsewhere.

    Shape: any, and that of the result.

    >>> torch.threshold(torch.tensor([-1.0, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
    """
    dtype = input.dtype
    if dtype.is_complex:
        raise no_kernel("threshold_cpu", dtype)
    small = type(threshold) is float is type(value) and -6e4 < threshold < 6e4 > value > -6e4
    if not small or not dtype.is_floating_point:
        threshold, value = fitted(threshold, dtype), fitted(value, dtype)
    return threshold_above(input, threshold=threshold, value=value)


@vjp(
    input=lambda xp, g, input, weight: xp.where(input > 0, g, g * weight),
    weight=lambda xp, g, input, weight: xp.where(input > 0, 0, g * input),
)
@elementwise(node="PreluKernelBackward0", check=floats_only("prelu_cpu"))
def prelu_kernel(xp, input, weight):
    """x where it is positive, weight * x elsewhere."""
    return xp.where(input > 0, input, input * weight)


_prelu_rules = prelu_kernel.op.vjps


@vjp(
    grad=lambda xp, g, input, weight: xp.where(input > 0, g, g * weight),
    input=lambda xp, g: xp.zeros_like(g),
    weight=lambda xp, g, grad, input: xp.where(input > 0, 0, g * grad),
)
@elementwise(name="prelu_input_backward", node="PreluKernelBackwardBackward0", numbers=False)
def _prelu_input_back(xp, grad, input, weight):
    """A cotangent of `prelu` brought to its argument."""
    return _prelu_rules["input"].function(xp, grad, input, weight)


@vjp(
    grad=lambda xp, g, input: xp.where(input > 0, 0, g * input),
    input=lambda xp, g, grad, input: xp.where(input > 0, 0, g * grad),
    weight=lambda xp, g: xp.zeros_like(g),
)
@elementwise(name="prelu_weight_backward", node="PreluKernelBackwardBackward0", numbers=False)
def _prelu_weight_back(xp, grad, input, weight):
    """A cotangent of `prelu` brought to its slopes, each of them still for all elements it has."""
    return _prelu_rules["weight"].function(xp, grad, input, weight)


prelu_kernel.recorded(
    input=lambda xp, g, input, weight: _prelu_input_back(g, input, weight),
    weight=lambda xp, g, input, weight: _prelu_weight_back(g, input, weight),
)


@autocast
def prelu(input: Tensor, weight: Tensor) -> Any:
    """x where it is positive, weight * x elsewhere; one weight, or one for each channel (dim 1).

    Shapes: any, weight () or (1,) or (C,); the result has the input's.
    Raises: RuntimeError for a weight of another size or dtype.

    Source: He et al., "Delving Deep into Rectifiers", 2015, eq. 1.

    >>> torch.prelu(torch.tensor([-2.0, 2.0]), torch.tensor([0.25]))
    tensor([-0.5000,  2.0000])
    """
    if weight.dtype is not input.dtype:
        raise errors.runtime_error(
            f"prelu: Type promoting not supported. Got {input.dtype.scalar_name} and "
            f"{weight.dtype.scalar_name}",
            f"Convert the weight: .to({input.dtype}).",
        )
    n = weight.numel()
    if n != 1:
        if input.ndim == 0:
            raise errors.runtime_error(
                "Not allow zero-dim input tensor.", "A single number has no channels."
            )
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != n:
            raise errors.runtime_error(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{n} and channel size = {channels}.",
                "There is one weight, or one for each channel.",
            )
    if weight.ndim > 1:
        raise errors.runtime_error(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}",
            "There is one weight, or one for each channel.",
        )
    if n != 1:
        if input.ndim > 1:
            weight = weight.reshape(n, *[1] * (input.ndim - 2))
    elif weight.ndim and input.ndim != 1:
        weight = weight.reshape(())
    return prelu_kernel(input, weight)


@require_tensors(name="leaky_relu")
def leaky(input: Tensor, negative_slope: Any = 0.01) -> Any:
    """x where it is positive, negative_slope * x elsewhere."""
    return leaky_relu(input, negative_slope=factor_of(negative_slope, input.dtype))


def _limited(input: Tensor, min_val: Any = -1.0, max_val: Any = 1.0) -> Any:
    """x, at least min_val and at most max_val, which PyTorch does not compare here."""
    return _between(input, min_val, max_val)


relu_, threshold_ = in_place(relu), in_place(threshold, repeats="written")
leaky_relu_, hardtanh_ = in_place(leaky, "leaky_relu_"), in_place(_limited, "hardtanh_")
