"""Windows: weights that fade a stretch of a signal in and out.

Each is a function of n = 0, ..., M - 1. With `sym=False` it is periodic, for spectra: the first M
of M + 1 points; with `sym=True` symmetric, for filters. N below is the length of the period: M
without and M - 1 with `sym`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi
from typing import Any

from tapegrad import errors
from tapegrad.arrangement import strided
from tapegrad.dtype import default, float32, float64
from tapegrad.ops.bessel import i0
from tapegrad.ops.create import empty, ones
from tapegrad.ops.data import tensor
from tapegrad.ops.exponential import exp
from tapegrad.ops.interval import arange
from tapegrad.ops.spacing import linspace

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _checked(name: str, M: int, dtype: Any, layout: Any) -> Any:
    """The dtype of the window, after a look at the arguments."""
    dtype = default() if dtype is None else dtype
    if M < 0:
        raise errors.advised(
            ValueError(f"{name} requires non-negative window length, got M={M}"),
            "Give the number of points.",
        )
    if layout is not strided:
        raise errors.advised(
            ValueError(f"{name} is implemented for strided tensors only, got: {layout}"),
            "Leave layout= away.",
        )
    if dtype not in (float32, float64):
        raise errors.advised(
            ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}"),
            "Convert the window afterwards: window.half().",
        )
    return dtype


def _short(M: int, options: dict) -> Any:
    """A window of no point, or of one."""
    return ones((1,), **options) if M else empty((0,), **options)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A triangle from 0 to 1 and back: `1 - |2 n / N - 1|`.

    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    dtype = _checked("bartlett", M, dtype, layout)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return _short(M, options)
    end = -1 + (M - 1) * 2 / (M - 1 if sym else M)
    return 1 - linspace(-1, end, M, **options).abs()


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Half a wave, without its zeros: `sin(pi (n + 1/2) / (N + 1))`.

    >>> torch.signal.windows.cosine(4)
    tensor([0.3827, 0.9239, 0.9239, 0.3827])
    """
    dtype = _checked("cosine", M, dtype, layout)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return _short(M, options)
    step = pi / (M if sym or M == 1 else M + 1)
    return linspace(0.5 * step, (0.5 + (M - 1)) * step, M, **options).sin()


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Decay to both sides of the center: `exp(-|n - center| / tau)`; by default it is N / 2.

    >>> torch.signal.windows.exponential(5)
    tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])
    """
    dtype = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise errors.advised(
            ValueError(f"Tau must be positive, got: {tau} instead."), "It is a distance."
        )
    if sym and center is not None:
        raise errors.advised(
            ValueError("Center must be None for symmetric windows"), "Pass sym=False."
        )
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return _short(M, options)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    k = linspace(-center / tau, (-center + (M - 1)) / tau, M, **options)
    return exp(-k.abs())


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A bell: `exp(-((n - N/2) / std)^2 / 2)`.

    >>> torch.signal.windows.gaussian(5)
    tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])
    """
    dtype = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise errors.advised(
            ValueError(f"Standard deviation must be positive, got: {std} instead."),
            "It is the width of the bell.",
        )
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return _short(M, options)
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    step = 1 / (std * 2**0.5)
    k = linspace(start * step, (start + (M - 1)) * step, M, **options)
    return exp(-(k**2))


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Nearly all energy in the main lobe: `I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta)`.

    Source: J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function",
    1974.

    >>> torch.signal.windows.kaiser(5, beta=3.0)
    tensor([0.2049, 0.7269, 1.0000, 0.7269, 0.2049])
    """
    dtype = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise errors.advised(
            ValueError(f"beta must be non-negative, got: {beta} instead."),
            "It says how fast the window fades.",
        )
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return _short(M, options)
    step = 2.0 * beta / (M - 1 if sym else M)
    end = min(beta, -beta + (M - 1) * step)
    k = linspace(-beta, end, M, **options)
    return i0((beta * beta - k**2).sqrt()) / i0(tensor(beta, dtype=dtype))


def general_cosine(
    M: int,
    *,
    a: Iterable,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A sum of waves: `sum over i of (-1)^i a[i] cos(2 pi i n / N)`.

    >>> torch.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    dtype = _checked("general_cosine", M, dtype, layout)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return _short(M, options)
    if not isinstance(a, Iterable):
        raise errors.advised(
            TypeError("Coefficients must be a list/tuple"), "Pass one number for each wave."
        )
    if not a:
        raise errors.advised(
            ValueError("Coefficients cannot be empty"), "Pass one number for each wave."
        )
    k = linspace(0, (M - 1) * (2 * pi / (M - 1 if sym else M)), M, **options)
    signed = [(-1) ** i * weight for i, weight in enumerate(a)]
    weights = tensor(signed, dtype=dtype, requires_grad=requires_grad)
    i = arange(len(signed), dtype=dtype)
    return (weights.unsqueeze(-1) * (i.unsqueeze(-1) * k).cos()).sum(0)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """One wave on a floor: `alpha - (1 - alpha) cos(2 pi n / N)`.

    >>> torch.signal.windows.general_hamming(5, alpha=0.6)
    tensor([0.2000, 0.6000, 1.0000, 0.6000, 0.2000])
    """
    return general_cosine(
        M,
        a=[alpha, 1.0 - alpha],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`0.54 - 0.46 cos(2 pi n / N)`.

    >>> torch.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    return general_hamming(
        M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`(1 - cos(2 pi n / N)) / 2`.

    >>> torch.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(
        M,
        alpha=0.5,
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)`.

    >>> torch.signal.windows.blackman(5, dtype=torch.float64).sum()
    tensor(1.6800, dtype=torch.float64)
    """
    _checked("blackman", M, dtype, layout)
    return general_cosine(
        M,
        a=[0.42, 0.5, 0.08],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """The four waves of Nuttall's minimal side lobes.

    Source: A. Nuttall, "Some windows with very good sidelobe behavior", 1981.

    >>> torch.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])
    """
    return general_cosine(
        M,
        a=[0.3635819, 0.4891775, 0.1365995, 0.0106411],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )
