"""Sampling images at the points of a grid: what is accepted and refused."""

from itertools import product
from math import prod

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Namespace, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import of
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import existing_axis
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import require_floating
from tapegrad.operators.nn.interpolate_stencil import cubic_weights
from tapegrad.operators.nn.pool_size import array_of

__torch__ = "grid_sampler grid_sampler_2d grid_sampler_3d"


BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
A = -0.75  # of Keys' cubic curve


def stencil(
    xp: Namespace, t: Array, size: int, mode: int, padding: int, align: bool, plane: bool
) -> list[tuple]:
    """For coordinates t along an axis of `size`: (pixel or -1, weight, its derivative in t).

    For nan the border is the first pixel in a plane and the last one in space, as in PyTorch.
    """
    place, slope = _place(xp, t, size, align)
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


def _place(xp: Namespace, t: Array, size: int, align: bool) -> tuple:
    """Coordinates in pixels, and their derivative, an array."""
    slope = (size - 1) / 2 if align else size / 2
    place = (t + 1) * slope if align else ((t + 1) * size - 1) / 2
    return place, xp.full_like(t, slope)  # of nan and infinity, too


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
    found = []
    curves = zip(cubic_weights(share, A), _cubic_slopes(share), strict=True)
    for k, (weight, change) in enumerate(curves):
        pixel, _ = _padded(xp, floor + (k - 1), slope, size, padding, align, True)
        found.append((_pixel(xp, pixel, size), weight, change * slope))
    return found


def _cubic_slopes(x: Tensor) -> tuple:
    """The derivatives of `cubic_weights`."""

    def near(d: Any) -> Any:
        return (3 * (A + 2) * d - 2 * (A + 3)) * d

    def far(d: Any) -> Any:
        return (3 * A * d - 10 * A) * d + 8 * A

    return far(x + 1), near(x), -near(1 - x), -far(2 - x)


_KERNELS = ("blend_points", "match_points", "spread_points")


# --- the form that is linear in images, points and weights: see the kernels --------------------


@jvp(
    x=lambda xp, t, weight, index: xp.blend_points(t, index, weight),
    weight=lambda xp, t, x, index: xp.blend_points(x, index, t),
)
@vjp(
    x=lambda xp, g, x_like, weight, index: xp.spread_points(g, index, weight, x_like.shape[2:]),
    weight=lambda xp, g, x, index: xp.match_points(g, x, index),
)
@primitive(hidden=("index",), kernels=_KERNELS)
def blend_points(xp, x, weight, index):
    """Points (N, C, P): sums of pixels `index` (N, K, P) of x (N, C, *space) times weights."""
    return xp.blend_points(x, index, weight)


@jvp(
    y=lambda xp, t, weight, index, space: xp.spread_points(t, index, weight, space),
    weight=lambda xp, t, y, index, space: xp.spread_points(y, index, t, space),
)
@vjp(
    y=lambda xp, g, weight, index: xp.blend_points(g, index, weight),
    weight=lambda xp, g, y, index: xp.match_points(y, g, index),
)
@primitive(hidden=("index",), kernels=_KERNELS)
def spread_points(xp, y, weight, index, *, space):
    """Images (N, C, *space): points (N, C, P) times weights (N, K, P), added up at `index`."""
    return xp.spread_points(y, index, weight, space)


@jvp(
    y=lambda xp, t, x, index: xp.match_points(t, x, index),
    x=lambda xp, t, y, index: xp.match_points(y, t, index),
)
@vjp(
    y=lambda xp, g, x, index: xp.blend_points(x, index, g),
    x=lambda xp, g, y, x_like, index: xp.spread_points(y, index, g, x_like.shape[2:]),
)
@primitive(hidden=("index",), kernels=_KERNELS)
def match_points(xp, y, x, index):
    """Weights (N, K, P): points (N, C, P) times pixels `index` of x, summed over channels."""
    return xp.match_points(y, x, index)


# --- sampling ----------------------------------------------------------------------------------


def _axes(xp: Namespace, grid: Array, space: tuple, mode: int, padding: int, align: bool) -> list:
    """The pixels around the points along each axis: (index, weight, slope), each (N, P)."""
    n = len(space)
    flat = xp.reshape(grid, (grid.shape[0], prod(grid.shape[1:-1]), n))
    return [  # the grid's first coordinate is that of the last axis
        stencil(xp, flat[:, :, n - 1 - a], space[a], mode, padding, align, n == 2) for a in range(n)
    ]


def _index(xp: Namespace, axes: list, space: tuple) -> Any:
    """The pixels around the points, (N, K, P), for K combinations of those along each axis."""
    found = []
    for corner in product(*axes):
        index, inside = 0, None
        for size, (pixel, _, _) in zip(space, corner, strict=True):
            index = index * size + pixel
            inside = pixel >= 0 if inside is None else inside & (pixel >= 0)
        found.append(xp.where(inside, index, xp.full_like(index, -1)))
    return xp.stack(found, axis=1)


