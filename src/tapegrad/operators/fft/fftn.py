"""Fourier transforms along several dimensions, one after the other."""

from __future__ import annotations

from typing import Any

from tapegrad.core.annotations import Dim, Out, TensorLike
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.fft.fft_rules import (
    check_out,
    from_real,
    grid,
    prepared,
    put,
    require_axes,
    require_points,
    resized,
    scale_of,
    to_real,
    transform,
)
from tapegrad.operators.pointwise.real_imag_conj_angle import conj, conj_physical

_LAST_TWO = (-2, -1)


def _complex(
    name: str, input: TensorLike, s: Any, dim: Dim, norm: Any, out: Out, forward: bool
) -> Any:
    x = prepared(name, input, norm, "complex")
    check_out(name, out, complex=True)
    axes, sizes = grid(name, x, s, dim)
    x = resized(x, axes, sizes)
    return put(name, transform(x, axes=axes, scale=scale_of(norm, forward), forward=forward), out)


def _halved(name: str, input: TensorLike, s: Any, dim: Dim, norm: Any, out: Out) -> tuple:
    x = prepared(name, input, norm, "real")
    check_out(name, out, complex=True)
    axes, sizes = grid(name, x, s, dim)
    require_axes(name, axes)
    return resized(x, axes, sizes), axes


def _completed(name: str, input: TensorLike, s: Any, dim: Dim, norm: Any, out: Out) -> tuple:
    """Half a spectrum or signal, its axes, and how many points the last of them has in the end."""
    x = prepared(name, input, norm, "complex")
    check_out(name, out, complex=False)
    axes, sizes = grid(name, x, s, dim)
    require_axes(name, axes)
    last = sizes[-1]
    if last is None:
        last = 2 * (x._array.shape[axes[-1]] - 1)
    else:
        sizes[-1] = last // 2 + 1
    require_points(last)
    return resized(x, axes, sizes), axes, last


@autocast
def fftn(
    input: TensorLike, s: Any = None, dim: Dim = None, norm: Any = None, *, out: Out = None
) -> Any:
    """The discrete Fourier transform along `dim`, by default all dimensions.

    `s` gives the points along each: the input is cut off or filled up with zeros to that.

    >>> torch.fft.fftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]])
    """
    return _complex("fftn", input, s, dim, norm, out, True)


@autocast
def ifftn(
    input: TensorLike, s: Any = None, dim: Dim = None, norm: Any = None, *, out: Out = None
) -> Any:
    """The inverse of `fftn`.

    >>> torch.fft.ifftn(torch.fft.fftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1.+0.j, 2.+0.j],
            [3.+0.j, 4.+0.j]])
    """
    return _complex("ifftn", input, s, dim, norm, out, False)


@autocast
def fft2(
    input: TensorLike, s: Any = None, dim: Dim = _LAST_TWO, norm: Any = None, *, out: Out = None
) -> Any:
    """`fftn` along the last two dimensions.

    >>> torch.fft.fft2(torch.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """
    return _complex("fft2", input, s, dim, norm, out, True)


@autocast
def ifft2(
    input: TensorLike, s: Any = None, dim: Dim = _LAST_TWO, norm: Any = None, *, out: Out = None
) -> Any:
    """`ifftn` along the last two dimensions.

    >>> torch.fft.ifft2(torch.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """
    return _complex("ifft2", input, s, dim, norm, out, False)


