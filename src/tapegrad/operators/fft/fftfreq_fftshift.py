"""The frequencies of the points of a spectrum, and the spectrum with frequency 0 in its middle."""

from collections.abc import Callable

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DeviceLike, Dim, DTypeLike, LayoutLike, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import default
from tapegrad.core.family import family
from tapegrad.core.scalar import int_of
from tapegrad.core.shape import countable_bytes
from tapegrad.operators.creation.arange import warn_of_size
from tapegrad.operators.creation.factory_options import build, check, check_out, in_row, into, known
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.shape.flip_roll_rot90 import roll


@family
def _frequencies(name: str, positive: bool) -> Callable:
    def frequencies(
        n: int,
        d: float = 1.0,
        *,
        out: Out = None,
        dtype: DTypeLike = None,
        layout: LayoutLike = None,
        device: DeviceLike = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Any:
        where = check(layout, device, pin_memory)
        n = int_of(f"fft_{name}", "n", 1, n)
        if out is not None:
            check_out(name, out, dtype)
            dtype = out.dtype
        else:
            dtype = default() if dtype is None else known(name, dtype)
        if dtype.category < 2:
            text = f"{name} requires a floating point or complex dtype"
            raise errors.runtime_error(text, "Frequencies are fractions.")
        if dtype.is_complex:
            raise no_kernel("arange_cpu", dtype)
        length = int(abs(n) // 2 * (1 if n > 0 else -1)) + 1 if positive else n
        if length < 0:
            raise errors.negative_size(length, [length], "A spectrum has no fewer than 0 points.")
        countable_bytes((length,), dtype.itemsize)

        def make() -> np.ndarray:
            k = np.arange(length, dtype=dtype.numpy)
            if not positive:
                k[(n + 1) // 2 :] -= n
            return k * dtype.numpy.type(np.divide(1.0, n * float(d)))

        if out is not None:
            array = make()
            warn_of_size(out, array.size)
            return (in_row if positive else into)(name, out, array, requires_grad)
        return build(name, make, requires_grad=requires_grad, where=where)

    return frequencies


@require_tensors
@_frequencies("fftfreq", False)
def fftfreq() -> Any:
    """The frequencies of the `n` points of `fft`, for samples at a distance `d`.

    From 0 up, then the negative ones: `[0, 1, ..., -2, -1] / (n d)`.

    Shape: (n,).

    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """


@require_tensors
@_frequencies("rfftfreq", True)
def rfftfreq() -> Any:
    """The frequencies of the n // 2 + 1 points of `rfft`, for samples at a distance `d`.

    Shape: (n // 2 + 1,).

    >>> torch.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """


def _dims(name: str, input: Tensor, dim: Dim) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(input._array.ndim))
    several = dim if isinstance(dim, (tuple, list)) else (dim,)
    if not all(hasattr(each, "__index__") for each in several):
        raise errors.must_be(f"fft_{name}", "dim", 2, "tuple of ints", dim)
    return tuple([int(each) for each in several])


def _rolled(input: Tensor, dims: tuple, halves: Any) -> Any:
    shape = input._array.shape
    within = [d if -len(shape) <= d < len(shape) else None for d in dims]
    return roll(input, tuple([0 if d is None else halves(shape[d]) for d in within]), dims)


@require_tensors(name="fft_fftshift")
def fftshift(input: Tensor, dim: Dim = None) -> Any:
    """A spectrum with frequency 0 in its middle, along `dim` or all dimensions.

    Shape: any, and that of the result.

    >>> torch.fft.fftshift(torch.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _rolled(input, _dims("fftshift", input, dim), lambda n: n // 2)


@require_tensors(name="fft_ifftshift")
def ifftshift(input: Tensor, dim: Dim = None) -> Any:
    """The reverse of `fftshift`.

    Shape: any, and that of the result.

    >>> torch.fft.ifftshift(torch.fft.fftshift(torch.fft.fftfreq(4)))
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _rolled(input, _dims("ifftshift", input, dim), lambda n: (n + 1) // 2)
