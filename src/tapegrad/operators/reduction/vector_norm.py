"""Norms of vectors: the length of what lies along dimensions."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Dim, DTypeLike, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import as_dtype
from tapegrad.core.promote_types import promote_types
from tapegrad.core.scalar import plain
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import no_derivative, no_kernel
from tapegrad.operators.reduction.sum_mean import count, reduction_axes, spread

__all__ = ["norm", "renorm", "renorm_"]

_INF = float("inf")


def _sum_of_squares(xp: Namespace, x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    if not axis or len(axis) < x.ndim:
        return xp.sum(x * x, axis=axis, keepdims=keepdims)
    flat = xp.reshape(x, (-1,))
    total = xp.vecdot(flat, flat)
    return xp.reshape(total, (1,) * x.ndim) if keepdims else total


@primitive(promote="arith", node="LinalgVectorNormBackward0", holomorphic=False)
def vector_norm(xp, x, *, order, axis, keepdims):
    """sum(|x|^order)^(1/order) over `axis`; for orders inf, -inf and 0 the limits."""
    if order and (not axis or x.shape[axis[0]] == 1):
        axes = range(len(x.shape)) if axis is None else axis
        if count(x.shape, axes) == 1:  # no power that could overflow
            return xp.sum(xp.abs(x), axis=axis, keepdims=keepdims)
    if order == 2 and not xp.isdtype(x.dtype, "complex floating"):
        return xp.sqrt(_sum_of_squares(xp, x, axis, keepdims))
    size = xp.abs(x)
    if order == _INF:
        return xp.max(size, axis=axis, keepdims=keepdims)
    if order == -_INF:
        return xp.min(size, axis=axis, keepdims=keepdims)
    if order == 0:
        return xp.sum(xp.astype(x != 0, size.dtype), axis=axis, keepdims=keepdims)
    if order == 1:
        return xp.sum(size, axis=axis, keepdims=keepdims)
    if order == 2:
        return xp.sqrt(xp.sum(size * size, axis=axis, keepdims=keepdims))
    return xp.sum(size**order, axis=axis, keepdims=keepdims) ** (1.0 / order)


def _direction(xp: Namespace, x: Array) -> Any:
    """x / |x|, and 0 at 0; real nan has no direction: 0."""
    if xp.isdtype(x.dtype, "complex floating"):
        size = xp.abs(x)
        return x / xp.where(size == 0, xp.ones_like(size), size)
    return xp.where(x == x, xp.sign(x), 0)


def _slope(xp, x, y, order, axis, keepdims):
    """The derivative of the norm by each element; 0 where PyTorch takes 0 for a subgradient.

    It is given as a direction and a real factor: what is to scale it scales the factor, since
    complex infinities times a real number, which NumPy makes complex first, are nan.
    """
    y = spread(xp, y, x.shape, axis, keepdims)
    if order == 0:
        return xp.zeros_like(x), 1
    if order == 1:
        return _direction(xp, x), 1
    if order in (_INF, -_INF):
        size = xp.abs(x)
        hit = xp.astype((size == y) | (xp.isnan(size) & xp.isnan(y)), size.dtype)
        return _direction(xp, x), hit / xp.sum(hit, axis=axis, keepdims=True)
    if order == 2:  # the slope at 0 has no slope itself: nan, as it should be
        return xp.where(y == 0, xp.zeros_like(x), x / y), 1
    safe = xp.where(y == 0, xp.ones_like(y), y)
    size = xp.abs(x)
    if order < 2:  # |x|^(order - 1) is infinite or steep at 0
        size = xp.where(x == 0, xp.ones_like(size), size)
        scaled = _direction(xp, x) * size ** (order - 1)
    else:
        scaled = x * size ** (order - 2)
    return xp.where(y == 0, xp.zeros_like(x), scaled), safe ** (1 - order)


def _sloping(xp, g, x, y, order, axis, keepdims):
    if order == 0:
        return None  # a number of elements has no gradient
    if order > 1 and order not in (2, _INF):  # at 0 there is none, nor for nan and infinity
        g = xp.where(y == 0, 0.0, g)
    direction, factor = _slope(xp, x, y, order, axis, keepdims)
    g = spread(xp, g, x.shape, axis, keepdims)
    return direction * (g if type(factor) is int else g * factor)


def _vector_norm_rule(xp, g, x, y, order, axis, keepdims):
    if order == 2:  # one number for each vector: there is one pass over the elements
        return x * spread(xp, xp.where(y == 0, 0.0 * g, g / y), x.shape, axis, keepdims)
    return _sloping(xp, g, x, y, order, axis, keepdims)


vector_norm.vjp(x=_vector_norm_rule)
vector_norm.recorded(x=_sloping)  # its derivative at 0 is nan, that of the quicker rule is not


def _vector_norm_jvp(xp, t, x, y, order, axis, keepdims):
    if order == 0:
        return xp.zeros_like(y)
    direction, factor = _slope(xp, x, y, order, axis, keepdims)
    moved = direction if type(factor) is int else direction * factor
    is_complex = xp.isdtype(x.dtype, "complex floating")
    moved = xp.real(xp.conj(t) * moved) if is_complex else t * moved
    return xp.sum(moved, axis=axis, keepdims=keepdims)


vector_norm.jvp(x=_vector_norm_jvp)


@primitive(name="linalg__powsum", node="NotImplemented", holomorphic=False)
def power_sum(xp, x, *, order, axis, keepdims):
    """sum(|x|^order) over `axis`; infinite orders are powers like others."""
    return xp.sum(xp.abs(x) ** order, axis=axis, keepdims=keepdims)


power_sum.vjp(x=no_derivative("linalg__powsum", "linalg.vector_norm(x, ord) ** ord has one."))


def check_norm(name: str, x: Tensor, dtype: DTypeLike) -> tuple:
    """A tensor of which there is a norm, and the dtype to compute it in, or None for its own."""
    own = x.dtype
    if not (own.is_floating_point or own.is_complex):
        raise errors.runtime_error(
            f"{name}: Expected a floating point or complex tensor as input. Got {own.scalar_name}",
            "Convert the tensor first: x.float().",
        )
    if dtype is None:
        return x, None
    dtype = as_dtype(dtype)
    reason = None
    if not (dtype.is_floating_point or dtype.is_complex):
        reason = f"dtype should be floating point or complex, but got {dtype.scalar_name}"
    elif own.is_complex != dtype.is_complex:
        kind = "complex for complex" if own.is_complex else "real for real"
        reason = f"dtype should be {kind} inputs, but got {dtype.scalar_name}"
    elif promote_types(own, dtype) is not dtype:
        reason = (
            f"the dtype of the input ({own.scalar_name}) should be convertible without narrowing "
            f"to the specified dtype ({dtype.scalar_name})"
        )
    if reason is not None:
        raise errors.runtime_error(f"{name}: {reason}", "Leave dtype= away.")
    return x, dtype


def check_not_empty(x: Tensor, order: float, dim: Dim) -> None:
    """Refuse an extremum, or what is infinite at 0, of nothing."""
    if x._array.size or not (order < 0 or order == _INF):
        return
    dims = (dim,) if dim is None or not isinstance(dim, (tuple, list)) else dim or (None,)
    for each in dims:
        if each is None or x._array.shape[axis_of(each, x._array.ndim)] == 0:
            what = "an empty tensor because"
            if each is not None:  # the missing space is PyTorch's
                what = f"the dimension {each}because this dimension is empty and"
            raise errors.runtime_error(
                f"linalg.vector_norm cannot compute the {order:g} norm on {what} the operation "
                "does not have an identity",
                "There is no element.",
            )


@require_tensors
def linalg__powsum(
    input: Tensor, ord: Any = 2, dim: Dim = None, keepdim: bool = False, *, dtype: DTypeLike = None
) -> Any:
    """The sum of `|x|^ord` over `dim`, or of all elements: a vector norm before its root is taken.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: NotImplementedError for integers; RuntimeError where a gradient is asked for.

    >>> torch.linalg._powsum(torch.tensor([3.0, -4.0]), 3)
    tensor(91.)
    """
    if dtype is not None:
        input = input.to(as_dtype(dtype))
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise no_kernel("powsum_cpu", input.dtype)
    axes = reduction_axes(dim, input.ndim)
    return power_sum(input, order=float(plain(ord)), axis=axes, keepdims=bool(keepdim))


@require_tensors
def linalg_vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Any:
    """The vector norm of order `ord` over `dim`, or of all elements.

    `sum(|x|^ord)^(1 / ord)`; for inf and -inf the largest and the smallest |x|, for 0 how many are
    not zero.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.

    >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    errors.need_tensor("linalg_vector_norm", "x", 1, x)
    x, dtype = check_norm("linalg.vector_norm", x, dtype)
    if hasattr(ord, "item"):  # a number of NumPy, a tensor without dimensions
        ord = plain(ord).item()
    if isinstance(dim, (str, float)):
        raise errors.must_be("linalg_vector_norm", "dim", 3, "tuple of ints", dim)
    if isinstance(ord, complex):
        text = "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        raise errors.runtime_error(text, "The order of a norm is real.")
    if not isinstance(ord, (int, float)):
        raise errors.must_be("linalg_vector_norm", "ord", 2, "Number", ord)
    if dtype is not None:
        x = x.to(dtype)
    order = float(ord)
    check_not_empty(x, order, dim)
    axis = reduction_axes(dim, x._array.ndim)
    found = vector_norm(x, order=order, axis=axis, keepdims=bool(keepdim))
    if out is None:
        return found
    from tapegrad.operators.linalg.matrix_check import finish_exact

    return finish_exact("linalg_vector_norm", found, out)


