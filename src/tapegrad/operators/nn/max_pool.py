"""Max pooling: the largest element of each window, and where it is."""

import math
from functools import lru_cache

import numpy as np

from tapegrad.arrays.numpy.max_pool import Window, regular
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Callable, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bool_, of
from tapegrad.core.family import family
from tapegrad.core.limits import iinfo
from tapegrad.core.overridable import overridable
from tapegrad.core.result_order import channels_as_first
from tapegrad.core.shape import ints_of
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.op import linear, primitive, vjp
from tapegrad.operators.dtype_check import no_kernel, require_floating
from tapegrad.operators.nn.pad import pad_constant
from tapegrad.operators.nn.pool_size import (
    array_of,
    check_half,
    check_not_empty,
    check_output,
    check_rank,
    check_windows,
    is_default,
    n_windows,
    one_int,
    some_ints,
)
from tapegrad.operators.shape.reshape_flatten_atleast import unsafe_view
from tapegrad.operators.shape.squeeze_unsqueeze import squeeze, unsqueeze

__torch__ = "max_pool1d max_pool1d_with_indices max_pool2d max_pool3d"


def choosing(name: str, node: str, order: Any = channels_as_first) -> Any:
    """The operator of one kind of max pooling over `windows`, one Window for each axis."""

    @primitive(
        name=name,
        node=node,
        outputs=("values", "indices"),
        nondiff=("indices",),
        kernels=("window_maximum", "take_places", "put_places"),
        order=order,
    )
    def maximum(xp, x, *, windows):
        """The largest element of each window over the last axes, and its place in the image."""
        return xp.window_maximum(x, windows)

    maximum.vjp(
        x=lambda xp, g, x_like, indices, windows: xp.put_places(
            g, indices, x_like.shape[-len(windows) :], True
        )
    )
    maximum.jvp(x=lambda xp, t, indices, windows: xp.take_places(t, indices, len(windows)))
    return one_node(node.replace("Backward", "BackwardBackward"))(maximum)


max_plane = choosing("max_pool2d_with_indices", "MaxPool2DWithIndicesBackward0")
max_volume = choosing("max_pool3d_with_indices", "MaxPool3DWithIndicesBackward0")


# --- windows of one size -----------------------------------------------------------------------


