"""Shuffles of channels and pixels: the same elements in another order.

Source: Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
Convolutional Neural Network", 2016, section 2.2 (pixels); Zhang et al., "ShuffleNet", 2018, section
3.1 (channels).
"""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import channels_as_first
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.nn.pool_size import array_of
from tapegrad.operators.shape.reshape_flatten_atleast import copied

__torch__ = "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle"


def _rearranged(xp: Namespace, x: Array, split: Any, axes: Any, shape: Any) -> Any:
    """x with its last axes split, permuted and joined again: always a copy."""
    lead = len(x.shape) - 3
    order = (*range(lead), *(lead + a for a in axes))
    x = xp.permute_dims(xp.reshape(x, (*x.shape[:lead], *split)), order)
    return xp.reshape(copied(xp, x, "C"), (*x.shape[:lead], *shape))


def _pixels(xp: Namespace, x: Array, r: int) -> Any:
    c, h, w = x.shape[-3:]
    c //= r * r
    return _rearranged(xp, x, (c, r, r, h, w), (0, 3, 1, 4, 2), (c, h * r, w * r))


def _channels(xp: Namespace, x: Array, r: int) -> Any:
    c, h, w = x.shape[-3:]
    h, w = h // r, w // r
    return _rearranged(xp, x, (c, h, r, w, r), (0, 2, 4, 1, 3), (c * r * r, h, w))


@vjp(x=lambda xp, g, factor: _channels(xp, g, factor))
@linear(name="pixel_shuffle", node="PixelShuffleBackward0", order=channels_as_first)
def shuffle_pixels(xp, x, *, factor):
    """(*, C r r, H, W) as (*, C, H r, W r): channels become pixels of r x r squares."""
    return _pixels(xp, x, factor)


@vjp(x=lambda xp, g, factor: _pixels(xp, g, factor))
@linear(name="pixel_unshuffle", node="PixelUnshuffleBackward0", order=channels_as_first)
def unshuffle_pixels(xp, x, *, factor):
    """(*, C, H r, W r) as (*, C r r, H, W): pixels of r x r squares become channels."""
    return _channels(xp, x, factor)


def _turned(xp: Namespace, x: Array, rows: int, columns: int) -> Any:
    """Axis 1, seen as a table of rows and columns, read column by column."""
    n, _, *rest = x.shape
    table = xp.reshape(x, (n, rows, columns, *rest))
    order = (0, 2, 1, *range(3, len(rest) + 3))
    return xp.reshape(copied(xp, xp.permute_dims(table, order), "C"), x.shape)


@vjp(x=lambda xp, g, groups: _turned(xp, g, g.shape[1] // groups, groups))
@linear(name="channel_shuffle", node="ChannelShuffleBackward0", order=channels_as_first)
def shuffle_channels(xp, x, *, groups):
    """(N, groups * C, *) with the channels of all groups in turn."""
    return _turned(xp, x, groups, x.shape[1] // groups)


def _check_factor(name: str, argument: str, input: Tensor, factor: Any) -> tuple[int, ...]:
    shape = array_of(name, input).shape
    if not isinstance(factor, int):
        raise errors.must_be(name, argument, 2, "int", factor)
    if len(shape) < 3:
        raise errors.runtime_error(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{len(shape)} dimension(s)",
            "Inputs are (*, C, H, W).",
        )
    if factor <= 0:
        text = f"{name} expects a positive {argument}, but got {factor}"
        raise errors.runtime_error(text, "Pass a whole number above 0.")
    return shape


@require_tensors
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Any:
    """(*, C r r, H, W) as (*, C, H r, W r), with r = `upscale_factor`.

    `y[c, h r + i, w r + j] = x[c r r + i r + j, h, w]`

    Shape: (..., C r r, H, W) to (..., C, H r, W r).
    Raises: RuntimeError where the square of `upscale_factor` does not divide the channels.

    >>> torch.pixel_shuffle(torch.arange(4).reshape(4, 1, 1), 2)
    tensor([[[0, 1],
             [2, 3]]])
    """
    shape = _check_factor("pixel_shuffle", "upscale_factor", input, upscale_factor)
    square = upscale_factor * upscale_factor
    if shape[-3] % square:
        raise errors.runtime_error(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
            f"square of upscale_factor, but input.size(-3)={shape[-3]} is not divisible by "
            f"{square}",
            "Each square of pixels takes that many channels.",
        )
    return shuffle_pixels(input, factor=upscale_factor)


@require_tensors
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Any:
    """(*, C, H r, W r) as (*, C r r, H, W), with r = `downscale_factor`: undoes `pixel_shuffle`.

    Shape: (..., C, H r, W r) to (..., C r r, H, W).
    Raises: RuntimeError where `downscale_factor` does not divide height and width.

    >>> torch.pixel_unshuffle(torch.arange(4).reshape(1, 2, 2), 2).flatten()
    tensor([0, 1, 2, 3])
    """
    shape = _check_factor("pixel_unshuffle", "downscale_factor", input, downscale_factor)
    for word, axis in (("height", -2), ("width", -1)):
        if shape[axis] % downscale_factor:
            raise errors.runtime_error(
                f"pixel_unshuffle expects {word} to be divisible by downscale_factor, but "
                f"input.size({axis})={shape[axis]} is not divisible by {downscale_factor}",
                "Images are cut into squares of that many pixels.",
            )
    return unshuffle_pixels(input, factor=downscale_factor)


@require_tensors
def channel_shuffle(input: Tensor, groups: int) -> Any:
    """(N, groups * C, *) with the channels of all groups in turn: the first of each, the second.

    Shape: (N, C, ...), and so the result.
    Raises: RuntimeError where `groups` does not divide the channels, or below three dimensions.

    >>> torch.channel_shuffle(torch.arange(6).reshape(1, 6, 1, 1), 2).flatten()
    tensor([0, 3, 1, 4, 2, 5])
    """
    shape = array_of("channel_shuffle", input).shape
    if not isinstance(groups, int):
        raise errors.must_be("channel_shuffle", "groups", 2, "int", groups)
    if len(shape) < 3:
        raise errors.runtime_error(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}",
            "Inputs are (N, C, *).",
        )
    if groups <= 0:
        text = f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        raise errors.runtime_error(text, "Pass a whole number above 0.")
    if shape[1] % groups:
        raise errors.runtime_error(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and "
            f"{groups} groups.",
            "Each group has the same number of channels.",
        )
    return shuffle_channels(input, groups=groups)


@require_tensors
def native_channel_shuffle(input: Tensor, groups: int) -> Any:
    """The same as `channel_shuffle`.

    Shape: (N, C, ...), and so the result.

    >>> torch.native_channel_shuffle(torch.arange(4).reshape(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
    """
    return channel_shuffle(input, groups)
