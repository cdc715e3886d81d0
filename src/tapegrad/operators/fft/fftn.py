"""Fourier transforms along several dimensions, one after the other."""

from tapegrad.core.annotations import Any, Callable, Dim, Out, Tensor
from tapegrad.core.family import family
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.fft import fft
from tapegrad.operators.pointwise.real_imag_conj_angle import conj, conj_physical

_LAST_TWO = (-2, -1)


@family
def _complex(name: str, forward: bool, dims: Dim) -> Callable:
    def transformed(
        input: Tensor, s: Any = None, dim: Dim = dims, norm: Any = None, *, out: Out = None
    ) -> Any:
        x = fft.prepared(name, input, norm, "complex")
        fft.check_out(name, out, complex=True)
        axes, sizes = fft.grid(name, x, s, dim)
        x = fft.resized(x, axes, sizes)
        scale = fft.scale_of(norm, forward)
        return fft.put(name, fft.transform(x, axes=axes, scale=scale, forward=forward), out)

    return transformed


def _halved(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> tuple:
    x = fft.prepared(name, input, norm, "real")
    fft.check_out(name, out, complex=True)
    axes, sizes = fft.grid(name, x, s, dim)
    fft.require_axes(name, axes)
    return fft.resized(x, axes, sizes), axes


def _completed(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> tuple:
    """Half a spectrum or signal, its axes, and how many points the last of them has in the end."""
    x = fft.prepared(name, input, norm, "complex")
    fft.check_out(name, out, complex=False)
    axes, sizes = fft.grid(name, x, s, dim)
    fft.require_axes(name, axes)
    last = sizes[-1]
    if last is None:
        last = 2 * (x._array.shape[axes[-1]] - 1)
    else:
        sizes[-1] = last // 2 + 1
    fft.require_points(last)
    return fft.resized(x, axes, sizes), axes, last


@autocast
@_complex("fftn", True, None)
def fftn() -> Any:
    """The discrete Fourier transform along `dim`, by default all dimensions.

    `s` gives the points along each: the input is cut off or filled up with zeros to that.

    Shape: the input's, with `s` (if given) at `dim`.

    >>> torch.fft.fftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]])
    """


@autocast
@_complex("ifftn", False, None)
def ifftn() -> Any:
    """The inverse of `fftn`.

    Shape: the input's, with `s` (if given) at `dim`.

    >>> torch.fft.ifftn(torch.fft.fftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1.+0.j, 2.+0.j],
            [3.+0.j, 4.+0.j]])
    """


@autocast
@_complex("fft2", True, _LAST_TWO)
def fft2() -> Any:
    """`fftn` along the last two dimensions.

    Shape: the input's, with `s` (if given) at `dim`.

    >>> torch.fft.fft2(torch.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """


@autocast
@_complex("ifft2", False, _LAST_TWO)
def ifft2() -> Any:
    """`ifftn` along the last two dimensions.

    Shape: the input's, with `s` (if given) at `dim`.

    >>> torch.fft.ifft2(torch.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """


@family
def _rfftn(name: str, dims: Dim) -> Callable:
    def transformed(
        input: Tensor, s: Any = None, dim: Dim = dims, norm: Any = None, *, out: Out = None
    ) -> Any:
        x, axes = _halved(name, input, s, dim, norm, out)
        return fft.put(
            name, fft.from_real(x, axes=axes, scale=fft.scale_of(norm, True), half=True), out
        )

    return transformed


@autocast
@_rfftn("rfftn", None)
def rfftn() -> Any:
    """`fftn` of real numbers; of the last dimension in `dim` the first N // 2 + 1 points.

    Shape: the input's, with `s` (if given) at `dim`, N // 2 + 1 at its last one.
    Raises: RuntimeError for complex numbers.

    >>> torch.fft.rfftn(torch.ones(4, 6)).shape
    torch.Size([4, 4])
    """


@autocast
@_rfftn("rfft2", _LAST_TWO)
def rfft2() -> Any:
    """`rfftn` along the last two dimensions.

    Shape: the input's, with `s` (if given) at `dim`, N // 2 + 1 at its last one.

    >>> torch.fft.rfft2(torch.ones(3, 4, 6)).shape
    torch.Size([3, 4, 4])
    """


@family
def _irfftn(name: str, dims: Dim) -> Callable:
    def transformed(
        input: Tensor, s: Any = None, dim: Dim = dims, norm: Any = None, *, out: Out = None
    ) -> Any:
        x, axes, last = _completed(name, input, s, dim, norm, out)
        return fft.put(
            name, fft.to_real(x, axes=axes, scale=fft.scale_of(norm, False), size=last), out
        )

    return transformed


@autocast
@_irfftn("irfftn", None)
def irfftn() -> Any:
    """The inverse of `rfftn`, real; `s` gives the points of the result.

    Shape: the input's, with `s` at `dim`, by default 2 (size - 1) at its last one.

    >>> torch.fft.irfftn(torch.fft.rfftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """


@autocast
@_irfftn("irfft2", _LAST_TWO)
def irfft2() -> Any:
    """`irfftn` along the last two dimensions.

    Shape: the input's, with `s` at `dim`, by default 2 (size - 1) at its last one.

    >>> torch.fft.irfft2(torch.ones(3, 4, 4)).shape
    torch.Size([3, 4, 6])
    """


@family
def _hfftn(name: str, dims: Dim) -> Callable:
    def transformed(
        input: Tensor, s: Any = None, dim: Dim = dims, norm: Any = None, *, out: Out = None
    ) -> Any:
        x, axes, last = _completed(name, input, s, dim, norm, out)
        scale = fft.scale_of(norm, True)
        if len(axes) > 1:
            x = fft.transform(x, axes=axes[:-1], scale=scale, forward=True)
        return fft.put(name, fft.to_real(conj(x), axes=axes[-1:], scale=scale, size=last), out)

    return transformed


@_hfftn("hfftn", None)
def hfftn() -> Any:
    """`fftn` of a signal of which half, conjugate to the rest, is left away: real.

    Left away is the second half along the last dimension in `dim`.

    Shape: the input's, with `s` at `dim`, by default 2 (size - 1) at its last one.

    >>> torch.fft.hfftn(torch.fft.ihfftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """


@_hfftn("hfft2", _LAST_TWO)
def hfft2() -> Any:
    """`hfftn` along the last two dimensions.

    Shape: the input's, with `s` at `dim`, by default 2 (size - 1) at its last one.

    >>> torch.fft.hfft2(torch.ones(3, 4, 4)).shape
    torch.Size([3, 4, 6])
    """


@family
def _ihfftn(name: str, dims: Dim) -> Callable:
    def transformed(
        input: Tensor, s: Any = None, dim: Dim = dims, norm: Any = None, *, out: Out = None
    ) -> Any:
        x, axes = _halved(name, input, s, dim, norm, out)
        scale = fft.scale_of(norm, False)
        found = fft.from_real(x, axes=axes[-1:], scale=scale, half=True)
        if len(axes) == 1:
            return fft.put(name, conj(found), out)
        found = fft.transform(conj_physical(found), axes=axes[:-1], scale=scale, forward=False)
        return fft.put(name, found, out)

    return transformed


@_ihfftn("ihfftn", None)
def ihfftn() -> Any:
    """The inverse of `hfftn`: of real numbers, without the half that is conjugate to the rest.

    Shape: the input's, with `s` (if given) at `dim`, N // 2 + 1 at its last one.

    >>> torch.fft.ihfftn(torch.ones(4, 6)).shape
    torch.Size([4, 4])
    """


@_ihfftn("ihfft2", _LAST_TWO)
def ihfft2() -> Any:
    """`ihfftn` along the last two dimensions.

    Shape: the input's, with `s` (if given) at `dim`, N // 2 + 1 at its last one.

    >>> torch.fft.ihfft2(torch.ones(3, 4, 6)).shape
    torch.Size([3, 4, 4])
    """
