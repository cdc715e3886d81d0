"""Between dense and sparse, between dtypes; copies, and tensors without history."""

from typing import Any

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.memory_format import sparse_coo, sparse_csc, sparse_csr
from tapegrad.core.tensor_base import wrap
from tapegrad.sparse.coalesce import coalesce
from tapegrad.sparse.table import COMPRESS, has, refused, serves
from tapegrad.sparse.tensor import (
    as_leaf,
    dense_shape,
    is_sparse,
    make,
    picked,
    places,
    positions,
    scattered,
    with_values,
)


def to_sparse(
    input: Any,
    sparse_dim: Any = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: Any = None,
) -> Any:
    """The elements of a dense tensor that are not zero, as a sparse one.

    `sparse_dim` says how many dimensions are sparse, by default all: where there are more, an
    element is a slice that is not zero everywhere.

    >>> torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
    tensor(indices=tensor([[0, 1],
                           [1, 0]]),
           values=tensor([2., 3.]),
           size=(2, 2), nnz=2, layout=torch.sparse_coo)
    """
    if layout in (sparse_csr, sparse_csc) and blocksize is None:
        n = None if dense_dim is None or is_sparse(input) else input.dim() - dense_dim
        return COMPRESS[0](to_sparse(input, n), layout)
    if layout is not None and layout is not sparse_coo:
        raise errors.not_implemented(
            f"to_sparse(layout={layout}): blocks are not there",
            "torch.sparse_csr and torch.sparse_csc are compressed without blocks.",
        )
    if blocksize is not None or dense_dim is not None:
        raise errors.not_implemented(
            "to_sparse(): blocksize and dense_dim are for layouts of blocks, which are not here",
            "sparse_dim says how many dimensions are sparse.",
        )
    if is_sparse(input) and input.layout is sparse_coo:
        if sparse_dim is not None and sparse_dim != places(input).shape[0]:
            raise errors.runtime_error(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                "!=self.sparse_dim() is not supported",
                "to_dense().to_sparse(n) does it.",
            )
        return input
    rank = input.dim()
    n = rank if sparse_dim is None else int(sparse_dim)
    if n > rank or n < 0:
        raise errors.runtime_error(
            f"dense_to_sparse: sparse_dim argument must be in [0,{rank}] range, but {n} is given",
            "It says how many dimensions are sparse.",
        )
    if n == 0 and rank:
        raise errors.runtime_error(
            "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0",
            "It says how many dimensions are sparse.",
        )
    shape = tuple(input.shape)
    array = input.detach().numpy() != 0
    if n < rank:
        array = array.any(axis=tuple(range(n, rank)))
    where = (
        np.array(np.nonzero(array), np.int64).reshape(n, -1) if n else np.zeros((0, 1), np.int64)
    )
    if not n and not array.any():
        where = np.zeros((0, 0), np.int64)
    rows = input.reshape((int(np.prod(shape[:n], dtype=np.int64)), *shape[n:]))
    return make(where, picked(rows, positions(where, shape)), shape, True)


to_sparse_coo = to_sparse


def to_sparse_csr(input: Any, dense_dim: Any = None) -> Any:
    """The elements of a matrix that are not zero, compressed by rows.

    >>> torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csr().crow_indices()
    tensor([0, 1, 2])
    """
    return to_sparse(input, layout=sparse_csr, dense_dim=dense_dim)


def to_sparse_csc(input: Any, dense_dim: Any = None) -> Any:
    """The elements of a matrix that are not zero, compressed by columns.

    >>> torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csc().row_indices()
    tensor([1, 0])
    """
    return to_sparse(input, layout=sparse_csc, dense_dim=dense_dim)


serves("to_sparse_csr")(to_sparse_csr)
serves("to_sparse_csc")(to_sparse_csc)


@serves("to_sparse", "to_sparse_coo")
def _sparse_to_sparse(input: Any, *args: Any, **kwargs: Any) -> Any:
    """The tensor itself."""
    return to_sparse(input, *args, **kwargs)


