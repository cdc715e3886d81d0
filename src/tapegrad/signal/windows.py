"""Windows: weights that fade a stretch of a signal in and out.

Each is a function of n = 0, ..., M - 1. With `sym=False` it is periodic, for spectra: the first M
of M + 1 points; with `sym=True` symmetric, for filters. N below is the length of the period: M
without and M - 1 with `sym`.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, Signature, signature
from math import pi

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, LayoutLike
from tapegrad.core.dtype import default, float32, float64
from tapegrad.core.memory_format import strided
from tapegrad.core.missing import public_names
from tapegrad.operators.creation.arange import arange
from tapegrad.operators.creation.linspace_logspace import linspace
from tapegrad.operators.creation.tensor import tensor
from tapegrad.operators.creation.zeros_eye import empty, ones
from tapegrad.operators.pointwise.exp_log import exp
from tapegrad.operators.pointwise.special.bessel import i0

# Sums of waves, whose errors name the function that adds them up.
_SUMS = ("general_hamming", "hamming", "hann", "nuttall")


def _checked(name: str, M: int, dtype: DTypeLike, layout: LayoutLike) -> Any:
    """The dtype of the window, after a look at the arguments."""
    dtype = default() if dtype is None else dtype
    if M < 0:
        raise errors.value_error(
            f"{name} requires non-negative window length, got M={M}", "Give the number of points."
        )
    if layout is not strided:
        raise errors.value_error(
            f"{name} is implemented for strided tensors only, got: {layout}", "Leave layout= away."
        )
    if dtype not in (float32, float64):
        raise errors.value_error(
            f"{name} expects float32 or float64 dtypes, got: {dtype}",
            "Convert the window afterwards: window.half().",
        )
    return dtype


def _window(function: Callable) -> Callable:
    """A window as users call it, from one that takes its length, `sym` and options of the result.

    Keyword arguments of its own that `function` has come first.
    """

    name = "general_cosine" if function.__name__ in _SUMS else function.__name__

    @wraps(function)
    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: DTypeLike = None,
        layout: LayoutLike = strided,
        device: DeviceLike = None,
        requires_grad: bool = False,
        **own: Any,
    ) -> Any:
        dtype = _checked(name, M, dtype, layout)
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return function(M, sym, options, **own)

    length, *shared, _ = signature(window, follow_wrapped=False).parameters.values()
    own = [p for p in signature(function).parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
    result: Any = window
    result.__signature__ = Signature([length, *own, *shared], return_annotation="Any")
    return result


def _short(M: int, options: dict) -> Any:
    """A window of no point, or of one."""
    return ones((1,), **options) if M else empty((0,), **options)


@_window
def general_cosine(M: int, sym: bool, options: dict, *, a: Iterable) -> Any:
    """A sum of waves: `sum over i of (-1)^i a[i] cos(2 pi i n / N)`.

    >>> torch.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    if M < 2:
        return _short(M, options)
    if not isinstance(a, Iterable):
        raise errors.type_error(
            "Coefficients must be a list/tuple", "Pass one number for each wave."
        )
    if not a:
        raise errors.value_error("Coefficients cannot be empty", "Pass one number for each wave.")
    k = linspace(0, (M - 1) * (2 * pi / (M - 1 if sym else M)), M, **options)
    signed = [(-1) ** i * weight for i, weight in enumerate(a)]
    weights = tensor(signed, dtype=options["dtype"], requires_grad=options["requires_grad"])
    i = arange(len(signed), dtype=options["dtype"])
    return (weights.unsqueeze(-1) * (i.unsqueeze(-1) * k).cos()).sum(0)


@_window
def general_hamming(M: int, sym: bool, options: dict, *, alpha: float = 0.54) -> Any:
    """One wave on a floor: `alpha - (1 - alpha) cos(2 pi n / N)`.

    >>> torch.signal.windows.general_hamming(5, alpha=0.6)
    tensor([0.2000, 0.6000, 1.0000, 0.6000, 0.2000])
    """
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


