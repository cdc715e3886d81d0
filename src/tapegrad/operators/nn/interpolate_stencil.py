"""Stencils of interpolation: for each pixel of a result, the pixels it is made of, and weights.

With s = (size before) / (size after), pixel i of the result lies at (i + 1/2) s - 1/2, or at
i (before - 1) / (after - 1) with aligned corners. Positions are computed in the precision of the
image, as they decide between neighbours.

Source: Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981, eq. 4 (cubic,
with a = -3/4, antialiased -1/2); Duchon, "Lanczos Filtering in One and Two Dimensions", 1979.
"""

from functools import lru_cache

import numpy as np

from tapegrad.arrays.numpy.interpolate import Lane, Taps, fewest_lanes
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.result_order import channels_as_first
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.op import linear


def mapping(
    name: str, node: str, order: Any = channels_as_first, *, connected: bool = False
) -> Any:
    """The operator of one kind of map `through` a Separable; its transpose is its reverse rule.

    `connected`: a double backward has an edge to the input.
    """

    @linear(name=name, node=node, kernels=("resample",), order=order)
    def mapped(xp, x, *, through):
        """The last axes of x through a separable linear map: for each of them sums over taps."""
        return xp.resample(x, through)

    mapped.vjp(x=lambda xp, g, through: xp.resample(g, through.reverse))
    behind = "x" if connected else ""
    return one_node(node.replace("Backward", "BackwardBackward"), behind)(mapped)


resample = mapping("resample", "ResampleBackward0")


F32: Any = np.float32
F64: Any = np.float64


def _step(n_in: int, n_out: int, scale: float | None, align: bool, kind: Any) -> Any:
    """The distance between two pixels of the result."""
    if align:
        return kind(n_in - 1) / kind(n_out - 1) if n_out > 1 else kind(0)
    return kind(1.0 / scale) if scale else kind(n_in) / kind(n_out)


@lru_cache(maxsize=256)
def nearest(n_in: int, n_out: int, scale: float | None, exact: bool, plane: bool) -> Taps:
    """Each pixel a copy of one: the one below its left edge, or below its middle if `exact`.

    In a plane whole factors are taken from the sizes, whatever factor is given, as in PyTorch.
    """
    if plane and not exact and n_out in (n_in, 2 * n_in):
        scale = None
    step = _step(n_in, n_out, scale, False, F32)
    place = np.arange(n_out, dtype=F32)
    source = np.floor((place + F32(0.5)) * step if exact else place * step).astype(np.intp)
    return Taps(n_in, n_out, [Lane(0, np.arange(n_out), np.minimum(source, n_in - 1), None)])


@lru_cache(maxsize=256)
def straight(n_in: int, n_out: int, scale: float | None, align: bool, double: bool) -> Taps:
    """Each pixel between two neighbours, on a straight line; the edge goes on beyond itself."""
    kind = F64 if double else F32
    if n_in == n_out:
        return _direct(n_in)
    place = np.arange(n_out, dtype=kind)
    step = _step(n_in, n_out, scale, align, kind)
    if align:
        place = place * step
    else:
        place = np.maximum((place + kind(0.5)) * step - kind(0.5), kind(0))
    left = np.minimum(place.astype(np.intp), n_in - 1)
    share = np.clip(place - left.astype(kind), kind(0), kind(1))
    right = np.minimum(left + 1, n_in - 1)
    return _stencil(n_in, [left, right], [1 - share, share])


def _direct(n: int) -> Taps:
    """Each pixel itself."""
    return Taps(n, n, [Lane(0, np.arange(n), np.arange(n), None)])


def _stencil(n_in: int, sources: list, weights: list) -> Taps:
    """Taps of the k-th source and weight of each pixel, for all k."""
    to = np.arange(len(sources[0]))
    pairs = zip(sources, weights, strict=True)
    return Taps(n_in, len(to), [Lane(k, to, *each) for k, each in enumerate(pairs)])


def cubic_weights(x: Tensor, a: float) -> tuple:
    """Keys' weights of the four neighbours for a position x between the middle two."""

    def near(d: Any) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Any) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return far(x + 1), near(x), near(1 - x), far(2 - x)


@lru_cache(maxsize=256)
def cubic(n_in: int, n_out: int, scale: float | None, align: bool, double: bool) -> Taps:
    """Each pixel among four neighbours, on a cubic curve; the edge goes on beyond itself."""
    kind = F64 if double else F32
    step = _step(n_in, n_out, scale, align, kind)
    place = np.arange(n_out, dtype=kind)
    place = place * step if align else (place + kind(0.5)) * step - kind(0.5)
    floor = np.floor(place)
    sources = [np.clip(floor.astype(np.intp) + k, 0, n_in - 1) for k in (-1, 0, 1, 2)]
    return _stencil(n_in, sources, list(cubic_weights(place - floor, -0.75)))


# --- with a filter that widens as an image shrinks -------------------------------------------


def _triangle(x: Tensor) -> Any:
    return np.maximum(1 - np.abs(x), 0)


def _keys(x: Any) -> Any:
    a = -0.5
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _windowed_sinc(x: Tensor) -> Any:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


FILTERS = {"bilinear": (_triangle, 1), "bicubic": (_keys, 2), "lanczos": (_windowed_sinc, 3)}


@lru_cache(maxsize=256)
def smoothed(
    n_in: int, n_out: int, scale: float | None, align: bool, double: bool, mode: str
) -> Taps:
    """Each pixel a mean of all that the filter of `mode`, as wide as the pixel, reaches."""
    if n_in == n_out:
        return _direct(n_in)
    kind = F64 if double else F32
    function, radius = FILTERS[mode]
    step = _step(n_in, n_out, scale, align, kind)
    support = radius * step if step >= 1 else kind(radius)
    inverse = kind(1) / step if step >= 1 else kind(1)
    middle = step * (np.arange(n_out, dtype=kind) + kind(0.5))
    first = np.maximum((middle - support + kind(0.5)).astype(np.intp), 0)
    end = np.minimum((middle + support + kind(0.5)).astype(np.intp), n_in)
    to, lane = np.meshgrid(np.arange(n_out), np.arange(int((end - first).max())), indexing="ij")
    source = first[:, None] + lane
    weight = function((source.astype(kind) - middle[:, None] + kind(0.5)) * inverse)
    inside = source < end[:, None]
    weight = np.where(inside, weight, 0)
    weight = weight / weight.sum(1, keepdims=True)
    weights = weight[inside].astype(kind)
    return Taps(n_in, n_out, fewest_lanes(to[inside], source[inside], weights))
