"""Max pooling: the largest element of each window, and where it is."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tapegrad.arrays.numpy.pool_window import Window, regular
from tapegrad.core import errors
from tapegrad.core.annotations import TensorLike
from tapegrad.core.dtype import bool_, of
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.nn.pool_size import (
    array_of,
    check_output,
    check_windows,
    is_default,
    n_windows,
    some_ints,
)

__torch__ = "max_pool2d max_pool3d"


def choosing(name: str, node: str) -> Any:
    """The operator of one kind of max pooling over `windows`, one Window for each axis."""

    @primitive(
        name=name,
        node=node,
        outputs=("values", "indices"),
        nondiff=("indices",),
        kernels=("window_maximum", "take_places", "put_places"),
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
    return maximum


max_plane = choosing("max_pool2d_with_indices", "MaxPool2DWithIndicesBackward0")
max_volume = choosing("max_pool3d_with_indices", "MaxPool3DWithIndicesBackward0")


# --- windows of one size -----------------------------------------------------------------------


def _check_input(name: str, shape: tuple[int, ...], n: int) -> None:
    if len(shape) not in (n + 1, n + 2):
        raise errors.runtime_error(
            f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input",
            f"Inputs are (N, C, ...) or (C, ...) with {n} dimensions to pool.",
        )


def _check_sizes(shape: tuple[int, ...], n: int) -> None:
    """Raise for inputs that are empty in another dimension than that of the batch."""
    start = len(shape) - n - 1
    if 0 not in shape[start:]:
        return
    if n == 2:
        text = (
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(shape)}"
        )
    else:
        text = (
            "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to "
            f"have positive length, but input has a shape of {list(shape)} and non-batch dimension "
            f"{shape.index(0, start) - start} has length zero!"
        )
    raise errors.runtime_error(text, "There is nothing to pool.")


def windowed(
    name: str,
    n: int,
    input: TensorLike,
    kernel_size: Any,
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
    _check_input(name, shape, n)
    found = _windows(name, shape, kernel, steps, pads, spread, bool(ceil_mode))
    dtype = of(input._array.dtype)
    if dtype.is_complex or dtype is bool_:
        raise no_kernel(f"max_pool{n}d", dtype)
    return (max_plane if n == 2 else max_volume)(input, windows=found)


@lru_cache(maxsize=256)
def _windows(
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool,
) -> tuple[Window, ...]:
    """The windows over the last axes of an input of `shape`, all sizes checked."""
    n = len(kernel)
    check_windows(kernel, stride, padding, dilation)
    _check_sizes(shape, n)
    axes = list(zip(shape[-n:], kernel, stride, padding, dilation, strict=True))
    counts = tuple(n_windows(*each, ceil_mode) for each in axes)
    check_output(shape[-n - 1 :], counts)
    found = tuple(
        regular(size, count, *rest) for count, (size, *rest) in zip(counts, axes, strict=True)
    )
    # with dilation a window may step over a whole input: PyTorch gives no usable place
    if not all(window.counts.all() for window in found):
        raise errors.not_implemented(
            f"{name}: a window lies in the padding alone",
            "Use less padding or dilation for inputs this small.",
        )
    return found


def max_pool2d_with_indices(
    input: TensorLike,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Any, Any]:
    """The largest element of each window of (..., H, W), and its place, H and W as one number.

    >>> x = torch.arange(16.0).reshape(1, 4, 4)
    >>> torch.nn.functional.max_pool2d_with_indices(x, 2)[1]
    tensor([[[ 5,  7],
             [13, 15]]])
    """
    return windowed("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: TensorLike,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Any, Any]:
    """The largest element of each window of (..., D, H, W), and its place as one number.

    >>> x = torch.arange(8.0).reshape(1, 2, 2, 2)
    >>> torch.nn.functional.max_pool3d_with_indices(x, 2)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return windowed("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: TensorLike,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, H, W) or (C, H, W).

    `y[i, j] = max over k, l of x[i stride - padding + k dilation, j stride - padding + l dilation]`
    with a size for each dimension; padding counts as -inf. The gradient goes to the first of
    equal elements. With `return_indices` a pair (values, indices), which `max_unpool2d` takes.

    >>> x = torch.arange(16.0).reshape(1, 4, 4)
    >>> torch.nn.functional.max_pool2d(x, 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    found = max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


@autocast
def max_pool3d(
    input: TensorLike,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W).

    As `max_pool2d`, in three dimensions.

    >>> torch.nn.functional.max_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    found = max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]
