"""Padding in all modes."""

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.overridable import overridable
from tapegrad.core.result_order import as_computed, channels_as_first, row_major
from tapegrad.core.scalar import overflow
from tapegrad.core.shape import ints_of
from tapegrad.dispatch.autocast_state import IN_USE, widened
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.op import jvp, linear, primitive, vjp
from tapegrad.operators.dtype_check import no_kernel

__torch__ = "constant_pad_nd"


_KERNELS = ("pad_edges", "unpad_edges")


def _padding(mode: str, name: str, node: str) -> Any:
    """An operator that pads in one mode."""

    def pad(xp, x, *, padding):
        return xp.pad_edges(x, padding, mode)

    pad.__doc__ = f"`x` with a border, by mode {mode!r}: two widths an axis, the last axis first."
    order = row_major if mode == "circular" else channels_as_first
    op = linear(name=name, node=node, numbers=False, kernels=_KERNELS, order=order)(pad)
    op.vjp(x=lambda xp, g, padding: xp.unpad_edges(g, padding, mode))
    if mode == "circular":
        return op
    return one_node(node.replace("Backward", "BackwardBackward"))(op)


reflection_pad_1d = _padding("reflect", "reflection_pad_1d", "ReflectionPad1DBackward0")
reflection_pad_2d = _padding("reflect", "reflection_pad_2d", "ReflectionPad2DBackward0")
reflection_pad_3d = _padding("reflect", "reflection_pad_3d", "ReflectionPad3DBackward0")
replication_pad_1d = _padding("replicate", "replication_pad_1d", "ReplicationPad1DBackward0")
replication_pad_2d = _padding("replicate", "replication_pad_2d", "ReplicationPad2DBackward0")
replication_pad_3d = _padding("replicate", "replication_pad_3d", "ReplicationPad3DBackward0")
circular_pad = _padding("circular", "circular_pad", "CircularPadBackward0")

_OPERATORS = {
    "reflect": (reflection_pad_1d, reflection_pad_2d, reflection_pad_3d),
    "replicate": (replication_pad_1d, replication_pad_2d, replication_pad_3d),
    "circular": (circular_pad,) * 3,
}


@vjp(g=lambda xp, g, padding, mode: xp.pad_edges(g, padding, mode))
@linear(numbers=False, kernels=_KERNELS)
def edge_unpad(xp, g, *, padding, mode):
    """The gradient of a padding: numbers of the border added to those they were taken from."""
    return xp.unpad_edges(g, padding, mode)


