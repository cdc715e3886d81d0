"""Writing into sparse tensors, and sparse tensors added into dense ones."""

from typing import Any

import numpy as np

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.autograd.writable import cannot_cast
from tapegrad.core import errors
from tapegrad.core.promote_types import can_cast
from tapegrad.core.registration import FRONT_DOOR
from tapegrad.sparse import arithmetic
from tapegrad.sparse.pointwise import LINEAR, OTHERS
from tapegrad.sparse.shape import t
from tapegrad.sparse.table import TABLE, serves
from tapegrad.sparse.tensor import as_leaf, is_sparse, make, places

_ADVICE = "Without the _ a new tensor has the result's dtype."


def _check_writable(x: Any) -> None:
    if is_grad_enabled() and x.requires_grad and x.is_leaf:
        raise errors.runtime_error(
            "a leaf Variable that requires grad is being used in an in-place operation.",
            "Write under torch.no_grad().",
        )


def _replaced(x: Any, result: Any) -> Any:
    """`x` with the indices and values of `result`."""
    _check_writable(x)
    values = result._data.to(x.dtype)
    leaf = x._data if x._data.is_leaf and x._data.requires_grad else None
    if leaf is not None:  # written without history: it stays the leaf that it is
        found = values.detach().requires_grad_()
        found._grad = leaf._grad
        values = found
    x._index, x._data, x._shape = result._index, values, result._shape
    x._coalesced = result._coalesced
    return as_leaf(x)


def _written(name: str) -> Any:
    function = TABLE[name]

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        """The function of the same name without the underscore, in place."""
        result = function(input, *args, **kwargs)
        if not can_cast(result.dtype, input.dtype):
            raise _no_cast(name, input, args[0], result)
        if is_sparse(input):
            return _replaced(input, result)
        return arithmetic.dense_in_place(input, result)

    call.__name__ = f"{name}_"
    return call


def _no_cast(name: str, input: Any, other: Any, result: Any) -> RuntimeError:
    """The result of an operation is of a kind that the tensor written to does not hold."""
    given, own = result.dtype.scalar_name, input.dtype.scalar_name
    text = f"dtype of values ({given}) must match dtype of sparse tensor ({own})"
    if name != "mul" or is_sparse(other):
        operation = "mul" if name == "mul" and is_sparse(input) else "add"
        text = f"Can't convert result type {given} to output {own} in {operation} operation"
    return errors.runtime_error(text, _ADVICE)


def _written_to_values(name: str) -> Any:
    function = TABLE[name]

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        """The function of each value, in the memory of the values: who holds them sees it."""
        if name in OTHERS.split() and is_sparse(input) and not input.is_coalesced():
            native = getattr(getattr(FRONT_DOOR(), name), "op", None)
            raise errors.runtime_error(
                f"{native.name if native else name}_ requires coalesced input",
                "coalesce() it first, or leave the _ away.",
            )
        result = function(input, *args, **kwargs)
        if not can_cast(result.dtype, input.dtype):
            raise cannot_cast(result.dtype, input.dtype, _ADVICE, name)
        if not is_sparse(input):
            return arithmetic.dense_in_place(input, result)
        recorded = result._data.requires_grad or input._data.requires_grad
        if recorded or result._data.shape != input._data.shape:
            return _replaced(input, result)
        input._data.copy_(result._data)
        input._index, input._coalesced = result._index, result._coalesced
        return input

    call.__name__ = f"{name}_"
    return call


for _name in "add sub subtract sparse_mask".split():
    serves(f"{_name}_")(_written(_name))
for _name in ("floor_divide", *(LINEAR + OTHERS).split()):
    if _name not in ("positive", "conj", "isnan", "isinf", "isposinf", "isneginf", "signbit"):
        serves(f"{_name}_")(_written_to_values(_name))
serves("__iadd__")(TABLE["add_"])
serves("__isub__")(TABLE["sub_"])


