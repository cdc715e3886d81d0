"""Windows: weights that fade a stretch of a signal in and out.

Each is a function of n = 0, ..., M - 1. With `sym=False` it is periodic, for spectra: the first M
of M + 1 points; with `sym=True` symmetric, for filters. N below is the length of the period: M
without and M - 1 with `sym`.
"""

from __future__ import annotations

from math import pi
from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import DeviceLike, DTypeLike, LayoutLike
from tapegrad.core.memory_format import strided
from tapegrad.operators.creation.linspace_logspace import linspace
from tapegrad.operators.creation.tensor import tensor
from tapegrad.operators.pointwise.exp_log import exp
from tapegrad.operators.pointwise.special.bessel import i0
from tapegrad.signal.check import checked, short
from tapegrad.signal.wave import blackman, general_cosine, general_hamming, hamming, hann, nuttall

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


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Any:
    """A triangle from 0 to 1 and back: `1 - |2 n / N - 1|`.

    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    dtype = checked("bartlett", M, dtype, layout)
    options: dict[str, Any] = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return short(M, options)
    end = -1 + (M - 1) * 2 / (M - 1 if sym else M)
    return 1 - linspace(-1, end, M, **options).abs()


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Any:
    """Half a wave, without its zeros: `sin(pi (n + 1/2) / (N + 1))`.

    >>> torch.signal.windows.cosine(4)
    tensor([0.3827, 0.9239, 0.9239, 0.3827])
    """
    dtype = checked("cosine", M, dtype, layout)
    options: dict[str, Any] = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return short(M, options)
    step = pi / (M if sym or M == 1 else M + 1)
    return linspace(0.5 * step, (0.5 + (M - 1)) * step, M, **options).sin()


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Any:
    """Decay to both sides of the center: `exp(-|n - center| / tau)`; by default it is N / 2.

    >>> torch.signal.windows.exponential(5)
    tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])
    """
    dtype = checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise errors.value_error(f"Tau must be positive, got: {tau} instead.", "It is a distance.")
    if sym and center is not None:
        raise errors.value_error("Center must be None for symmetric windows", "Pass sym=False.")
    options: dict[str, Any] = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return short(M, options)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    k = linspace(-center / tau, (-center + (M - 1)) / tau, M, **options)
    return exp(-k.abs())


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Any:
    """A bell: `exp(-((n - N/2) / std)^2 / 2)`.

    >>> torch.signal.windows.gaussian(5)
    tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])
    """
    dtype = checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise errors.value_error(
            f"Standard deviation must be positive, got: {std} instead.",
            "It is the width of the bell.",
        )
    options: dict[str, Any] = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return short(M, options)
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    step = 1 / (std * 2**0.5)
    k = linspace(start * step, (start + (M - 1)) * step, M, **options)
    return exp(-(k**2))


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Any:
    """Nearly all energy in the main lobe: `I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta)`.

    Source: J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function",
    1974.

    >>> torch.signal.windows.kaiser(5, beta=3.0)
    tensor([0.2049, 0.7269, 1.0000, 0.7269, 0.2049])
    """
    dtype = checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise errors.value_error(
            f"beta must be non-negative, got: {beta} instead.", "It says how fast the window fades."
        )
    options: dict[str, Any] = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return short(M, options)
    step = 2.0 * beta / (M - 1 if sym else M)
    end = min(beta, -beta + (M - 1) * step)
    k = linspace(-beta, end, M, **options)
    return i0((beta * beta - k**2).sqrt()) / i0(tensor(beta, dtype=dtype))
