"""Logsumexp: the logarithm of a sum of exponentials."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Dim, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import default
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.reduction.sum_mean import reduction_axes, spread

__all__ = ["logsumexp"]


def _finite(xp: Namespace, top: Any) -> Any:
    """The largest element, 0 where it is infinite: inf - inf would be nan."""
    if xp.isdtype(top.dtype, "complex floating"):  # any real number serves
        top = xp.astype(xp.real(top), top.dtype)
    return xp.where(xp.isfinite(top), top, 0)


def _shares(xp, x, y, axis, keepdims):
    return xp.exp(x - spread(xp, y, x.shape, axis, keepdims))  # nan where both are infinite


@jvp(
    x=lambda xp, t, x, y, axis, keepdims: xp.sum(
        t * _shares(xp, x, y, axis, keepdims), axis=axis, keepdims=keepdims
    )
)
@vjp(
    x=lambda xp, g, x, y, axis, keepdims: (
        spread(xp, g, x.shape, axis, keepdims) * _shares(xp, x, y, axis, keepdims)
    )
)
@primitive(node="LogsumexpBackward0")
def logsumexp_axes(xp, x, *, axis, keepdims):
    """log(sum(exp(x))) over `axis`, without overflow."""
    if 0 in x.shape:  # there may be no largest element
        return xp.log(xp.sum(xp.exp(x), axis=axis, keepdims=keepdims))
    top = _finite(xp, xp.max(x, axis=axis, keepdims=True))
    total = xp.sum(xp.exp(x - top), axis=axis, keepdims=keepdims)
    return xp.log(total) + (top if keepdims else xp.reshape(top, total.shape))


@require_tensors
def logsumexp(input: Tensor, dim: Dim, keepdim: bool = False, *, out: Out = None) -> Any:
    """log(sum(exp(x))) along `dim`, without overflow.

    Shape: the input's without `dim`, one or several, with `keepdim` of size 1 there.

    >>> torch.logsumexp(torch.tensor([1000.0, 1000.0]), dim=0)
    tensor(1000.6932)
    """
    if input.dtype.category < 2:
        input = input.to(default())
    if out is not None and out.dtype.category < 2:
        raise errors.runtime_error(
            "logsumexp(): Expected floating point type for result tensor, but got: "
            f"{out.dtype.scalar_name}",
            f"Give an out tensor of dtype {input.dtype}.",
        )
    axis = reduction_axes(dim, input._array.ndim)
    return finish("logsumexp", logsumexp_axes(input, axis=axis, keepdims=bool(keepdim)), out)