def windowed(
    name: str,
    n: int,
    input: Tensor,
    kernel_size: Shape,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[Any, Any]:
    """Max pooling of the last `n` dimensions, checked: (values, indices)."""
    shape = array_of(name, input).shape
    either = "either be a single int, or"
    kernel = some_ints(name, "kernel_size", kernel_size, n, either)
    omitted = "either be omitted, a single int, or"
    steps = kernel if is_default(stride) else some_ints(name, "stride", stride, n, omitted, 3)
    pads = some_ints(name, "padding", padding, n, either, 4)
    spread = some_ints(name, "dilation", dilation, n, "be either a single int, or", 5)
    if len(shape) not in (n + 1, n + 2):
        text = f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input"
        advice = f"Inputs are (N, C, ...) or (C, ...) with {n} dimensions to pool."
        raise errors.runtime_error(text, advice)
    found, sizes = _windows(name, shape, kernel, steps, pads, spread, bool(ceil_mode))
    dtype = of(input._array.dtype)
    if dtype.is_complex or dtype is bool_:
        raise no_kernel(f"max_pool{n}d", dtype)
    largest = max_plane if n == 2 else max_volume
    if sizes is None:
        return largest(input, windows=found)
    values, places = largest(_enlarged(input, sizes), windows=found)
    return values, tensor_base.wrap(_numbered(places._array, sizes, shape[-n:]))


def _enlarged(x: Tensor, sizes: tuple[int, ...]) -> Any:
    """The images with the least number there is behind them, where windows lie in padding alone."""
    widths: list[int] = []
    for size, n in zip(reversed(sizes), reversed(x._array.shape), strict=False):
        widths += (0, size - n)
    dtype = x.dtype
    least = -math.inf if dtype.is_floating_point else iinfo(dtype).min
    return pad_constant(x, tuple(widths), least)


def _numbered(places: Array, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Places in images of `sizes`, counted as if those of `shape` went on: so PyTorch counts."""
    found = np.zeros_like(places)
    step = 1
    for size, n in zip(reversed(sizes), reversed(shape), strict=True):
        places, place = np.divmod(places, size)
        found += place * step
        step *= n
    return found


@lru_cache(maxsize=256)
def _windows(
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool,
) -> tuple[tuple[Window, ...], tuple[int, ...] | None]:
    """The windows over the last axes of an input of `shape`, all sizes checked.

    Where windows lie in padding alone, they are those over an input of larger sizes, the second
    result: PyTorch has -inf there, and as place their first element behind the input.
    """
    n = len(kernel)
    check_windows(kernel, stride, padding, dilation)
    check_not_empty(shape, n, f"{name}_with_indices_out_cpu_template")
    check_half(kernel, padding)
    axes = list(zip(shape[-n:], kernel, stride, padding, dilation, strict=True))
    counts = tuple(n_windows(*each, ceil_mode) for each in axes)
    check_output(shape[-n - 1 :], counts)
    found = tuple(
        regular(size, count, *rest) for count, (size, *rest) in zip(counts, axes, strict=True)
    )
    if all(window.counts.all() for window in found):
        return found, None
    sizes = tuple([max(w.n_in, int(w.begin.max()) + 1) for w in found])
    wide = [
        (size, count, *rest) for size, count, (_, *rest) in zip(sizes, counts, axes, strict=True)
    ]
    return tuple([regular(*each) for each in wide]), sizes


@family
def _max_pool(n: int, with_indices: bool) -> Callable:
    """Pooling of `n` axes, `with_indices` whether or not they are asked for."""
    name = f"max_pool{n}d"

    def max_pool(
        input: Tensor,
        kernel_size: Shape,
        stride: Any = None,
        padding: Shape = 0,
        dilation: Shape = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        found = windowed(name, n, input, kernel_size, stride, padding, dilation, ceil_mode)
        return found if with_indices or return_indices else found[0]

    return max_pool


@overridable
@_max_pool(2, True)
def max_pool2d_with_indices() -> Any:
    """The largest element of each window of (..., H, W), and its place, H and W as one number.

    Shapes: both (..., H', W'), each size as in `max_pool1d`.

    >>> x = torch.arange(16.0).reshape(1, 4, 4)
    >>> torch.nn.functional.max_pool2d_with_indices(x, 2)[1]
    tensor([[[ 5,  7],
             [13, 15]]])
    """


@overridable
@_max_pool(3, True)
def max_pool3d_with_indices() -> Any:
    """The largest element of each window of (..., D, H, W), and its place as one number.

    Shapes: both (..., D', H', W'), each size as in `max_pool1d`.

    >>> x = torch.arange(8.0).reshape(1, 2, 2, 2)
    >>> torch.nn.functional.max_pool3d_with_indices(x, 2)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """


@require_tensors
@_max_pool(2, False)
def max_pool2d() -> Any:
    """The largest element of each window of (N, C, H, W) or (C, H, W).

    `y[i, j] = max over k, l of x[i stride - padding + k dilation, j stride - padding + l dilation]`
    with a size for each dimension; padding counts as -inf. The gradient goes to the first of
    equal elements. With `return_indices` a pair (values, indices), which `max_unpool2d` takes.

    Shape: H and W become what L does in `max_pool1d`.
    Raises: RuntimeError where a window is larger than the padded input.

    >>> x = torch.arange(16.0).reshape(1, 4, 4)
    >>> torch.nn.functional.max_pool2d(x, 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """


@autocast
@_max_pool(3, False)
def max_pool3d() -> Any:
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W).

    As `max_pool2d`, in three dimensions.

    Shape: D, H and W become what L does in `max_pool1d`.
    Raises: RuntimeError where a window is larger than the padded input.

    >>> torch.nn.functional.max_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """


_KERNELS = ("take_places", "put_places")


@vjp(x=lambda xp, g, x_like, index, n_axes: xp.put_places(g, index, x_like.shape[-n_axes:], True))
@linear(hidden=("index",), kernels=_KERNELS)
def take_places(xp, x, index, *, n_axes):
    """The elements of each image, the last `n_axes` axes of x, at the places `index`."""
    return xp.take_places(x, index, n_axes)


@vjp(x=lambda xp, g, index, sizes: xp.take_places(g, index, len(sizes)))
@linear(hidden=("index",), kernels=_KERNELS)
def put_places(xp, x, index, *, sizes, add):
    """Images of `sizes`, zeros but for the elements of x at the places `index`.

    Of several elements for one place the last one counts, or their sum if `add`.
    """
    return xp.put_places(x, index, sizes, add)


def _check_line(
    input: Tensor, kernel_size: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil: bool
) -> None:
    """Raise as `max_pool1d` without indices does, in its own words."""
    shape = input._array.shape
    name = "max_pool1d()"
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise errors.runtime_error(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size "
            f"for input, but got:{list(shape)}",
            "Inputs are (N, C, L) or (C, L).",
        )
    values: list[int] = []
    for argument, value, kinds in (
        ("kernel_size", kernel_size, "an int, list of ints or tuple of ints"),
        ("stride", stride, "None, an int, list of ints, or tuple of ints"),
        ("padding", padding, "an int, list of ints, or tuple of ints"),
        ("dilation", dilation, "an int, list of ints or tuple of ints"),
    ):
        if argument == "stride" and is_default(value):
            value = kernel_size
        found = ints_of("max_pool1d", argument, (value,), len(values) + 2)
        if len(found) != 1:
            text = f"{name} {argument} must be {kinds} of size 1 but got size {len(found)}"
            raise errors.runtime_error(text, "There is one dimension to pool.")
        values.append(found[0])
    k, s, p, d = values
    problem = None
    if k <= 0:
        problem = f"kernel_size must be greater than zero, but got {k}"
    elif s <= 0:
        problem = f"stride must be greater than zero, but got {s}"
    elif p < 0:
        problem = f"padding must be non-negative, but got {p}"
    elif p > k // 2:
        problem = (
            f"padding should be at most half of kernel size, but got padding={p} and "
            f"kernel_size={k}"
        )
    elif d <= 0:
        problem = f"dilation must be greater than zero, but got {d}"
    elif (n := n_windows(shape[-1], k, s, p, d, ceil)) <= 0:
        problem = f"Invalid computed output size: {n}"
    if problem:
        raise errors.runtime_error(f"{name} {problem}", "Windows must fit into the padded input.")
    require_floating("max_pool1d_impl", input)


@require_tensors
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Any, Any]:
    """The largest element of each window along the last dimension, and its index.

    Shapes: (N, C, L) or (C, L); both results have the number of windows for L.

    >>> torch.max_pool1d_with_indices(torch.tensor([[1.0, 3.0, 2.0, 2.0]]), 2)
    (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    check_rank("max_pool1d", input)
    kernel = one_int("max_pool1d", "kernel_size", kernel_size)
    step = kernel if is_default(stride) else one_int("max_pool1d", "stride", stride, 3)
    pad = one_int("max_pool1d", "padding", padding, 4)
    spread = one_int("max_pool1d", "dilation", dilation, 5)
    sizes = (1, kernel), (1, step), (0, pad), (1, spread)
    values, indices = windowed("max_pool1d", 2, unsqueeze(input, -2), *sizes, ceil_mode)
    return squeeze(values, -2), squeeze(indices, -2)


@require_tensors
def max_pool1d(
    input: Tensor,
    kernel_size: Shape,
    stride: Any = None,
    padding: Shape = 0,
    dilation: Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window along the last dimension of (N, C, L) or (C, L).

    Window i holds the elements `i * stride - padding + k * dilation` for k below `kernel_size`;
    padding counts as -inf. The result has `(L + 2 padding - dilation (kernel_size - 1) - 1) //
    stride + 1` elements (rounded up with `ceil_mode`). With `return_indices` a pair
    (values, indices), which `max_unpool1d` takes.

    Shape: (N, C, L) or (C, L) to (N, C, L') or (C, L').
    Raises: RuntimeError where a window is larger than the padded input.

    >>> torch.nn.functional.max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 2.0]]), 2)
    tensor([[3., 2.]])
    """
    array_of("max_pool1d", input)
    if not return_indices:
        _check_line(input, kernel_size, stride, padding, dilation, ceil_mode)
    found = max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    if return_indices:
        return found
    values = found[0]
    return values if values.requires_grad else unsafe_view(values, shape=values._array.shape)
