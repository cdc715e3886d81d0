"""Average pooling, and Lp pooling which is made of it."""

from functools import lru_cache

import numpy as np

from tapegrad.arrays.numpy.interpolate import Separable
from tapegrad.arrays.numpy.max_pool import regular
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import int64, of
from tapegrad.core.family import family
from tapegrad.core.result_order import row_major
from tapegrad.core.shape import out_of_range
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.nn.interpolate_stencil import mapping
from tapegrad.operators.nn.pool_size import (
    array_of,
    check_not_empty,
    check_output,
    check_rank,
    check_windows,
    is_default,
    n_windows,
    no_plane,
    one_int,
    some_ints,
)
from tapegrad.operators.shape.squeeze_unsqueeze import squeeze, unsqueeze

__torch__ = "avg_pool1d"

average_plane = mapping("avg_pool2d", "AvgPool2DBackward0", connected=True)
average_volume = mapping("avg_pool3d", "AvgPool3DBackward0", row_major, connected=True)

_ADVICE = "Inputs are (N, C, ...) or (C, ...)."


def averaging(
    sizes: tuple[int, ...],
    counts: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    with_padding: bool,
    divisor: int | None,
) -> Separable:
    """The map of averages over windows of the last axes, of `sizes`."""
    windows = [regular(*each) for each in zip(sizes, counts, kernel, stride, padding, strict=True)]
    taps = tuple(window.taps for window in windows)
    if divisor is not None:
        return Separable(taps, divisor)
    number: Any = 1
    for i, (window, n, k, p) in enumerate(zip(windows, sizes, kernel, padding, strict=True)):
        if with_padding:  # a window that reaches over the padding is cut there
            lengths = np.minimum(window.start + k, n + p) - window.start
        else:
            lengths = np.minimum(window.start + k, n) - np.maximum(window.start, 0)
        number = number * lengths.reshape((-1,) + (1,) * (len(sizes) - i - 1))
    if number.size and number.min() == number.max():
        number = int(number.flat[0])
    return Separable(taps, number)


@family
def _averaging(n: int) -> Callable:
    """Average pooling of the last `n` dimensions."""
    name = f"avg_pool{n}d"
    either = "either be a single int, or" if n == 2 else "be a single int, or"
    omitted = either.replace("be ", "be omitted, ")
    operator = average_plane if n == 2 else average_volume

    def avg_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        shape = array_of(name, input).shape
        kernel = some_ints(name, "kernel_size", kernel_size, n, either)
        steps = kernel if is_default(stride) else some_ints(name, "stride", stride, n, omitted, 3)
        pads = some_ints(name, "padding", padding, n, either, 4)
        if divisor_override == 0:
            raise errors.runtime_error("divisor must be not zero", "Pass another number.")
        if len(shape) not in (n + 1, n + 2):
            if n == 2 and len(shape) < 3:
                raise out_of_range(-3, len(shape), _ADVICE)
            text = f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input"
            raise errors.runtime_error(text if n == 3 else no_plane(shape), _ADVICE)
        flags = bool(ceil_mode), bool(count_include_pad)
        through = _through(shape, kernel, steps, pads, *flags, divisor_override)
        require_averages(n, input)
        return operator(input, through=through)

    return avg_pool


def require_averages(n: int, input: Tensor) -> None:
    """Raise for dtypes of which PyTorch averages no windows of `n` dimensions."""
    dtype = of(input._array.dtype)
    if (not dtype.is_floating_point or (n == 3 and dtype.itemsize == 2)) and dtype is not int64:
        raise no_kernel("avg_pool2d" if n == 2 else "avg_pool3d_out_frame", dtype)


@lru_cache(maxsize=256)
def _through(
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    ceil_mode: bool,
    with_padding: bool,
    divisor: int | None,
) -> Separable:
    """The map of averages over the last axes of an input of `shape`, all sizes checked."""
    n = len(kernel)
    check_windows(kernel, stride, padding)
    check_not_empty(shape, n, "avg_pool3d")
    sizes = shape[-n:]
    counts = tuple(
        n_windows(*each, 1, ceil_mode) for each in zip(sizes, kernel, stride, padding, strict=True)
    )
    if n == 3 and any(size < k for size, k in zip(sizes, kernel, strict=True)):
        image = " ".join(f"{a}: {m}" for a, m in zip("THW", sizes, strict=True))
        wanted = " ".join(f"k{a}: {m}" for a, m in zip("THW", kernel, strict=True))
        text = f"input image ({image}) smaller than kernel size ({wanted})"
        raise errors.runtime_error(text, "Use a smaller kernel, or padding.")
    check_output(shape[-n - 1 :], counts)
    return averaging(sizes, counts, kernel, stride, padding, with_padding, divisor)


@require_tensors
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window along the last dimension of (N, C, L) or (C, L).

    Shape: (N, C, L) or (C, L); L becomes (L + 2 padding - kernel_size) // stride + 1.
    Raises: RuntimeError where a window is larger than the padded input.

    >>> torch.avg_pool1d(torch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2, stride=1)
    tensor([[2.0000, 2.5000, 3.0000]])
    """
    check_rank("avg_pool1d", input)
    kernel = one_int("avg_pool1d", "kernel_size", kernel_size)
    step = kernel if is_default(stride) else one_int("avg_pool1d", "stride", stride, 3)
    pad = one_int("avg_pool1d", "padding", padding, 4)
    sizes = (1, kernel), (1, step), (0, pad)
    return squeeze(avg_pool2d(unsqueeze(input, -2), *sizes, ceil_mode, count_include_pad), -2)


@require_tensors
@_averaging(2)
def avg_pool2d() -> Any:
    """The mean of each window of (N, C, H, W) or (C, H, W).

    The sum over a window is divided by its number of elements: with those of the zero padding, or
    without if `count_include_pad` is false; or by `divisor_override`.

    Shape: H and W become (size + 2 padding - kernel_size) // stride + 1.
    Raises: RuntimeError where a window is larger than the padded input.

    >>> torch.nn.functional.avg_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """


@autocast
@_averaging(3)
def avg_pool3d() -> Any:
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W), as `avg_pool2d`.

    Shape: D, H and W become (size + 2 padding - kernel_size) // stride + 1.
    Raises: RuntimeError where a window is larger than the padded input.

    >>> torch.nn.functional.avg_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
