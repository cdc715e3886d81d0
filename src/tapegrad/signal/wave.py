"""Windows that are sums of waves: general_cosine and those of fixed coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi
from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import DeviceLike, DTypeLike, LayoutLike
from tapegrad.core.memory_format import strided
from tapegrad.operators.creation.arange import arange
from tapegrad.operators.creation.linspace_logspace import linspace
from tapegrad.operators.creation.tensor import tensor
from tapegrad.signal.check import checked, short


def general_cosine(
    M: int,
    *,
    a: Iterable,
    sym: bool = True,
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Any:
    """A sum of waves: `sum over i of (-1)^i a[i] cos(2 pi i n / N)`.

    >>> torch.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    dtype = checked("general_cosine", M, dtype, layout)
    options: dict[str, Any] = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return short(M, options)
    if not isinstance(a, Iterable):
        raise errors.type_error(
            "Coefficients must be a list/tuple", "Pass one number for each wave."
        )
    if not a:
        raise errors.value_error("Coefficients cannot be empty", "Pass one number for each wave.")
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
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
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
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
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
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
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
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Any:
    """`0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)`.

    >>> torch.signal.windows.blackman(5, dtype=torch.float64).sum()
    tensor(1.6800, dtype=torch.float64)
    """
    checked("blackman", M, dtype, layout)
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
    dtype: DTypeLike = None,
    layout: LayoutLike = strided,
    device: DeviceLike = None,
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
