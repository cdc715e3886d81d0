"""Matrices of the powers of numbers."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.operators.linalg.matrix_check import check_tensors
from tapegrad.operators.shape.cat_stack import cat

__torch__ = "vander"


@require_tensors
def linalg_vander(x: Tensor, *, N: Any = None) -> Any:
    """The powers 0 to N - 1 of each number along a new last dimension.

    N is n by default.

    Shape: (..., n) to (..., n, N).
    Raises: RuntimeError for an `N` of 1 or less, or truth values.

    >>> torch.linalg.vander(torch.tensor([2, 3]), N=4)
    tensor([[ 1,  2,  4,  8],
            [ 1,  3,  9, 27]])
    """
    check_tensors("linalg_vander", x=x)
    dtype = x.dtype
    if dtype.name in ("bool", "float16", "bfloat16"):
        raise errors.runtime_error(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{dtype.scalar_name}",
            "Convert it first: x.float().",
        )
    if N is not None and (isinstance(N, bool) or not hasattr(N, "__index__")):
        raise errors.must_be("linalg_vander", "N", 0, "int", N)
    n = (x.shape[-1] if x.ndim else 1) if N is None else N.__index__()
    if n <= 1:
        raise errors.runtime_error("N must be greater than 1.", "It is the number of powers.")
    return _powers(x if x.ndim else x.reshape(1), n)


def _powers(x: Tensor, n: int) -> Any:
    """Running products, after a column of ones."""
    column = x.unsqueeze(-1)
    ones = column.new_ones(column.shape, dtype=x.new_empty(0).cumprod(0).dtype)
    if n == 1:
        return ones  # which does not depend on the numbers
    products = column.expand(*x.shape, n - 1).cumprod(-1)
    return cat([ones, products], -1)


@require_tensors
def vander(x: Tensor, N: Any = None, increasing: bool = False) -> Any:
    """The powers of each number of a vector: (n,) to (n, N), the highest first by default.

    N is n by default. With increasing=True the powers are 0 to N - 1.

    Shape: (n,) to (n, N).
    Raises: RuntimeError for more than one dimension, or a negative `N`.

    >>> torch.vander(torch.tensor([2, 3]), 4)
    tensor([[ 8,  4,  2,  1],
            [27,  9,  3,  1]])
    """
    check_tensors("vander", x=x)
    if x.ndim != 1:
        text = "x must be a one-dimensional tensor."
        raise errors.runtime_error(text, "torch.linalg.vander takes batches.")
    n = x.shape[0] if N is None else N
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise errors.must_be("vander", "N", 2, "int", n)
    if n < 0:
        raise errors.runtime_error("N must be non-negative.", "It is the number of powers.")
    if n == 0:
        whole = x.new_empty(0).cumprod(0).dtype
        return x.new_empty((x.shape[0], 0), dtype=whole)
    found = _powers(x, n)
    return found if increasing else found.flip(1)
