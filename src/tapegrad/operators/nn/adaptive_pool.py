"""Adaptive pooling: windows that share out each dimension evenly, given how many are wanted.

Window i of n over a dimension of size L holds the elements floor(i L / n) up to
ceil((i + 1) L / n), without the last.
"""

from functools import lru_cache

from tapegrad.arrays.numpy.interpolate import Separable
from tapegrad.arrays.numpy.max_pool import adaptive
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import row_major
from tapegrad.core.shape import countable_bytes
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.dtype_check import require_floating
from tapegrad.operators.nn.interpolate_stencil import mapping
from tapegrad.operators.nn.max_pool import choosing
from tapegrad.operators.nn.pool_size import array_of, check_each, check_rank, one_int
from tapegrad.operators.reduction.sum_mean import mean
from tapegrad.operators.shape.squeeze_unsqueeze import squeeze, unsqueeze

__torch__ = "adaptive_avg_pool1d adaptive_max_pool1d"

average_plane = mapping("adaptive_avg_pool2d", "AdaptiveAvgPool2DBackward0", connected=True)
average_volume = mapping(
    "adaptive_avg_pool3d", "AdaptiveAvgPool3DBackward0", row_major, connected=True
)
maximum_plane = choosing("adaptive_max_pool2d", "AdaptiveMaxPool2DBackward0")
maximum_volume = choosing("adaptive_max_pool3d", "AdaptiveMaxPool3DBackward0", row_major)


def _check_length(shape: tuple[int, ...], output_size: Shape, n: int) -> None:
    """Raise where there are no fewer sizes than dimensions of the input."""
    if not isinstance(output_size, int) and len(shape) <= len(output_size):
        text = f"Input dimension should be at least {len(output_size) + 1}"
        advice = f"Inputs are (N, C, ...) or (C, ...) with {n} dimensions to pool."
        raise errors.value_error(text, advice)


def _sizes(shape: tuple[int, ...], output_size: Shape, n: int, wrong: str) -> tuple[int, ...]:
    """The output sizes: None stands for the input's."""
    if isinstance(output_size, int):
        return (output_size,) * n
    if len(output_size) != n:
        raise errors.runtime_error(wrong, "Give a size for each dimension to pool.")
    return tuple(
        size if wanted is None else wanted
        for wanted, size in zip(output_size, shape[-n:], strict=True)
    )


def _check_input(name: str, shape: tuple[int, ...], n: int, colon: str, first: int) -> None:
    """Raise for inputs of the wrong rank, or empty in a dimension from `first` on."""
    if len(shape) not in (n + 1, n + 2):
        text = f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got{colon} {list(shape)}"
        advice = f"Inputs are (N, C, ...) or (C, ...) with {n} dimensions to pool."
        raise errors.runtime_error(text, advice)
    _check_filled(name, shape, first)


def _check_filled(name: str, shape: tuple[int, ...], first: int) -> None:
    words = f"input has sizes {list(shape)} with dimension {{}} being empty"
    check_each(name, shape, first, words)


# --- averages ----------------------------------------------------------------------------------


def _average(n: int, input: Tensor, output_size: Shape) -> Any:
    name = f"adaptive_avg_pool{n}d"
    shape = array_of(name, input).shape
    _check_length(shape, output_size, n)
    sizes = _sizes(shape, output_size, n, f"{name}: output_size must be {n}")
    if min(sizes) < 0:
        given = ", ".join(map(str, sizes[:2])) + "".join(f",{each}" for each in sizes[2:])
        raise errors.runtime_error(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{given}}}",
            "Ask for a number of windows.",
        )
    if set(sizes) == {1} and len(shape) > n:
        return mean(input, tuple(range(-n, 0)), True)
    if n == 3:
        _check_filled(name, shape, 1)
    _check_input(name, shape, n, "", len(shape) - n)
    require_floating("adaptive_avg_pool2d" if n == 2 else "adaptive_avg_pool3d_cpu", input)
    countable_bytes((*shape[:-n], *sizes), input._array.dtype.itemsize)
    operator = average_plane if n == 2 else average_volume
    return operator(input, through=averaging(shape[-n:], sizes))


