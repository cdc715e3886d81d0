"""Conjugate and negative views of arrays."""

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array
from tapegrad.core.conj_neg_view import turned


@kernel
def conj_view(x: Array) -> Any:
    """Complex numbers, read conjugated from their memory: a view; real numbers as they are."""
    return turned(x, x.dtype.kind == "c", False)


@kernel
def neg_view(x: Array) -> Any:
    """Numbers, read with the other sign from their memory: a view."""
    return turned(x, False, True)