@tensor_kernel
def pad_edges(x: Tensor, padding: tuple[int, ...], mode: str) -> Any:
    """A padding in the Tensor namespace."""
    return _OPERATORS[mode][len(padding) // 2 - 1](x, padding=padding)


@tensor_kernel
def unpad_edges(g: Array, padding: tuple[int, ...], mode: str) -> Any:
    """The gradient of a padding in the Tensor namespace."""
    return edge_unpad(g, padding=padding, mode=mode)


def edge_pad(input: Tensor, padding: tuple[int, ...], mode: str) -> Any:
    """The tensor with a border by mode "reflect", "replicate" or "circular"."""
    n, ndim = len(padding) // 2, input._array.ndim
    if n > 3 or ndim not in (n + 1, n + 2):
        raise errors.not_implemented(
            f"Padding size {2 * n} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)",
            "Dimensions before those that are padded are (batch, channels) or (channels).",
        )
    if mode == "circular":
        _check_around(input, padding)
    else:
        _check_edges(input, padding, n, mode)
        if IN_USE and (mode, n) != ("reflect", 3):  # as PyTorch's table has it
            (input,) = widened(input)
    return pad_edges(input, padding, mode)


def _sizes(input: Tensor, padding: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """(axis, its size, width before, width after), the last axis first."""
    shape = input._array.shape
    return [
        (len(shape) - 1 - i, shape[-1 - i], padding[2 * i], padding[2 * i + 1])
        for i in range(len(padding) // 2)
    ]


def _check_edges(input: Tensor, padding: tuple[int, ...], n: int, mode: str) -> None:
    shape = input._array.shape
    if input.dtype.name == "bool":
        name = "reflection" if mode == "reflect" else "replication"
        raise no_kernel(f"{name}_pad{n}d", input.dtype)
    start = len(shape) - n - 1
    if 0 in shape[start:]:
        raise errors.runtime_error(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and "
            f"other non-zero dimensions for input, but got: {list(shape)}",
            "There is nothing to take the border from.",
        )
    for i, (axis, size, before, after) in enumerate(_sizes(input, padding)):
        if mode == "reflect" and max(before, after) >= size:
            raise errors.runtime_error(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding "
                f"input dimension, but got: padding ({before}, {after}) at dimension {axis} of "
                f"input {list(shape)}",
                "A mirror image has one element less than what is mirrored.",
            )
        left = size + before + after
        if left < 0 or size + min(before, 0) + min(after, 0) < 0 or (left == 0 and n == 1):
            text = f"input (W: {size}) is too small. Calculated output W: {left}"
            advice = f"Dimension {axis} has {size} elements: no more can be cut off."
            raise errors.runtime_error(text, advice)


def _check_around(input: Tensor, padding: tuple[int, ...]) -> None:
    for axis, size, before, after in _sizes(input, padding):
        left = size + min(before, 0) + min(after, 0)
        if max(before, after) > size:
            text = "Padding value causes wrapping around more than once."
            raise errors.runtime_error(text, f"Dimension {axis} has {size} elements.")
        if size + before + after < 0 or left < 0:
            text = "Negative padding value is resulting in an empty dimension"
            raise errors.runtime_error(text, f"Dimension {axis} has {size} elements.")
        if max(before, after) > left:
            raise errors.runtime_error(
                "unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location. Please clone() the tensor before "
                "performing the operation.",
                f"{left} elements of dimension {axis} are left: no more can go around.",
            )


@jvp(x=lambda xp, t, pad: xp.pad_constant(t, pad, 0))
@vjp(x=lambda xp, g, pad: xp.pad_constant(g, tuple([-n for n in pad]), 0))
@primitive(
    node="ConstantPadNdBackward0", numbers=False, kernels=("pad_constant",), order=as_computed
)
def constant_pad(xp, x, *, pad, value):
    """`x` with a border of `value`: two widths for each axis, the last axis first."""
    return xp.pad_constant(x, pad, value)


@tensor_kernel
def pad_constant(x: Tensor, pad: tuple[int, ...], value: Scalar) -> Any:
    """`constant_pad` in the Tensor namespace."""
    return constant_pad(x, pad=pad, value=value)


def _widths(name: str, input: Tensor, pad: Any) -> tuple[int, ...]:
    errors.need_tensor(name, "input", 1, input)
    if not isinstance(pad, (tuple, list)):
        raise errors.must_be(name, "pad", 2, "tuple of ints", pad)
    return ints_of(name, "pad", (pad,), 2)


@require_tensors
def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Any:
    """The tensor with a border of `value`; `pad` has two widths an axis, the last axis first.

    Negative widths cut off.

    Shape: any; each axis grows by its two widths.
    Raises: RuntimeError for widths that do not fit.

    >>> torch.constant_pad_nd(torch.ones(1, 2), (1, 0, 0, 1))
    tensor([[0., 1., 1.],
            [0., 0., 0.]])
    """
    widths = _widths("constant_pad_nd", input, pad)
    shape = input._array.shape
    if len(widths) % 2:
        text = f"Length of pad must be even but instead it equals {len(widths)}"
        advice = "Give the widths before and after, for each axis from the last on."
        raise errors.runtime_error(text, advice)
    if len(widths) > 2 * len(shape):
        raise errors.runtime_error(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(widths)} while the input has {len(shape)} dimensions.",
            "Each axis has two widths.",
        )
    for i in range(0, len(widths), 2):
        n = shape[-1 - i // 2]
        if n + min(widths[i], 0) + min(widths[i + 1], 0) < 0:
            raise errors.runtime_error(
                "narrow(): length must be non-negative.",
                f"Dimension {len(shape) - 1 - i // 2} has {n} elements: no more can be cut off.",
            )
    return constant_pad(input, pad=widths, value=_number(input, value))


def _number(input: Tensor, value: Any) -> Any:
    """The border's number in the dtype of the tensor."""
    if hasattr(value, "_array"):
        value = value.item()
    dtype = input.dtype
    if isinstance(value, complex) and not dtype.is_complex:
        raise overflow(dtype)
    if dtype.name == "bool":
        return bool(value)
    if dtype.category != 1:
        return value
    value = int(value)
    bits = 8 * dtype.itemsize
    low = -(1 << (bits - 1)) if dtype.is_signed else 0
    if not low <= value < low + (1 << bits):
        raise overflow(dtype)
    return value


@overridable
def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """The tensor with a border along its last axes.

    `pad` has two widths for each axis, before and after, the last axis first; negative ones cut
    off. The border is `value` (mode "constant"), what lies inside mirrored at the edge ("reflect"),
    the edge repeated ("replicate"), or the other end ("circular").

    Shape: any; each axis grows by its two widths.
    Raises: RuntimeError for widths that do not fit; NotImplementedError for another mode.

    >>> pad, x = torch.nn.functional.pad, torch.tensor([[1.0, 2.0, 3.0]])
    >>> pad(x, (1, 2))
    tensor([[0., 1., 2., 3., 0., 0.]])
    >>> pad(x, (1, 2), mode="reflect")
    tensor([[2., 1., 2., 3., 2., 1.]])
    """
    widths = _widths("pad", input, pad)
    ndim = input._array.ndim
    if mode not in ("constant", "reflect", "replicate", "circular"):
        advice = 'Modes are "constant", "reflect", "replicate" and "circular".'
        raise errors.not_implemented(f"Unrecognised padding mode {mode}", advice)
    if len(widths) % 2:
        advice = "Give the widths before and after, for each axis from the last on."
        raise errors.runtime_error("Padding length must be divisible by 2", advice)
    if len(widths) > 2 * ndim:
        raise errors.runtime_error(
            "Padding length should be less than or equal to two times the input dimension but "
            f"got padding length {len(widths)} and input of dimension {ndim}",
            "Each axis has two widths.",
        )
    if mode == "constant":
        if isinstance(value, complex):
            raise errors.must_be("pad", "value", 4, "float", value)
        return constant_pad_nd(input, widths, 0 if value is None else value)
    if value is not None and value != 0:
        text = f'Padding mode "{mode}" doesn\'t take in value argument'
        raise errors.runtime_error(text, 'Only mode "constant" has a value.')
    return edge_pad(input, widths, mode)
