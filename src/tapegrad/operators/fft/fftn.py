"""Fourier transforms along several dimensions, one after the other."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Dim, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.family import family
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.fft import fft
from tapegrad.operators.pointwise.real_imag_conj_angle import conj, conj_physical

_LAST_TWO = (-2, -1)


@family
def _along(name: str, compute: Callable, dims: Dim = None) -> Callable:
    """What `compute(name, input, s, dim, norm, out)` gives, by default along `dims`."""

    def transformed(
        input: Tensor, s: Any = None, dim: Dim = dims, norm: Any = None, *, out: Out = None
    ) -> Any:
        fft.check_arguments(name, input, norm)
        if dim is None and dims is not None:
            raise errors.must_be(f"fft_{name}", "dim", 0, "tuple of ints", dim)
        kind = "r2c" if name.startswith("rfft") else "c2c"
        return fft.put(kind, compute(name, input, s, dim, norm, out), out)

    return transformed


def _complex(forward: bool) -> Callable:
    def compute(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
        axes, sizes = fft.grid(name, input, s, dim)
        x = fft.resized(fft.prepared(input, True), axes, sizes)
        scale = fft.scale_of(norm, forward)
        fft.check_out(name, out, complex=True)
        return fft.transform(x, axes=axes, scale=scale, forward=forward)

    return compute


def _halved(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> tuple:
    if name.startswith("rfft"):
        fft.require_real(name, input)
    axes, sizes = fft.grid(name, input, s, dim)
    fft.require_axes(name, axes)
    fft.require_real(name, input)
    x = fft.resized(fft.prepared(input), axes, sizes)
    fft.scale_of(norm, True)  # a wrong one is refused before out=
    fft.check_out(name, out, complex=True)
    return x, axes


def _completed(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> tuple:
    """Half a spectrum or signal, its axes, and how many points the last of them has in the end."""
    axes, sizes = fft.grid(name, input, s, dim)
    fft.require_axes(name, axes)
    last = sizes[-1]
    if last is None:
        last = 2 * (input._array.shape[axes[-1]] - 1)
    else:
        sizes[-1] = last // 2 + 1
    fft.require_points(last)
    x = fft.resized(fft.prepared(input, True), axes, sizes)
    fft.scale_of(norm, True)  # a wrong one is refused before out=
    fft.check_out(name, out, complex=False)
    return x, axes, last


@autocast
@_along("fftn", _complex(True))
def fftn() -> Any:
    """The discrete Fourier transform along `dim`, by default all dimensions.

    `s` gives the points along each: the input is cut off or filled up with zeros to that.

    Shape: the input's, with `s` (if given) at `dim`.

    >>> torch.fft.fftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]])
    """


@autocast
@_along("ifftn", _complex(False))
def ifftn() -> Any:
    """The inverse of `fftn`.

    Shape: the input's, with `s` (if given) at `dim`.

    >>> torch.fft.ifftn(torch.fft.fftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1.+0.j, 2.+0.j],
            [3.+0.j, 4.+0.j]])
    """


@autocast
@_along("fft2", _complex(True), _LAST_TWO)
def fft2() -> Any:
    """`fftn` along the last two dimensions.

    Shape: the input's, with `s` (if given) at `dim`.

    >>> torch.fft.fft2(torch.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """


@autocast
@_along("ifft2", _complex(False), _LAST_TWO)
def ifft2() -> Any:
    """`ifftn` along the last two dimensions.

    Shape: the input's, with `s` (if given) at `dim`.

    >>> torch.fft.ifft2(torch.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """


def _rfftn(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
    x, axes = _halved(name, input, s, dim, norm, out)
    return fft.from_real(x, axes=axes, scale=fft.scale_of(norm, True), half=True)


@autocast
@_along("rfftn", _rfftn)
def rfftn() -> Any:
    """`fftn` of real numbers; of the last dimension in `dim` the first N // 2 + 1 points.

    Shape: the input's, with `s` (if given) at `dim`, N // 2 + 1 at its last one.
    Raises: RuntimeError for complex numbers.

    >>> torch.fft.rfftn(torch.ones(4, 6)).shape
    torch.Size([4, 4])
    """


@autocast
@_along("rfft2", _rfftn, _LAST_TWO)
def rfft2() -> Any:
    """`rfftn` along the last two dimensions.

    Shape: the input's, with `s` (if given) at `dim`, N // 2 + 1 at its last one.

    >>> torch.fft.rfft2(torch.ones(3, 4, 6)).shape
    torch.Size([3, 4, 4])
    """


def _irfftn(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
    x, axes, last = _completed(name, input, s, dim, norm, out)
    return fft.to_real(x, axes=axes, scale=fft.scale_of(norm, False), size=last)


@autocast
@_along("irfftn", _irfftn)
def irfftn() -> Any:
    """The inverse of `rfftn`, real; `s` gives the points of the result.

    Shape: the input's, with `s` at `dim`, by default 2 (size - 1) at its last one.

    >>> torch.fft.irfftn(torch.fft.rfftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """


@autocast
@_along("irfft2", _irfftn, _LAST_TWO)
def irfft2() -> Any:
    """`irfftn` along the last two dimensions.

    Shape: the input's, with `s` at `dim`, by default 2 (size - 1) at its last one.

    >>> torch.fft.irfft2(torch.ones(3, 4, 4)).shape
    torch.Size([3, 4, 6])
    """


def _hfftn(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
    x, axes, last = _completed(name, input, s, dim, norm, out)
    scale = fft.scale_of(norm, True)
    if len(axes) > 1:
        x = fft.transform(x, axes=axes[:-1], scale=scale, forward=True)
    return fft.to_real(conj(x), axes=axes[-1:], scale=scale, size=last)


@require_tensors
@_along("hfftn", _hfftn)
def hfftn() -> Any:
    """`fftn` of a signal of which half, conjugate to the rest, is left away: real.

    Left away is the second half along the last dimension in `dim`.

    Shape: the input's, with `s` at `dim`, by default 2 (size - 1) at its last one.

    >>> torch.fft.hfftn(torch.fft.ihfftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """


@require_tensors
@_along("hfft2", _hfftn, _LAST_TWO)
def hfft2() -> Any:
    """`hfftn` along the last two dimensions.

    Shape: the input's, with `s` at `dim`, by default 2 (size - 1) at its last one.

    >>> torch.fft.hfft2(torch.ones(3, 4, 4)).shape
    torch.Size([3, 4, 6])
    """


def _ihfftn(name: str, input: Tensor, s: Any, dim: Dim, norm: Any, out: Out) -> Any:
    x, axes = _halved(name, input, s, dim, norm, out)
    scale = fft.scale_of(norm, False)
    found = fft.from_real(x, axes=axes[-1:], scale=scale, half=True)
    if len(axes) == 1:
        return conj(found)
    return fft.transform(conj_physical(found), axes=axes[:-1], scale=scale, forward=False)


@require_tensors
@_along("ihfftn", _ihfftn)
def ihfftn() -> Any:
    """The inverse of `hfftn`: of real numbers, without the half that is conjugate to the rest.

    Shape: the input's, with `s` (if given) at `dim`, N // 2 + 1 at its last one.

    >>> torch.fft.ihfftn(torch.ones(4, 6)).shape
    torch.Size([4, 4])
    """


@require_tensors
@_along("ihfft2", _ihfftn, _LAST_TWO)
def ihfft2() -> Any:
    """`ihfftn` along the last two dimensions.

    Shape: the input's, with `s` (if given) at `dim`, N // 2 + 1 at its last one.

    >>> torch.fft.ihfft2(torch.ones(3, 4, 6)).shape
    torch.Size([3, 4, 4])
    """