def _rfftn(name: str, input: TensorLike, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
    x, axes = _halved(name, input, s, dim, norm, out)
    return put(name, from_real(x, axes=axes, scale=scale_of(norm, True), half=True), out)


@autocast
def rfftn(
    input: TensorLike, s: Any = None, dim: Dim = None, norm: Any = None, *, out: Out = None
) -> Any:
    """`fftn` of real numbers; of the last dimension in `dim` the first N // 2 + 1 points.

    >>> torch.fft.rfftn(torch.ones(4, 6)).shape
    torch.Size([4, 4])
    """
    return _rfftn("rfftn", input, s, dim, norm, out)


@autocast
def rfft2(
    input: TensorLike, s: Any = None, dim: Dim = _LAST_TWO, norm: Any = None, *, out: Out = None
) -> Any:
    """`rfftn` along the last two dimensions.

    >>> torch.fft.rfft2(torch.ones(3, 4, 6)).shape
    torch.Size([3, 4, 4])
    """
    return _rfftn("rfft2", input, s, dim, norm, out)


def _irfftn(name: str, input: TensorLike, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
    x, axes, last = _completed(name, input, s, dim, norm, out)
    return put(name, to_real(x, axes=axes, scale=scale_of(norm, False), size=last), out)


@autocast
def irfftn(
    input: TensorLike, s: Any = None, dim: Dim = None, norm: Any = None, *, out: Out = None
) -> Any:
    """The inverse of `rfftn`, real; `s` gives the points of the result.

    >>> torch.fft.irfftn(torch.fft.rfftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _irfftn("irfftn", input, s, dim, norm, out)


@autocast
def irfft2(
    input: TensorLike, s: Any = None, dim: Dim = _LAST_TWO, norm: Any = None, *, out: Out = None
) -> Any:
    """`irfftn` along the last two dimensions.

    >>> torch.fft.irfft2(torch.ones(3, 4, 4)).shape
    torch.Size([3, 4, 6])
    """
    return _irfftn("irfft2", input, s, dim, norm, out)


def _hfftn(name: str, input: TensorLike, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
    x, axes, last = _completed(name, input, s, dim, norm, out)
    scale = scale_of(norm, True)
    if len(axes) > 1:
        x = transform(x, axes=axes[:-1], scale=scale, forward=True)
    return put(name, to_real(conj(x), axes=axes[-1:], scale=scale, size=last), out)


def hfftn(
    input: TensorLike, s: Any = None, dim: Dim = None, norm: Any = None, *, out: Out = None
) -> Any:
    """`fftn` of a signal of which half, conjugate to the rest, is left away: real.

    Left away is the second half along the last dimension in `dim`.

    >>> torch.fft.hfftn(torch.fft.ihfftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _hfftn("hfftn", input, s, dim, norm, out)


def hfft2(
    input: TensorLike, s: Any = None, dim: Dim = _LAST_TWO, norm: Any = None, *, out: Out = None
) -> Any:
    """`hfftn` along the last two dimensions.

    >>> torch.fft.hfft2(torch.ones(3, 4, 4)).shape
    torch.Size([3, 4, 6])
    """
    return _hfftn("hfft2", input, s, dim, norm, out)


def _ihfftn(name: str, input: TensorLike, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
    x, axes = _halved(name, input, s, dim, norm, out)
    scale = scale_of(norm, False)
    found = from_real(x, axes=axes[-1:], scale=scale, half=True)
    if len(axes) == 1:
        return put(name, conj(found), out)
    found = transform(conj_physical(found), axes=axes[:-1], scale=scale, forward=False)
    return put(name, found, out)


def ihfftn(
    input: TensorLike, s: Any = None, dim: Dim = None, norm: Any = None, *, out: Out = None
) -> Any:
    """The inverse of `hfftn`: of real numbers, without the half that is conjugate to the rest.

    >>> torch.fft.ihfftn(torch.ones(4, 6)).shape
    torch.Size([4, 4])
    """
    return _ihfftn("ihfftn", input, s, dim, norm, out)


def ihfft2(
    input: TensorLike, s: Any = None, dim: Dim = _LAST_TWO, norm: Any = None, *, out: Out = None
) -> Any:
    """`ihfftn` along the last two dimensions.

    >>> torch.fft.ihfft2(torch.ones(3, 4, 6)).shape
    torch.Size([3, 4, 4])
    """
    return _ihfftn("ihfft2", input, s, dim, norm, out)
