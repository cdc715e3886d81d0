"""Sums, products and quotients of sparse tensors, among themselves and with dense ones."""

from typing import Any

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.sparse.coalesce import coalesce
from tapegrad.sparse.conversion import masked_values, to_dense
from tapegrad.sparse.table import refused, serves
from tapegrad.sparse.tensor import (
    dense_shape,
    is_sparse,
    make,
    picked,
    places,
    positions,
    scattered,
    with_values,
)

_ADVICE = "to_dense() gives all elements of a sparse tensor."


def _dense(x: Any) -> Any:
    """Whether `x` is a dense tensor."""
    return isinstance(x, tensor_base.TensorBase) and not is_sparse(x)


def _stand_in(x: Any) -> Any:
    """Something dense with the dtype and the rank of `x`, for questions of dtype."""
    if not is_sparse(x):
        return x
    return x._data.detach().new_zeros((0,) * max(len(x._shape), 1))


def result_dtype(a: Any, b: Any) -> Any:
    """The dtype of what is computed of two operands."""
    from tapegrad.core.registration import FRONT_DOOR

    return FRONT_DOOR().result_type(_stand_in(a), _stand_in(b))


# --- sums -----------------------------------------------------------------------------------


@serves("add", "__add__")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input + alpha * other: of two sparse tensors sparse, of a dense and a sparse one dense."""
    if isinstance(other, np.ndarray):  # a gradient on its way meets a sparse one
        return radd(input, other)
    if is_sparse(input) and is_sparse(other):
        return _sparse_sum(input, other, alpha)
    if is_sparse(input):
        raise errors.runtime_error(
            "add(sparse, dense) is not supported. Use add(dense, sparse) instead.", _ADVICE
        )
    return _dense_sum(input, other, alpha)


@serves("__radd__")
def radd(input: Any, other: Any) -> Any:
    """other + input."""
    if isinstance(other, np.ndarray):
        return add(tensor_base.wrap(other), input)._array
    if _dense(other):
        return add(other, input)
    return add(input, other)


def _dense_sum(input: Any, other: Any, alpha: Any) -> Any:
    shape = tuple(getattr(input, "shape", ()))
    if shape != other._shape:
        raise errors.runtime_error(
            "add: expected 'self' and 'other' to have same size, but self has size "
            f"{list(shape)} while other has size {list(other._shape)} (FYI: dense-sparse addition "
            "does not currently support broadcasting)",
            _ADVICE,
        )
    kind = result_dtype(input, other)
    values = other._data.to(kind)  # before it is multiplied: unsigned numbers have no negatives
    values = values if alpha == 1 and type(alpha) is int else values * alpha
    where = places(other)
    n = int(np.prod(shape[: len(where)], dtype=np.int64))
    flat = input.to(kind).reshape((n, *dense_shape(other)))
    at = tensor_base.wrap(positions(where, shape))
    return flat.index_add(0, at, values.to(kind)).reshape(shape)


def _sparse_sum(a: Any, b: Any, alpha: Any) -> Any:
    if a._shape != b._shape:
        raise errors.runtime_error(
            "add: expected sizes of 'self' and 'other' to match, but "
            f"{list(a._shape)} != {list(b._shape)}",
            "Sparse tensors are not broadcast.",
        )
    p, q = places(a), places(b)
    if len(p) != len(q):
        raise errors.runtime_error(
            "add: expected 'self' and 'other' to have same density, but 'self' has "
            f"{len(p)} sparse dimensions while 'other' has {len(q)} sparse dimensions",
            "to_dense().to_sparse(n) gives as many sparse dimensions.",
        )
    kind = result_dtype(a, b)
    x = a._data.to(kind)
    y = b._data.to(kind)
    y = y if alpha == 1 and type(alpha) is int else (y * alpha).to(kind)
    both = a._coalesced and b._coalesced
    if p.shape == q.shape and (p == q).all():
        return make(a._index, x + y, a._shape, both)
    if not p.shape[1] or not q.shape[1]:
        kept, values = (a, x) if p.shape[1] else (b, y)
        return make(kept._index, values, a._shape, both)
    at_a, at_b, n = _merged(positions(p, a._shape).tolist(), positions(q, a._shape).tolist())
    where = np.empty((len(p), n), np.int64)
    where[:, at_a], where[:, at_b] = p, q
    return make(where, scattered(x, at_a, n) + scattered(y, at_b, n), a._shape, both)


def _merged(a: list, b: list) -> tuple[np.ndarray, np.ndarray, int]:
    """Where the elements of two lists go that are walked side by side, the smaller one first.

    Equal ones go to the same place: what is in order stays so, as PyTorch does it.
    """
    at_a, at_b = [], []
    i = j = n = 0
    while i < len(a) or j < len(b):
        from_a = j == len(b) or (i < len(a) and a[i] <= b[j])
        from_b = i == len(a) or (j < len(b) and b[j] <= a[i])
        if from_a:
            at_a.append(n)
            i += 1
        if from_b:
            at_b.append(n)
            j += 1
        n += 1
    return np.array(at_a, np.int64), np.array(at_b, np.int64), n


@serves("sub", "subtract", "__sub__")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input - alpha * other."""
    return add(input, other, alpha=-alpha)


