"""Where a grid's points lie in an image: for each axis the pixels around them, and weights.

Coordinates run from -1 to 1 over an image: over the middles of its outer pixels with
`align_corners`, else over their outer edges.
"""

from __future__ import annotations

from typing import Any

from tapegrad.core.annotations import Array, Namespace, TensorLike
from tapegrad.operators.nn.interpolate_stencil import cubic_weights

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
A = -0.75  # of Keys' cubic curve


def stencil(
    xp: Namespace, t: Array, size: int, mode: int, padding: int, align: bool, plane: bool
) -> list[tuple]:
    """For coordinates t along an axis of `size`: (pixel or -1, weight, its derivative in t).

    For nan the border is the first pixel in a plane and the last one in space, as in PyTorch.
    """
    place, slope = _place(t, size, align)
    if mode == BICUBIC:
        return _cubic(xp, place, slope, size, padding, align)
    place, slope = _padded(xp, place, slope, size, padding, align, plane)
    if mode == NEAREST:
        near = xp.round(place)
        one = xp.ones_like(place)
        return [(_pixel(xp, near, size), one, 0 * one)]
    left = xp.floor(place)
    share = place - left
    if not plane and padding == ZEROS:  # nan and infinity are outside
        share = xp.where(xp.abs(place) <= size, share, xp.zeros_like(share))
    return [(_pixel(xp, left, size), 1 - share, -slope), (_pixel(xp, left + 1, size), share, slope)]


def _place(t: Array, size: int, align: bool) -> tuple:
    """Coordinates in pixels, and their derivative, an array."""
    slope = (size - 1) / 2 if align else size / 2
    return (t + 1) * slope if align else ((t + 1) * size - 1) / 2, t * 0 + slope


def _pixel(xp: Namespace, place: Any, size: int) -> Any:
    """Whole places as indices; -1 outside of the image, and for nan."""
    inside = (place >= 0) & (place <= size - 1)
    return xp.astype(xp.where(inside, place, xp.full_like(place, -1.0)), xp.int64)


def _padded(
    xp: Namespace, place: Any, slope: Any, size: int, padding: int, align: bool, plane: bool
) -> tuple:
    """Places brought into the image where the padding says so."""
    if padding == ZEROS:
        return place, slope
    if padding == REFLECTION:
        place, slope = _reflected(xp, place, slope, size, align)
    last = size - 1.0
    inside = (place > 0) & (place < last)
    zero = xp.zeros_like(place)
    beyond = place >= last if plane else ~(place <= 0)
    edge = xp.where(beyond, zero + last, zero)
    return xp.where(inside, place, edge), xp.where(inside, slope, zero)


def _reflected(xp: Namespace, place: Any, slope: Any, size: int, align: bool) -> tuple:
    """Places mirrored at the middles of the outer pixels, or at their outer edges."""
    low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
    if span == 0:
        return place * 0, slope * 0
    distance = place - low
    sign = xp.where(distance < 0, -slope, slope)
    distance = xp.abs(distance)
    flips = xp.floor(distance / span)
    rest = distance - flips * span
    odd = flips - 2 * xp.floor(flips / 2) > 0.5
    return xp.where(odd, span - rest + low, rest + low), xp.where(odd, -sign, sign)


def _cubic(
    xp: Namespace, place: Any, slope: Any, size: int, padding: int, align: bool
) -> list[tuple]:
    floor = xp.floor(place)
    share = place - floor
    weights = cubic_weights(share, A)
    slopes = _cubic_slopes(share)
    found = []
    for k, (weight, change) in enumerate(zip(weights, slopes, strict=True)):
        pixel, _ = _padded(xp, floor + (k - 1), slope, size, padding, align, True)
        found.append((_pixel(xp, pixel, size), weight, change * slope))
    return found


def _cubic_slopes(x: TensorLike) -> tuple:
    """The derivatives of `cubic_weights`."""

    def near(d: Any) -> Any:
        return (3 * (A + 2) * d - 2 * (A + 3)) * d

    def far(d: Any) -> Any:
        return (3 * A * d - 10 * A) * d + 8 * A

    return far(x + 1), near(x), -near(1 - x), -far(2 - x)
