# Written by `python -m tools.stubs`.

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from collections.abc import Iterable
from typing import Any

from tapegrad.tensors.tensor import Tensor

def bartlett(
    M: _int,
    *,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def blackman(
    M: _int,
    *,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def cosine(
    M: _int,
    *,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def exponential(
    M: _int,
    *,
    center: _float | None = None,
    tau: _float = 1.0,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def gaussian(
    M: _int,
    *,
    std: _float = 1.0,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def general_cosine(
    M: _int,
    *,
    a: Iterable[Any],
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def general_hamming(
    M: _int,
    *,
    alpha: _float = 0.54,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def hamming(
    M: _int,
    *,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def hann(
    M: _int,
    *,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def kaiser(
    M: _int,
    *,
    beta: _float = 12.0,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
def nuttall(
    M: _int,
    *,
    sym: _bool = True,
    dtype: Any = None,
    layout: Any = ...,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor: ...