@serves("mul_", "multiply_", "__imul__")
def mul_(input: Any, other: Any) -> Any:
    """The product in place."""
    if is_sparse(input) and not is_sparse(other) and not getattr(other, "shape", ()):
        result = TABLE["mul"](input, other)
        if not can_cast(result.dtype, input.dtype):
            raise _no_cast("mul", input, other, result)
        _replaced(input, result)  # others that hold the values keep theirs
        input._coalesced = places(input).shape[1] < 2
        return input
    return _written("mul")(input, other)


@serves("div_", "divide_", "true_divide_", "__itruediv__")
def div_(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    """The quotient with a number in place."""
    other = arithmetic.divisor(other)
    _check_writable(input)
    input._data.div_(other, rounding_mode=rounding_mode)
    return input


@serves("zero_")
def zero_(input: Any) -> Any:
    """No elements are left."""
    n = len(places(input))
    empty = input._data.detach().new_zeros((0, *input._shape[n:]))
    return _replaced(input, make(np.zeros((n, 0), np.int64), empty, input._shape, True))


@serves("copy_")
def copy_(input: Any, src: Any, non_blocking: bool = False) -> Any:
    """The indices and values of another sparse tensor in place of its own."""
    if not is_sparse(input) or not is_sparse(src):
        raise errors.runtime_error(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{input.type()} and src type = {src.type()}",
            "to_dense() and to_sparse() convert.",
        )
    if any(m > n for m, n in zip(input._shape, src._shape, strict=False)) and input._nnz():
        raise errors.runtime_error(
            f"shrinking the size of sparse dimensions (from {list(input._shape)} to "
            f"{list(src._shape)}) on a non-empty sparse tensor is not supported.",
            "zero_() it first.",
        )
    return _replaced(input, make(src._index.clone(), src._data.clone(), src._shape, src._coalesced))


@serves("t_")
def t_(input: Any) -> Any:
    """The transposed matrix in place."""
    return _replaced(input, t(input))


def _resized(size: Any, sparse_dim: int, dense_dim: int) -> tuple:
    shape = tuple(int(n) for n in size)
    if sparse_dim + dense_dim != len(shape):
        raise errors.runtime_error(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = "
            f"{len(shape)}, sparse_dim = {sparse_dim}, dense_dim = {dense_dim}",
            "Each dimension is sparse or dense.",
        )
    return shape


@serves("sparse_resize_")
def sparse_resize_(input: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Larger sizes around the same elements."""
    shape = _resized(size, sparse_dim, dense_dim)
    n = len(places(input))
    if not input._nnz():
        return sparse_resize_and_clear_(input, size, sparse_dim, dense_dim)
    if sparse_dim != n or shape[n:] != input._shape[n:]:
        raise errors.runtime_error(
            f"changing the number of sparse dimensions (from {n} to {sparse_dim}) on a non-empty "
            "sparse tensor is not supported.",
            "zero_() it first.",
        )
    if any(new < old for new, old in zip(shape, input._shape, strict=True)):
        raise errors.runtime_error(
            f"shrinking the size of sparse dimensions (from {list(input._shape[:n])} to "
            f"{list(shape[:n])}) on a non-empty sparse tensor is not supported.",
            "zero_() it first.",
        )
    input._shape = shape
    return input


@serves("sparse_resize_and_clear_")
def sparse_resize_and_clear_(input: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Other sizes, without elements."""
    shape = _resized(size, sparse_dim, dense_dim)
    values = input._data.detach().new_zeros((0, *shape[sparse_dim:]))
    found = make(np.zeros((sparse_dim, 0), np.int64), values, shape, True)
    return _replaced(input, found)


@serves("addmm_")
def addmm_(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat1 @ mat2 in place."""
    result = TABLE["addmm"](input, mat1, mat2, beta=beta, alpha=alpha)
    if not can_cast(result.dtype, input.dtype):
        raise cannot_cast(result.dtype, input.dtype, _ADVICE)
    return input.copy_(result)
