"""Numbers as they would be after quantization: fake_quantize_per_tensor_affine and _per_channel.

The gradient goes straight through: it is 1 where a number was between the ends of the grid.
"""

from operator import index

from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Namespace, OperatorLike, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import float32
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.op import primitive, vjp
from tapegrad.operators.dtype_check import no_kernel

__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]
__torch__ = "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine"

_MASKED = {"outputs": ("output", "mask"), "nondiff": ("mask",), "hidden": ("scale", "zero_point")}


def _on_grid(
    xp: Namespace, x: Array, scale: Array, zero_point: Array, low: int, high: int
) -> tuple[Array, Array]:
    """The nearest number of the grid, and where x was not beyond its ends."""
    dtype = x.dtype
    if dtype != xp.float64:
        x = xp.astype(x, xp.float32)  # numbers of 16 bits; the others stay as they are
    step, inverse, zero = (xp.astype(each, x.dtype) for each in (scale, 1 / scale, zero_point))
    place = xp.round(x * inverse) + zero
    mask = xp.logical_and(place >= low, place <= high)
    place = xp.where(xp.isnan(place), low, xp.clip(place, low, high))
    return xp.astype((place - zero) * step, dtype), mask


def _rule(xp: Namespace, g: Array, mask: Array) -> Any:
    return g * mask


_TENSOR = "fake_quantize_per_tensor_affine_cachemask"
_CHANNEL = "fake_quantize_per_channel_affine_cachemask"


@vjp(x=_rule)
@primitive(name=_TENSOR, node="FakeQuantizePerTensorAffineCachemaskBackward0", **_MASKED)
def fake_quantized(xp, x, scale, zero_point, *, low, high):
    """x rounded to a grid of one step, and where it was within."""
    return _on_grid(xp, x, scale, zero_point, low, high)


@vjp(x=_rule)
@primitive(
    name="_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    node="FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0",
    **_MASKED,
)
def fake_quantized_by_tensors(xp, x, scale, zero_point, *, low, high):
    """x rounded to a grid whose step and zero are tensors, and where it was within."""
    return _on_grid(xp, x, scale, zero_point, low, high)


@vjp(x=_rule)
@primitive(name=_CHANNEL, node="FakeQuantizePerChannelAffineCachemaskBackward0", **_MASKED)
def fake_quantized_channels(xp, x, scale, zero_point, *, low, high):
    """x rounded to a grid for each channel, and where it was within."""
    return _on_grid(xp, x, scale, zero_point, low, high)


# --- the public functions ---


@require_tensors
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Any:
    """The input rounded to what quantization would leave of it.

    `(clamp(round(x / scale) + zero_point, quant_min, quant_max) - zero_point) * scale`; the
    gradient passes where nothing was clamped. `scale` and `zero_point` are numbers, or tensors of
    one element.

    Shape: any; it stays.
    Raises: RuntimeError for a zero_point outside of the grid, or quant_min above quant_max.

    >>> x = torch.tensor([0.04, 0.26, 9.0])
    >>> torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -10, 10)
    tensor([0.0000, 0.3000, 1.0000])
    """
    _check_kind(input, "fake_quantize_tensor_cachemask_kernel_type_handling")
    _check_ends(quant_min, quant_max)
    if isinstance(scale, tensor_base.TensorBase):
        op: OperatorLike = fake_quantized_by_tensors
        step, zero = scale.detach(), zero_point.detach()
    else:
        if not quant_min <= index(zero_point) <= quant_max:
            raise _outside()
        op, like = fake_quantized, input.detach()
        step, zero = like.new_tensor(scale, dtype=float32), like.new_tensor(zero_point)
    return op(input, step, zero, low=quant_min, high=quant_max)[0]


@require_tensors
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Any:
    """The input rounded to what quantization would leave of it, each channel by its own grid.

    Shapes: input any; scale and zero_point (C,), where C is the input's size along `axis`.
    Raises: RuntimeError for a zero_point outside of the grid, or other sizes and dtypes.

    >>> x = torch.tensor([[0.26, 9.0], [0.26, 9.0]])
    >>> zero = torch.tensor([0, 0], dtype=torch.int32)
    >>> torch.fake_quantize_per_channel_affine(x, torch.tensor([0.1, 0.5]), zero, 0, -10, 10)
    tensor([[0.3000, 1.0000],
            [0.5000, 5.0000]])
    """
    _check_channels(input, scale, zero_point, axis, quant_min, quant_max)
    shape = [1] * input.ndim
    shape[axis] = -1
    step, zero = (x.detach().reshape(shape) for x in (scale, zero_point))
    return fake_quantized_channels(input, step, zero, low=quant_min, high=quant_max)[0]


def _check_kind(x: Tensor, kernel: str) -> None:
    if not x.dtype.is_floating_point:
        raise no_kernel(kernel, x.dtype)


def _check_ends(low: int, high: int) -> None:
    if low > high:
        raise errors.runtime_error(
            "`quant_min` should be less than or         equal to `quant_max`.",
            f"They are {low} and {high}.",
        )


def _outside() -> RuntimeError:
    return errors.runtime_error(
        "`zero_point` must be between `quant_min` and `quant_max`.",
        "It is the place of the number 0 on the grid.",
    )


def _check_channels(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, low: int, high: int
) -> None:
    advice = "There is one scale and one zero point for each channel."
    if scale.dtype.name not in ("float32", "bfloat16"):
        text = f"Scale must be Float or BFloat16, found {scale.dtype.scalar_name}"
        raise errors.runtime_error(text, "Convert it: .float().")
    if zero_point.dtype.name not in ("int32", "float32", "float16"):
        text = f"Zero-point must be Int32, Float or Half, found {zero_point.dtype.scalar_name}"
        raise errors.runtime_error(text, "Convert it: .int().")
    for name, each in (("scale", scale), ("zero point", zero_point)):
        if each.ndim != 1:
            raise errors.runtime_error(f"{name} should be a 1-D tensor", advice)
    if scale.numel() != zero_point.numel():
        text = "scale and zero-point need to have the same dimensions"
        raise errors.runtime_error(text, advice)
    if scale.numel() != x.shape[axis_of(axis, x.ndim)]:
        text = "dimensions of scale and zero-point are not consistent with input tensor"
        raise errors.runtime_error(text, advice)
    _check_ends(low, high)
    if zero_point.numel() and (zero_point.min() < low or zero_point.max() > high):
        raise _outside()
    if axis < 0:
        text = "`axis` must be between 0 and number of dimensions of input"
        raise errors.runtime_error(text, "It is counted from the front.")
    _check_kind(x, "fake_quantize_channel_cachemask_cpu_type_handling")