def _weights(xp: Namespace, axes: list, slope_of: int | None = None) -> Any:
    """The weights of those pixels, (N, K, P), or their derivatives in the place along one axis."""
    found = []
    for corner in product(*axes):
        total = None
        for a, (_, weight, slope) in enumerate(corner):
            factor = slope if a == slope_of else weight
            total = factor if total is None else total * factor
        found.append(total)
    return xp.stack(found, axis=1)


_POINTS = 1 << 14  # of so many at a time what is in between stays in the cache


def _in_parts(xp: Namespace, function: Callable, *arrays: Array) -> Any:
    """`function` of arrays, the last one a grid, for some of the images at a time."""
    n, *points, _ = arrays[-1].shape
    step = max(1, _POINTS // max(prod(points), 1))
    if step >= n:
        return function(*arrays)
    parts = [function(*[x[i : i + step, ...] for x in arrays]) for i in range(0, n, step)]
    return xp.concat(parts, axis=0)


def _sample(xp, x, grid, *, mode, padding, align):
    def blend(x, grid):
        axes = _axes(xp, grid, x.shape[2:], mode, padding, align)
        y = xp.blend_points(x, _index(xp, axes, x.shape[2:]), _weights(xp, axes))
        return xp.reshape(y, (*x.shape[:2], *grid.shape[1:-1]))

    return _in_parts(xp, blend, x, grid)


def _flat(xp, y):
    return xp.reshape(y, (*y.shape[:2], prod(y.shape[2:])))


def _image_rule(xp, g, x_like, grid, mode, padding, align):
    space = x_like.shape[2:]

    def spread(g, grid):
        axes = _axes(xp, grid, space, mode, padding, align)
        return xp.spread_points(_flat(xp, g), _index(xp, axes, space), _weights(xp, axes), space)

    return _in_parts(xp, spread, g, grid)


def _grid_rule(xp, g, x, grid, mode, padding, align):
    if mode == NEAREST:  # steps: no slope, next to nan and infinity either
        return xp.zeros_like(grid)
    space = x.shape[2:]

    def match(g, x, grid):
        axes = _axes(xp, grid, space, mode, padding, align)
        pulled = xp.match_points(_flat(xp, g), x, _index(xp, axes, space))
        found = [xp.sum(pulled * _weights(xp, axes, a), axis=1) for a in range(len(space))]
        return xp.reshape(xp.stack(found[::-1], axis=-1), grid.shape)

    return _in_parts(xp, match, g, x, grid)


def _grid_tangent(xp, t, x, grid, y, mode, padding, align):
    if mode == NEAREST:
        return xp.zeros_like(y)
    space = x.shape[2:]
    n = len(space)
    axes = _axes(xp, grid, space, mode, padding, align)
    t = xp.reshape(t, (t.shape[0], 1, prod(t.shape[1:-1]), n))
    change = sum(_weights(xp, axes, a) * t[:, :, :, n - 1 - a] for a in range(n))
    return xp.reshape(xp.blend_points(x, _index(xp, axes, space), change), y.shape)


def _sampler(name: str, node: str) -> Any:
    @primitive(name=name, node=node, kernels=_KERNELS)
    def sample(xp, x, grid, *, mode, padding, align):
        """Images x (N, C, *space) at the points of grid (N, *, axes): sums over pixels around."""
        return _sample(xp, x, grid, mode=mode, padding=padding, align=align)

    sample.vjp(x=_image_rule, grid=_grid_rule)
    sample.jvp(
        x=lambda xp, t, grid, mode, padding, align: _sample(
            xp, t, grid, mode=mode, padding=padding, align=align
        ),
        grid=_grid_tangent,
    )
    return sample


sample_plane = _sampler("grid_sampler_2d", "GridSampler2DBackward0")
sample_volume = _sampler("grid_sampler_3d", "GridSampler3DBackward0")


@autocast(name="grid_sampler")
def _sampled(n: int | None, input: Tensor, grid: Any, mode: int, padding: int, align: bool) -> Any:
    shape, points = array_of("grid_sampler", input).shape, grid._array.shape
    for sizes in (shape, points):
        existing_axis(0, len(sizes), "Inputs and grids are batches.")
    if shape[0] != points[0]:
        raise errors.runtime_error(
            "grid_sampler(): expected grid and input to have same batch size, but got input "
            f"with sizes {list(shape)} and grid with sizes {list(points)}",
            "There is a grid for each image.",
        )
    if points[-1] != len(shape) - 2:
        raise errors.runtime_error(
            f"grid_sampler(): expected grid to have size {len(shape) - 2} in last dimension, "
            f"but got grid with sizes {list(points)}",
            "A point has a coordinate for each dimension of the image, the last one first.",
        )
    for i in range(2, len(shape)):
        if shape[i] == 0:
            raise errors.runtime_error(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but "
                f"input has sizes {list(shape)} with dimension {i} being empty",
                "There is nothing to sample.",
            )
    wanted = (len(shape) if len(shape) == 4 else 5) if n is None else n + 2
    if len(shape) != wanted or len(points) != len(shape):
        raise errors.runtime_error(
            f"grid_sampler(): expected {wanted}D input and grid with same number of "
            f"dimensions, but got input with sizes {list(shape)} and grid with sizes "
            f"{list(points)}",
            "Inputs are (N, C, H, W) or (N, C, D, H, W), grids (N, h, w, 2) or (N, d, h, w, 3).",
        )
    if len(shape) == 5 and mode == BICUBIC:
        text = "grid_sampler(): bicubic interpolation only supports 4D input"
        raise errors.runtime_error(text, "Use bilinear interpolation.")
    dtype, other = of(input._array.dtype), of(grid._array.dtype)
    kernel = "grid_sampler_2d_cpu_kernel_impl" if len(shape) == 4 else "grid_sampler3d_cpu"
    require_floating(kernel, input)
    if dtype is not other:
        raise errors.wrong_dtype(dtype, other, f"Convert the grid: grid.to({dtype}).")
    operator = sample_plane if len(shape) == 4 else sample_volume
    return operator(input, grid, mode=mode, padding=padding, align=bool(align))


@require_tensors
def grid_sampler(
    input: Tensor, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`nn.functional.grid_sample` with numbers for the modes, in the order they are listed there.

    Shapes: (N, C, H, W) and (N, h, w, 2) to (N, C, h, w); so in 3-D.

    >>> x, grid = torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)
    >>> torch.grid_sampler(x, grid, 0, 0, False)
    tensor([[[[1.]]]])
    """
    return _sampled(None, input, grid, interpolation_mode, padding_mode, align_corners)


@require_tensors
def grid_sampler_2d(
    input: Tensor, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`grid_sampler` of images (N, C, H, W).

    Shapes: grid (N, h, w, 2); result (N, C, h, w).

    >>> image = torch.arange(4.0).reshape(1, 1, 2, 2)
    >>> torch.grid_sampler_2d(image, torch.zeros(1, 1, 1, 2), 0, 0, False)
    tensor([[[[1.5000]]]])
    """
    return _sampled(2, input, grid, interpolation_mode, padding_mode, align_corners)


@require_tensors
def grid_sampler_3d(
    input: Tensor, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`grid_sampler` of images (N, C, D, H, W).

    Shapes: grid (N, d, h, w, 3); result (N, C, d, h, w).

    >>> image = torch.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> torch.grid_sampler_3d(image, torch.zeros(1, 1, 1, 1, 3), 0, 0, False).item()
    3.5
    """
    return _sampled(3, input, grid, interpolation_mode, padding_mode, align_corners)


_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def warn_of_corners() -> None:
    """What `align_corners` is when it is not given changed once."""
    errors.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.",
        3,
    )


@overridable
def grid_sample(
    input: Tensor,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """Images (N, C, H, W) read at the points of grids (N, h, w, 2), as (N, C, h, w); also in 3-D.

    A point is (x, y) (or (x, y, z)), -1 to 1 from edge to edge: `y[p] = sum over the pixels around
    p of weight * pixel`, with weights by `mode`: `bilinear`, `nearest`, or `bicubic` (in two
    dimensions). Points outside see `zeros`, the `border`, or the image's `reflection`.

    Shapes: (N, C, H, W) and (N, h, w, 2) to (N, C, h, w); 3-D: (N, d, h, w, 3) to (N, C, d, h, w).
    Raises: ValueError for another mode or padding mode.

    Source: Jaderberg, Simonyan, Zisserman and Kavukcuoglu, "Spatial Transformer Networks", 2015,
    eq. 3.

    >>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> grid = torch.zeros(1, 1, 1, 2)
    >>> torch.nn.functional.grid_sample(x, grid, align_corners=False)
    tensor([[[[2.5000]]]])
    """
    if mode not in _MODES:
        raise errors.value_error(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or "
            f"'bicubic', but got: '{mode}'",
            "Pass one of them.",
        )
    if padding_mode not in _PADDINGS:
        raise errors.value_error(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'",
            "Pass one of them.",
        )
    if align_corners is None:
        warn_of_corners()
        align_corners = False
    kinds = _MODES.index(mode), _PADDINGS.index(padding_mode)
    return _sampled(None, input, grid, *kinds, align_corners)
