"""Distances and angles between vectors that stand side by side."""

from math import inf

from tapegrad.autograd.mode import no_grad
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.promote_types import promote_types
from tapegrad.core.scalar import number_of
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import common_dtype, require_norm
from tapegrad.operators.reduction.vector_norm import (
    check_not_empty,
    linalg_vector_norm,
    vector_norm,
)
from tapegrad.operators.with_number import plus_number

__torch__ = "cosine_similarity dist pairwise_distance"

_norm = vector_norm.on_arrays
_norm_vjp = vector_norm.op.vjps["x"].function
_norm_jvp = vector_norm.op.jvps["x"].function


@jvp(x=_norm_jvp)
@vjp(x=_norm_vjp)
@primitive(promote="arith", node="NormBackward1", holomorphic=False)
def norm_along(xp, x, *, order, axis, keepdims):
    """sum(|x|^order)^(1/order) over `axis`, by the node name it has inside other functions."""
    return _norm(xp, x, order=order, axis=axis, keepdims=keepdims)


@primitive(promote="arith", node="DistBackward0", holomorphic=False)
def norm_of_difference(xp, input, other, *, order):
    """The norm of all elements of `input - other` together."""
    return _norm(xp, input - other, order=order, axis=None, keepdims=False)


def _difference_vjp(xp, g, input, other, y, order, shape):
    """The cotangent of the difference in the shape of one of the two."""
    d = input - other
    found = _norm_vjp(xp, g, d, y, order, tuple(range(d.ndim)), False)
    return None if found is None else sum_to_shape(xp, found, shape)


def _difference_jvp(xp, t, input, other, y, order):
    d = input - other
    t = xp.broadcast_to(t, d.shape)
    return _norm_jvp(xp, t, d, y, order, tuple(range(d.ndim)), False)


norm_of_difference.vjp(
    input=lambda xp, g, input, other, y, order: _difference_vjp(
        xp, g, input, other, y, order, input.shape
    ),
    other=lambda xp, g, input, other, y, order: _difference_vjp(
        xp, -g, input, other, y, order, other.shape
    ),
)
norm_of_difference.jvp(
    input=_difference_jvp,
    other=lambda xp, t, input, other, y, order: -_difference_jvp(xp, t, input, other, y, order),
)


@require_tensors
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The norm of order p of the difference: sum(|input - other|^p)^(1/p) over all elements.

    Shapes: any that broadcast, to ().
    Raises: RuntimeError for integers, and for an empty tensor where the norm has no value.

    >>> torch.dist(torch.tensor([1.0, 2.0]), torch.tensor([4.0, 6.0]))
    tensor(5.)
    """
    p = float(number_of("dist", "p", 3, p))
    dtype = common_dtype(input, other)
    if dtype.category < 2 or "b" in (input._array.dtype.kind, other._array.dtype.kind):
        with no_grad():
            input - other  # its errors come first
        require_norm(dtype)
    if abs(p) == inf and 0 in (*input._array.shape, *other._array.shape):
        raise errors.runtime_error(
            f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor because the "
            "operation does not have an identity",
            "The tensors are empty.",
        )
    return norm_of_difference(input, other, order=p)


@require_tensors
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors that lie along `dim`.

    x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)); the other dimensions broadcast.

    Shapes: any that broadcast; the result has the common one without `dim`.
    Raises: RuntimeError for integers.

    >>> x = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> torch.cosine_similarity(x, torch.tensor([[2.0, 0.0], [1.0, -1.0]]))
    tensor([1., 0.])
    """
    for i, x in enumerate((x1, x2)):
        if not hasattr(x, "_array"):
            raise errors.must_be("cosine_similarity", f"x{i + 1}", i + 1, "Tensor", x)
    if x1.dtype is not x2.dtype:
        dtype = promote_types(x1.dtype, x2.dtype)
        x1, x2 = x1.to(dtype), x2.to(dtype)
    if not x1.dtype.is_floating_point:
        raise errors.runtime_error(
            "expected common dtype to be floating point, yet common dtype is "
            f"{x1.dtype.scalar_name}",
            "Convert one of the tensors first: x1.float().",
        )
    if x1._array.shape != x2._array.shape:
        from tapegrad.operators import broadcast_tensors

        x1, x2 = broadcast_tensors(x1, x2)
    axis = axis_of(dim, x1._array.ndim)
    return (_unit(x1, axis, eps) * _unit(x2, axis, eps)).sum(axis)


def _unit(x: Tensor, axis: int, eps: float) -> Any:
    """The vectors divided by their length, which counts as no less than `eps`."""
    length = linalg_vector_norm(x, 2, axis, True).clone()
    with no_grad():  # PyTorch, too, takes the derivative as if the length had not been limited
        length.clamp_min_(eps)
    return x / length


@require_tensors
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The norm of order p of `x1 - x2 + eps` along the last dimension.

    Shapes: (..., D) and (..., D), which broadcast, to (...), with `keepdim` to (..., 1).

    >>> x = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    >>> torch.pairwise_distance(x, torch.tensor([3.0, 4.0]))
    tensor([5.0000, 3.6056])
    """
    errors.need_tensors("pairwise_distance", x1=x1, x2=x2)
    d = plus_number(x1 - x2, number=eps)
    axis = max(d._array.ndim - 1, 0)
    axes = (axis,) if d._array.ndim else ()
    check_not_empty(d, float(p), axes)
    return norm_along(d, order=float(p), axis=axes, keepdims=bool(keepdim))
