"""The Tensor namespace: the array standard's names for tensors.

Rules run on it when a derivative is itself differentiated, and array-API libraries find it through
`Tensor.__array_namespace__`. Every name here is an operator under its standard name and arguments.
"""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.tensor_elementwise import *
from tapegrad.arrays.tensor_index import *
from tapegrad.arrays.tensor_linalg import *
from tapegrad.arrays.tensor_reduce import *
from tapegrad.arrays.tensor_shape import *
from tapegrad.ops import create, reduce
from tapegrad.shape import axes_of


def zeros(size: Any, *, dtype: Any = None) -> Any:
    return create.zeros(size, dtype=dtype)


def zeros_like(x: Any, /, *, dtype: Any = None) -> Any:
    return create.zeros(x.shape, dtype=dtype or x.dtype)


def ones_like(x: Any, /, *, dtype: Any = None) -> Any:
    return create.ones(x.shape, dtype=dtype or x.dtype)
