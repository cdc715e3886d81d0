# Written by `python -m tools.stubs`.

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence

from tapegrad.core.annotations import DeviceLike, DTypeLike, LayoutLike, Out
from tapegrad.tensors.tensor import Tensor

def fft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def fft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def fftfreq(
    n: _int,
    d: _float = 1.0,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def fftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def fftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor: ...
def hfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def hfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def hfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def ifft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def ifft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def ifftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def ifftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor: ...
def ihfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def ihfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def ihfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def irfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def irfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def irfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def rfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def rfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
def rfftfreq(
    n: _int,
    d: _float = 1.0,
    *,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: _bool | None = None,
    out: Out = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def rfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Out = None,
) -> Tensor: ...
