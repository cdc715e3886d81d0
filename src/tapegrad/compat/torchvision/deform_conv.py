"""Deformable convolution: each place of the result looks where its offsets say."""

from typing import Any

import tapegrad
from tapegrad.core import errors
from tapegrad.tensors.tensor import Tensor


def deform_conv2d(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dil_h: int,
    dil_w: int,
    n_weight_grps: int,
    n_offset_grps: int,
    use_mask: bool,
) -> Tensor:
    """The convolution of images (N, C, H, W) with kernels (O, C / groups, h, w).

    Args:
        offset: (N, offset groups * h * w * 2, *size): by how many pixels, down and across, the
            pixel that an element of the kernel meets is moved.
        mask: (N, offset groups * h * w, *size): what it is multiplied with, if `use_mask`.
    """
    n, channels, height, width = input.shape
    kernel = tuple(weight.shape[2:])
    taps = kernel[0] * kernel[1]
    size = (
        (height + 2 * pad_h - dil_h * (kernel[0] - 1) - 1) // stride_h + 1,
        (width + 2 * pad_w - dil_w * (kernel[1] - 1) - 1) // stride_w + 1,
    )
    _check(input, weight, offset, n_weight_grps, n_offset_grps, size)
    moved = offset.reshape(n, n_offset_grps, taps, 2, *size)
    like: Any = {"dtype": input.dtype, "device": input.device}
    down = tapegrad.arange(kernel[0], **like) * dil_h - pad_h
    across = tapegrad.arange(kernel[1], **like) * dil_w - pad_w
    y = down.repeat_interleave(kernel[1])[:, None, None]
    y = y + (tapegrad.arange(size[0], **like) * stride_h)[:, None] + moved[:, :, :, 0]
    x = across.repeat(kernel[0])[:, None, None]
    x = x + tapegrad.arange(size[1], **like) * stride_w + moved[:, :, :, 1]
    images = input.reshape(n, n_offset_grps, channels // n_offset_grps, height * width)
    columns = _interpolated(images, y, x, height, width)  # (N, groups, C / groups, taps, *size)
    if use_mask:
        columns = columns * mask.reshape(n, n_offset_grps, 1, taps, *size)
    columns = columns.reshape(n, n_weight_grps, -1, size[0] * size[1])
    rows = weight.reshape(n_weight_grps, weight.size(0) // n_weight_grps, -1)
    return (rows @ columns).reshape(n, -1, *size) + bias.reshape(-1, 1, 1)


def _interpolated(images: Tensor, y: Tensor, x: Tensor, height: int, width: int) -> Tensor:
    """Images (N, G, C, H * W) at places (N, G, ...), linearly; outside there are zeros."""
    inside = (y > -1) & (y < height) & (x > -1) & (x < width)
    top, left = y.detach().floor(), x.detach().floor()
    found: Any = 0
    for i, share_y in ((top, 1 - (y - top)), (top + 1, y - top)):
        for j, share_x in ((left, 1 - (x - left)), (left + 1, x - left)):
            there = inside & (i >= 0) & (i < height) & (j >= 0) & (j < width)
            place = (i.clamp(0, height - 1) * width + j.clamp(0, width - 1)).long()
            flat = place.flatten(2)[:, :, None].expand(-1, -1, images.size(2), -1)
            values = images.gather(3, flat).unflatten(3, y.shape[2:])
            found = found + values * (share_y * share_x * there)[:, :, None]
    return found


def deform_conv2d_backward(
    grad: Tensor, input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor,
    *options: Any,
) -> tuple:  # fmt: skip
    """The gradients of the five tensors: those of the function above."""
    leaves = [x.detach().requires_grad_() for x in (input, weight, offset, mask, bias)]
    with tapegrad.enable_grad():
        result = deform_conv2d(*leaves, *options)
    return tapegrad.autograd.grad([result], leaves, [grad], materialize_grads=True)


def _check(
    input: Tensor, weight: Tensor, offset: Tensor, groups: int, offset_groups: int, size: tuple
) -> None:
    if input.size(1) != weight.size(1) * groups:
        raise errors.runtime_error(
            f"input.shape[1] ({input.size(1)}) must be weight.shape[1] * n_weight_grps "
            f"({weight.size(1)} * {groups})",
            "Each group of kernels has its share of the channels.",
        )
    taps = weight.size(2) * weight.size(3)
    if offset.size(1) != offset_groups * 2 * taps:
        raise errors.runtime_error(
            "offset.shape[1] is not valid: got: "
            f"{offset.size(1)} expected: {offset_groups * 2 * taps}",
            "Two numbers for each element of the kernel and group.",
        )
    if tuple(offset.shape[2:]) != size:
        raise errors.runtime_error(
            f"offset output dims: ({offset.size(2)}, {offset.size(3)}) - computed output dims: "
            f"({size[0]}, {size[1]})",
            "Offsets are of the size of the result.",
        )