@require_tensors
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Dim = None,
    keepdim: bool = False,
    out: Out = None,
    dtype: DTypeLike = None,
) -> Any:
    """The vector norm of order p (2 by default) of all elements or over `dim`.

    `sum(|x|^p)^(1 / p)`

    "nuc" is the nuclear norm of matrices, the sum of their singular values; "fro" is 2. See
    torch.linalg.vector_norm and torch.linalg.matrix_norm, its successors.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.

    >>> torch.norm(torch.tensor([[3.0, 4.0], [6.0, 8.0]]), dim=1)
    tensor([ 5., 10.])
    """
    if isinstance(p, str) and not (p == "fro" and _at_most_two(dim)):
        from tapegrad.operators.linalg.matrix_norm import matrix_norm

        axes: Any = tuple(range(input.ndim)) if dim is None and input.ndim > 1 else dim
        if not isinstance(axes, (tuple, list)):
            axes = (-2, -1) if axes is None else (axes,)
        return matrix_norm(input, p, axes, keepdim, dtype=dtype, out=out)
    order = 2 if p is None or p == "fro" else p
    return linalg_vector_norm.__wrapped__(input, order, dim, keepdim, dtype=dtype, out=out)


def _at_most_two(dim: Dim) -> bool:
    return not isinstance(dim, (tuple, list)) or len(dim) <= 2


