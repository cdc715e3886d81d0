"""Kernels of the discrete Fourier transform, SciPy's: single precision stays single.

`scale` says what the sums are divided by: "none", "count" (of the points) or "root" (of the count).
"""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blocks import LARGE
from tapegrad.core.annotations import Any, Array, Callable
from tapegrad.core.threads import n_threads

_FORWARD = {"none": "backward", "root": "ortho", "count": "forward"}
_INVERSE = {"none": "forward", "root": "ortho", "count": "backward"}


def _threads(x: Array) -> int:
    return n_threads() if x.size > LARGE else 1


def _order(x: Array, axes: tuple[int, ...], kind: str) -> list[int]:
    """The axes of a result from the outermost in memory to the innermost.

    Those that are transformed are the innermost, the axis of half a spectrum the last of them;
    in other respects they follow the strides of x.
    """
    inner = axes if kind == "whole" else axes[:-1]
    by_stride = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    order = [axis for axis in by_stride if axis not in inner]
    order += [axis for axis in by_stride if axis in inner]
    if kind != "whole":
        order.remove(axes[-1])
        order.append(axes[-1])
    return order


def _laid_out(x: Array, axes: tuple[int, ...], kind: str, compute: Callable) -> Any:
    """What `compute(x, axes)` gives, in memory as PyTorch's result."""
    order = _order(x, axes, kind)
    if order == list(range(x.ndim)):
        return compute(x, axes)
    found = compute(x.transpose(order), tuple([order.index(axis) for axis in axes]))
    return found.transpose(np.argsort(order))


@kernel
def fourier(x: Array, axes: tuple[int, ...], scale: str, forward: bool) -> Any:
    """The transform along `axes`, or with the sign of the exponent changed."""
    from scipy import fft

    def compute(x: Array, axes: tuple[int, ...]) -> Any:
        if x.dtype.kind != "c" and forward and len(axes) == 1:
            return _mirrored(fourier_half(x, axes, scale), x.shape[axes[0]], axes[0])
        if forward:
            return fft.fftn(x, axes=axes, norm=_FORWARD[scale], workers=_threads(x))
        return fft.ifftn(x, axes=axes, norm=_INVERSE[scale], workers=_threads(x))

    return _laid_out(x, axes, "whole", compute) if axes else x.copy()


def _mirrored(half: Any, n: int, axis: int) -> Any:
    """The whole spectrum of real numbers, n points along `axis`, of its first half."""
    whole = np.empty((*half.shape[:axis], n, *half.shape[axis + 1 :]), half.dtype)
    before = (slice(None),) * axis
    whole[(*before, slice(0, n // 2 + 1))] = half
    rest = half[(*before, slice((n - 1) // 2, 0, -1))]
    np.conjugate(rest, out=whole[(*before, slice(n // 2 + 1, n))])
    return whole


@kernel
def fourier_half(x: Array, axes: tuple[int, ...], scale: str) -> Any:
    """The forward transform of real numbers, without what is conjugate to the rest.

    Along the last of `axes`, of n points, n // 2 + 1 are left.
    """
    from scipy import fft

    def compute(x: Array, axes: tuple[int, ...]) -> Any:
        return fft.rfftn(x, axes=axes, norm=_FORWARD[scale], workers=_threads(x))

    return _laid_out(x, axes, "half", compute)


@kernel
def fourier_real(x: Array, axes: tuple[int, ...], scale: str, size: int) -> Any:
    """The inverse transform, real, of a spectrum of which half is given along the last axis."""
    from scipy import fft

    def compute(x: Array, axes: tuple[int, ...]) -> Any:
        sizes = [*(x.shape[axis] for axis in axes[:-1]), size]
        return fft.irfftn(x, sizes, axes, norm=_INVERSE[scale], workers=_threads(x))

    return _laid_out(x, axes, "half", compute)