@lru_cache(maxsize=256)
def averaging(shape: tuple[int, ...], sizes: tuple[int, ...]) -> Separable:
    """The map of adaptive averages."""
    windows = [adaptive(*each) for each in zip(shape, sizes, strict=True)]
    counts: Any = 1
    for i, window in enumerate(windows):
        counts = counts * window.counts.reshape((-1,) + (1,) * (len(sizes) - i - 1))
    if counts.size and counts.min() == counts.max():
        counts = int(counts.flat[0])
    return Separable(tuple(window.taps for window in windows), counts)


@require_tensors
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Any:
    """The means of `output_size` windows along the last dimension of (N, C, L) or (C, L).

    Window i of n begins at `floor(i L / n)` and ends before `ceil((i + 1) L / n)`.

    Shape: (N, C, L) or (C, L), with L = `output_size` in the result.

    >>> torch.adaptive_avg_pool1d(torch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    tensor([[2., 3.]])
    """
    check_rank("adaptive_avg_pool1d", input)
    size = one_int("adaptive_avg_pool1d", "output_size", output_size)
    return squeeze(_average(2, unsqueeze(input, -2), (1, size)), -2)


@require_tensors
def adaptive_avg_pool2d(input: Tensor, output_size: Shape) -> Any:
    """The means of windows that share out (N, C, H, W) or (C, H, W) to `output_size` (h, w).

    A size None stands for the input's.

    Shape: (N, C, H, W) or (C, H, W) to (N, C, h, w) or (C, h, w).

    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """
    return _average(2, input, output_size)


@autocast
def adaptive_avg_pool3d(input: Tensor, output_size: Shape) -> Any:
    """The means of windows that share out (N, C, D, H, W) or (C, D, H, W) to `output_size`.

    Shape: (N, C, D, H, W) or (C, D, H, W); the last three become `output_size`.

    >>> torch.nn.functional.adaptive_avg_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), (2, 1, 1))
    tensor([[[[1.5000]],
    <BLANKLINE>
             [[5.5000]]]])
    """
    return _average(3, input, output_size)


# --- largest elements --------------------------------------------------------------------------


def _maximum(n: int, input: Tensor, output_size: Shape) -> tuple[Any, Any]:
    name = f"adaptive_max_pool{n}d"
    shape = array_of(name, input).shape
    wrong = f"{name}(): internal error: output_size.size() must be {n}"
    _check_length(shape, output_size, n)
    _check_input(name, shape, n, ":", 1)
    sizes = _sizes(shape, output_size, n, wrong)
    return _largest(input, sizes)


def _largest(input: Tensor, sizes: tuple[int, ...]) -> tuple[Any, Any]:
    n = len(sizes)
    shape = input._array.shape
    for size in sizes:
        if size < 0:
            wanted = [*shape[:-n], *sizes]
            raise errors.negative_size(size, wanted, "Ask for a number of windows.")
    require_floating("adaptive_max_pool2d" if n == 2 else "adaptive_max_pool3d_cpu", input)
    windows = tuple(adaptive(*each) for each in zip(shape[-n:], sizes, strict=True))
    return (maximum_plane if n == 2 else maximum_volume)(input, windows=windows)


@require_tensors
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> tuple[Any, Any]:
    """The largest elements of `output_size` windows along the last dimension, and their indices.

    Shapes: (N, C, L) or (C, L), with L = `output_size` in both results.

    >>> torch.adaptive_max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    (tensor([[3., 4.]]), tensor([[1, 3]]))
    """
    name = "adaptive_max_pool1d"
    check_rank(name, input)
    size = one_int(name, "output_size", output_size)
    _check_input(name, input._array.shape, 1, ":", 1)
    values, indices = _largest(unsqueeze(input, -2), (1, size))
    return squeeze(values, -2), squeeze(indices, -2)


def adaptive_max_pool2d(input: Tensor, output_size: Shape) -> tuple[Any, Any]:
    """The largest elements of windows that share out (..., H, W), and their places.

    >>> x = torch.arange(16.0).reshape(1, 4, 4)
    >>> torch.nn.functional.adaptive_max_pool2d_with_indices(x, (1, 2))[1]
    tensor([[[13, 15]]])
    """
    return _maximum(2, input, output_size)


@autocast
def adaptive_max_pool3d(input: Tensor, output_size: Shape) -> tuple[Any, Any]:
    """The largest elements of windows that share out (..., D, H, W), and their places.

    >>> x = torch.arange(8.0).reshape(1, 2, 2, 2)
    >>> torch.nn.functional.adaptive_max_pool3d_with_indices(x, 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return _maximum(3, input, output_size)