def norm_method(
    self: Any, p: Any = "fro", dim: Dim = None, keepdim: bool = False, dtype: DTypeLike = None
) -> Any:
    """The vector norm of order p of all elements or over `dim`.

    >>> torch.tensor([3.0, 4.0]).norm()
    tensor(5.)
    """
    return norm(self, p, dim, keepdim, dtype=dtype)


def _check_renorm(x: Tensor, p: float, maxnorm: Any) -> None:
    problem = None
    p, maxnorm = plain(p), plain(maxnorm)
    if isinstance(p, complex):
        problem = "p must be real-valued"
    elif p <= 0:
        problem = "non-positive-norm not supported"
    elif isinstance(maxnorm, complex):
        problem = "maxnorm must be real-valued"
    elif maxnorm < 0:
        problem = f"expected maxnorm to be >= 0 but got {maxnorm:g}"
    elif x.ndim < 2:
        problem = f"input needs at least 2 dimensions, got {x.ndim} dimensions"
    if problem is not None:
        text = f"renorm: {problem}"
        raise errors.runtime_error(text, "Give a matrix or more, p > 0 and maxnorm >= 0.")


@require_tensors
def renorm(input: Tensor, p: float, dim: int, maxnorm: float, *, out: Out = None) -> Any:
    """Slices along `dim` whose norm of order p exceeds maxnorm, scaled down to it.

    Shape: any, and that of the result.

    >>> torch.renorm(torch.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    _check_renorm(input, p, maxnorm)
    axis = axis_of(dim, input.ndim)
    others = [i for i in range(input.ndim) if i != axis]
    size = linalg_vector_norm(input, p, others, True)
    from tapegrad.operators import where

    factor = where(size > maxnorm, maxnorm / (size + 1e-7), size.new_ones(()))
    return finish("renorm", input.contiguous() * factor, out, input)


renorm_ = in_place(renorm)
