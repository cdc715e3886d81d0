"""Fourier transforms along one dimension."""

from __future__ import annotations

from typing import Any

from tapegrad.core.annotations import Dim, Out, TensorLike
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.fft.fft_rules import (
    check_out,
    from_real,
    line,
    prepared,
    put,
    require_points,
    resized,
    scale_of,
    to_real,
    transform,
)
from tapegrad.operators.pointwise.real_imag_conj_angle import conj


def _complex(
    name: str, input: TensorLike, n: Any, dim: Dim, norm: Any, out: Out, forward: bool
) -> Any:
    x = prepared(name, input, norm)
    check_out(name, out, complex=True)
    axis, size = line(name, x, n, dim)
    x = resized(x, (axis,), [size])
    scale = scale_of(norm, forward)
    if x.dtype.is_complex:
        result = transform(x, axes=(axis,), scale=scale, forward=forward)
    else:
        result = from_real(x, axes=(axis,), scale=scale, half=False)
        result = result if forward else conj(result)
    return put(name, result, out)


def _half(
    name: str, input: TensorLike, n: Any, dim: Dim, norm: Any, out: Out, forward: bool
) -> Any:
    x = prepared(name, input, norm, "real")
    check_out(name, out, complex=True)
    axis, size = line(name, x, n, dim)
    x = resized(x, (axis,), [size])
    result = from_real(x, axes=(axis,), scale=scale_of(norm, forward), half=True)
    return put(name, result if forward else conj(result), out)


def _real(
    name: str, input: TensorLike, n: Any, dim: Dim, norm: Any, out: Out, forward: bool
) -> Any:
    x = prepared(name, input, norm, "complex")
    check_out(name, out, complex=False)
    axis, size = line(name, x, n, dim)
    if size is None:
        size = 2 * (x._array.shape[axis] - 1)
        half = None
    else:
        half = size // 2 + 1
    require_points(size)
    x = resized(x, (axis,), [half])
    scale = scale_of(norm, forward)
    result = to_real(conj(x) if forward else x, axes=(axis,), scale=scale, size=size)
    return put(name, result, out)


@autocast
def fft(
    input: TensorLike, n: Any = None, dim: int = -1, norm: Any = None, *, out: Out = None
) -> Any:
    """The discrete Fourier transform along `dim`.

    `y[k] = sum over n of x[n] exp(-2 pi i k n / N)`. The input is cut off or filled up with zeros
    to `n` points first. `norm` divides the sums: by nothing ("backward", the default), by N
    ("forward") or by its root ("ortho").

    >>> torch.fft.fft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return _complex("fft", input, n, dim, norm, out, True)


@autocast
def ifft(
    input: TensorLike, n: Any = None, dim: int = -1, norm: Any = None, *, out: Out = None
) -> Any:
    """The inverse of `fft`: the other sign of the exponent, and divided by N.

    `x[n] = 1 / N times the sum over k of y[k] exp(2 pi i k n / N)`

    >>> torch.fft.ifft(torch.tensor([10 + 0j, -2 + 2j, -2 + 0j, -2 - 2j]))
    tensor([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j])
    """
    return _complex("ifft", input, n, dim, norm, out, False)


@autocast
def rfft(
    input: TensorLike, n: Any = None, dim: int = -1, norm: Any = None, *, out: Out = None
) -> Any:
    """`fft` of real numbers: the first N // 2 + 1 points, to which the others are conjugate.

    >>> torch.fft.rfft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return _half("rfft", input, n, dim, norm, out, True)


@autocast
def irfft(
    input: TensorLike, n: Any = None, dim: int = -1, norm: Any = None, *, out: Out = None
) -> Any:
    """The inverse of `rfft`, real; `n` points, by default twice those given, less two.

    >>> torch.fft.irfft(torch.tensor([10 + 0j, -2 + 2j, -2 + 0j]))
    tensor([1., 2., 3., 4.])
    """
    return _real("irfft", input, n, dim, norm, out, False)


@autocast
def hfft(
    input: TensorLike, n: Any = None, dim: int = -1, norm: Any = None, *, out: Out = None
) -> Any:
    """`fft` of a signal of which the second half, conjugate to the first, is left away: real.

    >>> torch.fft.hfft(torch.tensor([2.5 + 0j, -0.5 - 0.5j, -0.5 + 0j]))
    tensor([1., 2., 3., 4.])
    """
    return _real("hfft", input, n, dim, norm, out, True)


@autocast
def ihfft(
    input: TensorLike, n: Any = None, dim: int = -1, norm: Any = None, *, out: Out = None
) -> Any:
    """The inverse of `hfft`: of real numbers, without the half that is conjugate to the rest.

    >>> torch.fft.ihfft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([ 2.5000-0.0000j, -0.5000-0.5000j, -0.5000-0.0000j])
    """
    return _half("ihfft", input, n, dim, norm, out, False)
