"""Norms under old names: all dimensions but one, the Frobenius norm."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Dim, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import existing_axis
from tapegrad.core.warn_once import warn_once
from tapegrad.dispatch.apply import finish
from tapegrad.operators.dtype_check import require_norm
from tapegrad.operators.reduction.vector_norm import norm

__torch__ = "frobenius_norm norm_except_dim"


@require_tensors
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norm over all dimensions but `dim`, which keep size 1; -1: over all.

    Shape: 1 for each size but that of `dim`; () for -1.

    >>> torch.norm_except_dim(torch.ones(2, 4), 2, 0)
    tensor([[2.],
            [2.]])
    """
    if dim == -1:
        require_norm(v.dtype)
        return norm(v, pow)
    n = v.ndim
    if dim == 0:
        existing_axis(0, n, "Pass dim=-1 for the norm of all elements.")
    rows = v if dim == 0 else v.transpose(0, dim)
    require_norm(v.dtype)
    shape = [1] * n
    shape[dim] = v.shape[dim]
    return norm(rows.reshape(rows.shape[0], -1), pow, 1).view(shape)


@require_tensors
def frobenius_norm(input: Tensor, dim: Dim, keepdim: bool = False, *, out: Out = None) -> Any:
    """The root of the sum of squares over `dim`; an empty list means all dimensions.

    Shape: the input's without `dim`, with `keepdim` of size 1 there.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.frobenius_norm(torch.tensor([[3.0, 4.0]]), 1)
    tensor([5.])
    """
    warn_once(
        "at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be "
        "removed in a future PyTorch release. Please use `linalg.vector_norm(A, 2., dim, keepdim)` "
        "instead"
    )
    dims = dim if isinstance(dim, (tuple, list)) else [dim]
    if len(dims) > 2:
        text = f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead."
        raise errors.runtime_error(text, "torch.linalg.vector_norm takes any number of dimensions.")
    require_norm(input.dtype)
    axes = list(dims) or list(range(input.ndim))
    return finish("frobenius_norm", norm(input, 2, axes, keepdim), out)