@_window
def hamming(M: int, sym: bool, options: dict) -> Any:
    """`0.54 - 0.46 cos(2 pi n / N)`.

    >>> torch.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    return general_hamming(M, sym=sym, **options)


@_window
def hann(M: int, sym: bool, options: dict) -> Any:
    """`(1 - cos(2 pi n / N)) / 2`.

    >>> torch.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(M, alpha=0.5, sym=sym, **options)


@_window
def blackman(M: int, sym: bool, options: dict) -> Any:
    """`0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)`.

    >>> torch.signal.windows.blackman(5, dtype=torch.float64).sum()
    tensor(1.6800, dtype=torch.float64)
    """
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


@_window
def nuttall(M: int, sym: bool, options: dict) -> Any:
    """The four waves of Nuttall's minimal side lobes.

    Source: A. Nuttall, "Some windows with very good sidelobe behavior", 1981.

    >>> torch.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])
    """
    a = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=a, sym=sym, **options)


@_window
def bartlett(M: int, sym: bool, options: dict) -> Any:
    """A triangle from 0 to 1 and back: `1 - |2 n / N - 1|`.

    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    if M < 2:
        return _short(M, options)
    end = -1 + (M - 1) * 2 / (M - 1 if sym else M)
    return 1 - linspace(-1, end, M, **options).abs()


@_window
def cosine(M: int, sym: bool, options: dict) -> Any:
    """Half a wave, without its zeros: `sin(pi (n + 1/2) / (N + 1))`.

    >>> torch.signal.windows.cosine(4)
    tensor([0.3827, 0.9239, 0.9239, 0.3827])
    """
    if M == 0:
        return _short(M, options)
    step = pi / (M if sym or M == 1 else M + 1)
    return linspace(0.5 * step, (0.5 + (M - 1)) * step, M, **options).sin()


@_window
def exponential(
    M: int, sym: bool, options: dict, *, center: float | None = None, tau: float = 1.0
) -> Any:
    """Decay to both sides of the center: `exp(-|n - center| / tau)`; by default it is N / 2.

    >>> torch.signal.windows.exponential(5)
    tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])
    """
    if tau <= 0:
        raise errors.value_error(f"Tau must be positive, got: {tau} instead.", "It is a distance.")
    if sym and center is not None:
        raise errors.value_error("Center must be None for symmetric windows", "Pass sym=False.")
    if M == 0:
        return _short(M, options)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    k = linspace(-center / tau, (-center + (M - 1)) / tau, M, **options)
    return exp(-k.abs())


@_window
def gaussian(M: int, sym: bool, options: dict, *, std: float = 1.0) -> Any:
    """A bell: `exp(-((n - N/2) / std)^2 / 2)`.

    >>> torch.signal.windows.gaussian(5)
    tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])
    """
    if std <= 0:
        raise errors.value_error(
            f"Standard deviation must be positive, got: {std} instead.",
            "It is the width of the bell.",
        )
    if M == 0:
        return _short(M, options)
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    step = 1 / (std * 2**0.5)
    k = linspace(start * step, (start + (M - 1)) * step, M, **options)
    return exp(-(k**2))


@_window
def kaiser(M: int, sym: bool, options: dict, *, beta: float = 12.0) -> Any:
    """Nearly all energy in the main lobe: `I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta)`.

    Source: J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function",
    1974.

    >>> torch.signal.windows.kaiser(5, beta=3.0)
    tensor([0.2049, 0.7269, 1.0000, 0.7269, 0.2049])
    """
    if beta < 0:
        raise errors.value_error(
            f"beta must be non-negative, got: {beta} instead.", "It says how fast the window fades."
        )
    if M < 2:
        return _short(M, options)
    step = 2.0 * beta / (M - 1 if sym else M)
    end = min(beta, -beta + (M - 1) * step)
    k = linspace(-beta, end, M, **options)
    return i0((beta * beta - k**2).sqrt()) / i0(tensor(beta, dtype=options["dtype"]))


__all__ = public_names(globals())
