"""The windows of torch itself: hann_window and its kin; torch.signal.windows has more."""

from math import pi

from tapegrad.autograd.mode import no_grad
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, DeviceLike, DTypeLike, LayoutLike
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import default, float32
from tapegrad.core.family import family
from tapegrad.core.scalar import int_of
from tapegrad.operators.creation.arange import arange
from tapegrad.operators.creation.factory_options import check, known, moved, requiring
from tapegrad.operators.creation.tensor import tensor
from tapegrad.operators.creation.zeros_eye import empty, ones
from tapegrad.operators.pointwise.special.bessel import i0
from tapegrad.operators.shape.cat_stack import cat

__torch__ = "bartlett_window blackman_window hamming_window hann_window kaiser_window"


def _window(name: str, length: Any, periodic: bool, shape: Any, dtype: Any, rest: tuple) -> Any:
    """`shape(n, N)` of n = 0, ..., length - 1; N + 1 points of a period with both its ends."""
    layout, device, pin_memory, requires_grad = rest
    length = int_of(name, "window_length", 1, length)
    dtype = default() if dtype is None else known(name, dtype)
    if dtype.category < 2:
        raise errors.runtime_error(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype="
            f"{errors.c_name(dtype)}, device=cpu, layout=Strided (default), "
            "requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))",
            "The weights are fractions.",
        )
    where = check(layout, device, pin_memory)
    if length < 0:
        text = f"{name} requires non-negative window_length, got window_length={length}"
        raise errors.runtime_error(text, "Give the number of points.")
    with no_grad():
        if length < 2:
            found = (
                ones(1, dtype=dtype, device="cpu")
                if length
                else empty(0, dtype=dtype, device="cpu")
            )
        else:
            n = length + 1 if periodic else length
            found = shape(arange(n, dtype=dtype, device="cpu"), n - 1)
            found = found[:-1].clone() if periodic else found
    return requiring(name, moved(found, where), requires_grad)


@require_tensors
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """`alpha - beta cos(2 pi n / N)`, N the window's length; periodic, or symmetric.

    Shape: (window_length,).

    >>> torch.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """

    def shape(n: Any, N: int) -> Any:
        return (n * (2 * pi / N)).cos() * -beta + alpha

    rest = (layout, device, pin_memory, requires_grad)
    return _window("hamming_window", window_length, periodic, shape, dtype, rest)


@family
def _periodic(shape: Callable) -> Callable:
    """The window of `shape(n, N)`, where there are no other parameters."""
    name = f"{shape.__name__[1:]}_window"

    def window(
        window_length: int,
        periodic: bool = True,
        *,
        dtype: DTypeLike = None,
        layout: LayoutLike = None,
        device: DeviceLike = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Any:
        rest = (layout, device, pin_memory, requires_grad)
        return _window(name, window_length, periodic, shape, dtype, rest)

    return window


def _hann(n: Any, N: int) -> Any:
    return (n * (2 * pi / N)).cos() * -0.5 + 0.5


def _blackman(n: Any, N: int) -> Any:
    angle = n * (pi / N)
    return (angle * 4).cos() * 0.08 - (angle * 2).cos() * 0.5 + 0.42


def _bartlett(n: Any, N: int) -> Any:
    rising, half = n * (2 / N), N // 2 + 1
    return cat([rising[:half], rising[half:] * -1 + 2])


@require_tensors
@_periodic(_hann)
def hann_window() -> Any:
    """`(1 - cos(2 pi n / N)) / 2`, N the window's length; periodic, or symmetric.

    Shape: (window_length,).

    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """


@require_tensors
@_periodic(_blackman)
def blackman_window() -> Any:
    """`0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)`; periodic, or symmetric.

    Shape: (window_length,).

    >>> torch.blackman_window(4).sum()
    tensor(1.6800)
    """


@require_tensors
@_periodic(_bartlett)
def bartlett_window() -> Any:
    """A triangle from 0 to 1 and back, `1 - |2 n / N - 1|`; periodic, or symmetric.

    Shape: (window_length,).

    >>> torch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """


@require_tensors
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """`I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta)`; periodic, or symmetric.

    Shape: (window_length,).

    >>> torch.kaiser_window(4, periodic=False, beta=3.0)
    tensor([0.2049, 0.8712, 0.8712, 0.2049])
    """

    def shape(n: Any, N: int) -> Any:
        x = n.to(float32 if n.dtype.itemsize == 2 else n.dtype) * (2 / N) - 1
        found = i0(beta * (1 - x * x).clamp(min=0).sqrt()) / i0(
            tensor(beta, dtype=x.dtype, device="cpu")
        )
        return found.to(n.dtype)

    rest = (layout, device, pin_memory, requires_grad)
    return _window("kaiser_window", window_length, periodic, shape, dtype, rest)
