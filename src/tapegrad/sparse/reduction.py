"""Sums, norms, and softmax over the elements that are stored."""

from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.memory_format import sparse_coo
from tapegrad.core.shape import axis_of as _axis
from tapegrad.core.tensor_base import wrap
from tapegrad.sparse.coalesce import coalesce
from tapegrad.sparse.table import refused, serves
from tapegrad.sparse.tensor import (
    is_sparse,
    make,
    picked,
    places,
    positions,
    scattered,
    with_values,
)


@serves("sum")
def sum_(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements, or along dimensions: sparse as long as a sparse one is left."""
    values = input._data if dtype is None else input._data.to(dtype)
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return values.sum()
    rank, n_sparse = len(input._shape), len(places(input))
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    axes = {_axis(axis, rank) for axis in given}
    dense = [axis - n_sparse + 1 for axis in axes if axis >= n_sparse]
    if dense:
        values = values.sum(tuple(dense), keepdim=keepdim)
    if all(axis in axes for axis in range(n_sparse)):
        total = values.sum(0)
        return total.reshape((1,) * n_sparse + tuple(total.shape)) if keepdim else total
    where = places(input)
    kept = [axis for axis in range(n_sparse) if axis not in axes]
    if keepdim:
        rows = [where[axis] * (axis not in axes) for axis in range(n_sparse)]
        shape = [1 if axis in axes else input._shape[axis] for axis in range(rank)]
    else:
        rows = [where[axis] for axis in kept]
        shape = [input._shape[axis] for axis in range(rank) if axis not in axes]
    alone = len(kept) == n_sparse
    found = make(np.stack(rows), values, shape, input._coalesced and alone)
    if alone or not keepdim:
        return found if alone else coalesce(found)
    added = coalesce(found)
    return make(added._index, added._data, added._shape)


def sparse_sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """`torch.sparse.sum`: the sum of the elements of a sparse tensor, or along dimensions.

    >>> x = torch.sparse_coo_tensor([[0, 0, 1], [1, 2, 2]], [1.0, 2.0, 3.0], (2, 3))
    >>> torch.sparse.sum(x), torch.sparse.sum(x, dim=0).to_dense()
    (tensor(6.), tensor([0., 1., 5.]))
    """
    if is_sparse(input) and input.layout is not sparse_coo:
        input.coalesce()  # which says that it is compressed
    if not is_sparse(input):
        raise errors.runtime_error(
            "coalesce expected sparse coordinate tensor layout but got Strided",
            "input.sum() sums a dense tensor.",
        )
    return sum_(input, dim, dtype=dtype)


@serves("any")
def any_(input: Any, *args: Any, **kwargs: Any) -> Any:
    """Whether any element is not zero."""
    if args or kwargs:
        raise refused("any.dim")
    return input._data.any()


@serves("norm", "native_norm")
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """The norm of all elements as one vector."""
    if dim is not None and sorted(np.atleast_1d(dim).tolist()) != list(range(len(input._shape))):
        raise errors.runtime_error(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty "
            "or contain all dimensions of the input",
            "Square, sum along the dimension, and take the root.",
        )
    values = coalesce(input)._data.reshape(-1)
    return (values if dtype is None else values.to(dtype)).norm(2 if p in ("fro", None) else p)


serves("native_norm")(lambda input, p=2, *rest, **named: norm(input, p, *rest, **named))


def _grouped(input: Any, dim: int) -> tuple[np.ndarray, int]:
    """For each element which slice along the sparse dimension `dim` it is in, and their number."""
    rest = [axis for axis in range(len(places(input))) if axis != dim]
    where = places(input)[rest]
    keys = positions(where, [input._shape[axis] for axis in rest])
    found, inverse = np.unique(keys, return_inverse=True)
    return inverse.reshape(-1), found.size


def _softmax(input: Any, dim: int, dtype: Any, log: bool) -> Any:
    name = "_sparse_log_softmax" if log else "_sparse_softmax"
    if not is_sparse(input):
        raise refused(name, "CPU")
    axis = _axis(dim, len(input._shape))
    found = coalesce(input if dtype is None else input.to(dtype))
    values, n_sparse = found._data, len(places(found))
    if not values.is_floating_point():
        raise errors.not_implemented(
            f"{name} of {input.dtype}: softmax is of floating-point numbers",
            "Pass dtype=torch.float32.",
        )
    if axis >= n_sparse:
        along = axis - n_sparse + 1
        return with_values(found, values.log_softmax(along) if log else values.softmax(along))
    group, n = _grouped(found, axis)
    array = values.detach()._array
    largest = np.full((n, *array.shape[1:]), -np.inf, array.dtype)
    np.maximum.at(largest, group, array)
    largest = np.where(np.isfinite(largest), largest, 0)
    shifted = values - wrap(largest[group])
    total = picked(scattered(shifted.exp(), group, n), group)
    return with_values(found, shifted - total.log() if log else shifted.exp() / total)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """`torch.sparse.softmax`: of the elements that are stored; the others count as -inf.

    >>> x = torch.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (1, 3))
    >>> torch.sparse.softmax(x, dim=1).to_dense()
    tensor([[0.5000, 0.0000, 0.5000]])
    """
    return _softmax(input, dim, dtype, False)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """`torch.sparse.log_softmax`: the logarithm of `softmax`.

    >>> x = torch.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (1, 3))
    >>> torch.sparse.log_softmax(x, dim=1).values()
    tensor([-0.6931, -0.6931])
    """
    return _softmax(input, dim, dtype, True)