@serves("to_dense")
def to_dense(input: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """All elements, zeros included; the gradient reaches those that are stored."""
    if dtype is not None:
        raise errors.runtime_error(
            "dtype argument is not supported by sparse_to_dense", "Convert with to(dtype)."
        )
    where, shape = places(input), input._shape
    n = int(np.prod(shape[: len(where)], dtype=np.int64))
    return scattered(input._data, positions(where, shape), n).reshape(shape)


def masked_values(input: Any, mask: Any) -> Any:
    """The elements of `input`, dense or sparse, at the indices of `mask`: (nnz, ...)."""
    shape = mask._shape
    where = places(mask)
    at = positions(where, shape)
    if not is_sparse(input):
        n = int(np.prod(shape[: len(where)], dtype=np.int64))
        return picked(input.reshape((n, *dense_shape(mask))), at)
    if places(input).shape[0] != len(where):
        return masked_values(to_dense(input), mask)
    found = coalesce(input)
    have = positions(places(found), shape)
    order = np.argsort(have, kind="stable")
    spot = np.searchsorted(have[order], at)
    inside = np.minimum(spot, max(have.size - 1, 0))
    hit = have[order][inside] == at if have.size else np.zeros(at.size, bool)
    values = found._data
    return scattered(picked(values, order[spot[hit]]), np.flatnonzero(hit), at.size)


def sparse_mask(input: Any, mask: Any) -> Any:
    """The elements of `input` where `mask`, a sparse tensor, has any.

    >>> x = torch.tensor([1.0, 2.0, 3.0])
    >>> x.sparse_mask(torch.tensor([0.0, 7.0, 7.0]).to_sparse()).to_dense()
    tensor([0., 2., 3.])
    """
    if not is_sparse(mask):
        raise refused("sparse_mask", "CPU")
    if tuple(input.shape) != mask._shape:
        raise errors.runtime_error(
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{list(input.shape)} but mask has size {list(mask._shape)}",
            "A mask has the size of what it is laid over.",
        )
    return with_values(mask, masked_values(input, mask))


serves("sparse_mask")(sparse_mask)


def _converted(input: Any, values: Any) -> Any:
    return input if values is input._data else with_values(input, values)


@serves("to")
def to(input: Any, *args: Any, **kwargs: Any) -> Any:
    """The tensor in another dtype, or like another tensor."""
    if args and is_sparse(args[0]):
        args = (args[0]._data, *args[1:])
    if is_sparse(kwargs.get("other")):
        kwargs = {**kwargs, "other": kwargs["other"]._data}
    return _converted(input, input._data.to(*args, **kwargs))


def _put_cast(name: str) -> None:
    def cast(input: Any, *args: Any, **kwargs: Any) -> Any:
        """The tensor with values of another dtype, or on another device."""
        return _converted(input, getattr(input._data, name)(*args, **kwargs))

    serves(name)(cast)


for _name in (
    "double float half bfloat16 int long short char byte bool cdouble cfloat chalf cpu cuda "
    "resolve_conj resolve_neg"
).split():
    _put_cast(_name)


@serves("type")
def type_(input: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """The name of its type, or the tensor in another dtype."""
    if dtype is None:
        return "torch.sparse." + input._data.type().removeprefix("torch.")
    if isinstance(dtype, str):
        dtype = dtype.replace("torch.sparse.", "torch.")
    return _converted(input, input._data.type(getattr(dtype, "dtype", dtype)))


@serves("type_as")
def type_as(input: Any, other: Any) -> Any:
    """The tensor in the dtype of another one."""
    if not is_sparse(input) or not is_sparse(other):
        kinds = ["Sparse" if is_sparse(x) else "Strided" for x in (input, other)]
        raise errors.runtime_error(
            "to(options) doesn't support converting to a different layout, but got self.layout "
            f"being {kinds[0]} and options.layout set as {kinds[1]}",
            "to(other.dtype) changes the dtype alone.",
        )
    return _converted(input, input._data.to(other.dtype))


@serves("clone", "__copy__")
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy with its history."""
    return make(input._index.clone(), input._data.clone(), input._shape, input._coalesced)


serves("tensor", "as_tensor", "asarray")(lambda data, *args, **kwargs: to(detach(data), **kwargs))


@serves("detach", "alias", "lift", "lift_fresh")
def detach(input: Any) -> Any:
    """The same indices and values without history."""
    return with_values(input, input._data.detach())


@has("data")
def data(input: Any) -> Any:
    """The same indices and values without history."""
    return with_values(input, input._data.data)


@serves("__deepcopy__")
def deepcopy(input: Any, memo: dict) -> Any:
    """A copy of a leaf and its gradient."""
    if id(input) in memo:
        return memo[id(input)]
    if not input.is_leaf:
        return input._data.__deepcopy__(memo)  # which says that it is not a leaf
    values = input._data.__deepcopy__(memo)
    found = make(input._index.clone(), values, input._shape, input._coalesced)
    found.__dict__.update(input.__dict__)
    memo[id(input)] = found
    return as_leaf(found)


def rebuilt(indices: Any, values: Any, shape: Any, coalesced: bool, requires_grad: bool) -> Any:
    """The sparse tensor that `reduce` took apart."""
    found = make(indices, values, shape, coalesced)
    return found.requires_grad_() if requires_grad else found


@serves("__reduce_ex__")
def reduce(input: Any, protocol: Any) -> tuple:
    """What a sparse tensor is made of, for pickle."""
    values = input._data.detach()
    leaf = input.requires_grad
    return rebuilt, (input._index, values, input._shape, input._coalesced, leaf)


@serves("item")
def item(input: Any) -> Any:
    """The one element, as a number."""
    n = int(np.prod(input._shape, dtype=np.int64))
    if n != 1:
        raise errors.runtime_error(
            f"a Tensor with {n} elements cannot be converted to Scalar",
            "Only one element is a number.",
        )
    return to_dense(input).item()


@serves("__bool__", "is_nonzero")
def is_nonzero(input: Any) -> bool:
    """Whether the one element is not zero."""
    return to_dense(input).__bool__()


@serves("__float__")
def as_float(input: Any) -> float:
    """The one element as a number."""
    return to_dense(input).__float__()


@serves("__int__", "__index__")
def as_int(input: Any) -> int:
    """The one element as a number."""
    return to_dense(input).__int__()


def _is_tensor(x: object) -> bool:
    return isinstance(x, tensor_base.TensorBase)


def dense_only(name: str) -> Any:
    """A method of which dense tensors say that they lack it."""

    def call(self: Any, *args: Any) -> Any:
        raise refused(name, "CPU")

    call.__name__ = name
    call.__doc__ = f"`{name}`, which only sparse tensors have."
    return call


_indices, _values, _nnz = map(dense_only, ("_indices", "_values", "_nnz"))


def as_index(x: Any) -> np.ndarray:
    """A tensor of whole numbers as an array."""
    return (x if _is_tensor(x) else wrap(np.asarray(x)))._array.astype(np.int64)