@serves("__rsub__", "rsub")
def rsub(input: Any, other: Any) -> Any:
    """other - input."""
    return add(other, input, alpha=-1)


# --- products -------------------------------------------------------------------------------


@serves("mul", "multiply", "__mul__", "__rmul__")
def mul(input: Any, other: Any) -> Any:
    """The product: sparse, with the elements that both have."""
    if not is_sparse(input):
        input, other = other, input
    if is_sparse(other):
        return _sparse_product(input, other)
    if not _dense(other) or not other.dim():
        return with_values(input, input._data * other)
    if other.numel() == 1 and other.dim() <= len(input._shape):
        return with_values(input, input._data * other.reshape(()))
    return _product_with_dense(input, other)


def _product_with_dense(x: Any, d: Any) -> Any:
    shape = x._shape
    try:
        common = np.broadcast_shapes(shape, tuple(d.shape))
    except ValueError:
        common = ()
    for i in range(1, min(len(shape), d.dim()) + 1):
        m, n = d.shape[-i], shape[-i]
        if m != n and m != 1 and n != 1:
            raise errors.runtime_error(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at "
                f"non-singleton dimension {max(len(shape), d.dim()) - i}",
                "The dense factor is broadcast to the sparse one.",
            )
    if common != shape:
        raise errors.not_implemented(
            f"mul: a sparse tensor of size {list(shape)} is not expanded to {list(common)}", _ADVICE
        )
    return with_values(x, x._data * masked_values(d.expand(shape), x))


def _sparse_product(a: Any, b: Any) -> Any:
    p, q = places(a), places(b)
    if a._shape != b._shape or len(p) != len(q):
        raise errors.runtime_error(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal "
            "dimensionality, number of sparse dimensions, and shape of sparse dimensions",
            _ADVICE,
        )
    if p.shape == q.shape and a._coalesced and b._coalesced and (p == q).all():
        return make(a._index, a._data * b._data, a._shape, True)
    first, second = a, b
    if not a._coalesced and not b._coalesced:
        first, second = coalesce(a), coalesce(b)
    kept, other = (first, second) if second._coalesced else (second, first)
    values = kept._data * masked_values(other, kept)
    hit = np.isin(positions(places(kept), a._shape), positions(places(other), a._shape))
    if kept._coalesced:
        where = np.ascontiguousarray(places(kept)[:, hit])
        return make(where, picked(values, np.flatnonzero(hit)), a._shape, True)
    missed = tensor_base.wrap(~hit.reshape((-1,) + (1,) * (values.dim() - 1)))
    return with_values(kept, values.masked_fill(missed, 0))


def divisor(other: Any) -> Any:
    """A divisor as a number or a dense tensor without dimensions."""
    if isinstance(other, tensor_base.TensorBase) and (is_sparse(other) or other.dim()):
        raise errors.runtime_error(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other.shape)} for divisor)",
            "Divide the values: torch.sparse_coo_tensor(x.indices(), x.values() / y, x.shape).",
        )
    return other


@serves("__rtruediv__", "__rdiv__")
def rdiv(input: Any, other: Any) -> Any:
    """A quotient by a sparse tensor, which there is not."""
    if isinstance(other, tensor_base.TensorBase):
        divisor(input)
    raise refused("__rtruediv__")


@serves("div", "divide", "true_divide", "__truediv__", "__div__")
def div(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    """The quotient with a number."""
    other = divisor(other)
    if not is_sparse(input):
        raise refused("__rtruediv__")
    if rounding_mode is not None:
        input = coalesce(input)
    return with_values(input, input._data.div(other, rounding_mode=rounding_mode))


@serves("floor_divide", "__floordiv__")
def floor_divide(input: Any, other: Any) -> Any:
    """The quotient with a number, rounded down."""
    return div(input, other, rounding_mode="floor")


@serves("pow", "__pow__", "float_power")
def pow_(input: Any, exponent: Any) -> Any:
    """Each element to a power, which is a number that is not zero."""
    if isinstance(exponent, tensor_base.TensorBase):
        raise refused("pow.Tensor_Tensor")
    if is_sparse(exponent) or not is_sparse(input):
        raise refused("__rpow__")
    if exponent == 0:
        raise errors.runtime_error(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor "
            "dense",
            _ADVICE,
        )
    found = coalesce(input)
    return with_values(found, found._data**exponent)


def _refusing(name: str) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        """What sparse tensors do not have."""
        raise refused(name)

    refuse.__name__ = name
    serves(name)(refuse)


for _name in (
    "__mod__ __rmod__ __rpow__ __rfloordiv__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __and__ "
    "__or__ __xor__ __rand__ __ror__ __rxor__ __invert__ __setitem__ where pow_ view"
).split():
    _refusing(_name)


def dense_in_place(x: Any, result: Any) -> Any:
    """`x`, dense, overwritten by a result in its own dtype."""
    return x.copy_(to_dense(result) if is_sparse(result) else result)
