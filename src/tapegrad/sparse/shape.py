"""Sparse tensors joined, transposed, and parts of them taken."""

from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.shape import axis_of as _axis
from tapegrad.core.shape import numbered
from tapegrad.operators.shape.cat_stack import cat as dense_cat
from tapegrad.sparse.conversion import as_index
from tapegrad.sparse.table import has, refused, serves
from tapegrad.sparse.tensor import carried, is_sparse, make, picked, places, with_values


@serves("cat", "concat", "concatenate")
def cat(tensors: Any, dim: Any = 0, *, out: Any = None, axis: Any = None) -> Any:
    """Sparse tensors behind one another along a dimension."""
    tensors, dim = list(tensors), dim if axis is None else axis
    for i, x in enumerate(tensors):
        if not is_sparse(x):
            raise errors.runtime_error(
                f"Concatenating sparse tensors, but a dense tensor was found at position {i}.",
                "to_sparse() makes it sparse.",
            )
    if out is not None:
        raise errors.not_implemented("cat(out=) of sparse tensors", "Take what it returns.")
    first = tensors[0]
    at, n_sparse = _axis(dim, len(first._shape)), len(places(first))
    for i, x in enumerate(tensors):
        _check_joins(first, x, at, i)
    sizes = [x._shape[at] for x in tensors]
    shape = (*first._shape[:at], sum(sizes), *first._shape[at + 1 :])
    starts = np.cumsum([0, *sizes[:-1]])
    rows, values = [], []
    for x, start, n in zip(tensors, starts.tolist(), sizes, strict=True):
        where = places(x).copy()
        part = x._data
        if at < n_sparse:
            where[at] += start
        else:
            axis_of_values = at - n_sparse + 1
            around = [list(part.shape), list(part.shape)]
            around[0][axis_of_values] = start
            around[1][axis_of_values] = sum(sizes) - start - n
            before, after = (x._data.detach().new_zeros(size) for size in around)
            part = dense_cat([before, part, after], axis_of_values)
        rows.append(where)
        values.append(part)
    found = make(np.concatenate(rows, axis=1), dense_cat(values, 0), shape)
    return found if len(tensors) > 1 else with_values(first, found._data)


def _check_joins(first: Any, x: Any, at: int, i: int) -> None:
    kind = len(places(first)), len(first._shape) - len(places(first))
    own = len(places(x)), len(x._shape) - len(places(x))
    if kind != own:
        raise errors.runtime_error(
            "All tensors must have the same sparse_dim and dense_dim: "
            f"{kind[0]}, {kind[1]}, but tensor at position {i} has {own[0]}, {own[1]}.",
            "to_dense().to_sparse(n) gives as many sparse dimensions.",
        )
    if any(m != n for k, (m, n) in enumerate(zip(first._shape, x._shape, strict=True)) if k != at):
        raise errors.runtime_error(
            f"All tensors must have the same shape: {list(first._shape)} (except in the "
            f"concatenating dimension), but found shape: {list(x._shape)} at position {i}.",
            "Only the dimension they are joined along may differ.",
        )


@serves("stack")
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    """Sparse tensors of one size along a new dimension."""
    tensors = list(tensors)
    for i, x in enumerate(tensors):
        if x.shape != tensors[0].shape:
            raise errors.runtime_error(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at "
                f"entry 0 and {list(x.shape)} at entry {i}",
                "Only tensors of one size are stacked.",
            )
    return cat([unsqueeze(x, dim) if is_sparse(x) else x for x in tensors], dim, out=out)


@serves("hstack")
def hstack(tensors: Any) -> Any:
    """Sparse tensors side by side."""
    tensors = list(tensors)
    return cat(tensors, 0 if len(tensors[0].shape) == 1 else 1)


@serves("vstack", "row_stack")
def vstack(tensors: Any) -> Any:
    """Sparse tensors on top of each other."""
    return cat([x if len(x.shape) > 1 else unsqueeze(x, 0) for x in tensors], 0)


@serves("unsqueeze")
def unsqueeze(input: Any, dim: int) -> Any:
    """A new dimension of size 1, sparse up to the last sparse dimension."""
    at, where = _axis(dim, len(input._shape) + 1), places(input)
    shape = (*input._shape[:at], 1, *input._shape[at:])
    if at <= len(where):
        rows = np.insert(where, at, 0, axis=0)
        return make(rows, carried(input), shape)
    return make(input._index, input._data.unsqueeze(at - len(where) + 1), shape)


@serves("t")
def t(input: Any) -> Any:
    """The transposed matrix."""
    n_sparse = len(places(input))
    if n_sparse > 2 or len(input._shape) > n_sparse:
        raise errors.runtime_error(
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
            f"{n_sparse} sparse and {len(input._shape) - n_sparse} dense dimensions",
            "transpose() says which dimensions change places.",
        )
    return input if n_sparse < 2 else transpose(input, 0, 1)


@serves("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two sparse dimensions in each other's place."""
    rank, n_sparse = len(input._shape), len(places(input))
    a, b = _axis(dim0, rank), _axis(dim1, rank)
    if max(a, b) >= n_sparse:
        raise errors.runtime_error(
            "sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
            f"{n_sparse}, d0: {a}, d1: {b}",
            "permute() moves dense dimensions among themselves.",
        )
    if a == b:
        return input
    order = list(range(rank))
    order[a], order[b] = b, a
    shape = [input._shape[axis] for axis in order]
    return make(places(input)[order[:n_sparse]], carried(input), shape)


@serves("permute")
def permute(input: Any, *dims: Any) -> Any:
    """Dimensions in another order, sparse ones and dense ones each among themselves."""
    given = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    rank, n_sparse = len(input._shape), len(places(input))
    if len(given) != rank:
        raise errors.runtime_error(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {rank} is not equal "
            f"to len(dims) = {len(given)}",
            "Name each dimension once.",
        )
    order = [_axis(axis, rank) for axis in given]
    if len(set(order)) != rank:
        raise errors.runtime_error(
            "permute(sparse_coo): duplicate dims are not allowed.", "Name each dimension once."
        )
    if any(axis >= n_sparse for axis in order[:n_sparse]):
        raise errors.runtime_error(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not "
            "allowed.Only transpositions within sparse and dense dimensions are supported.",
            "to_dense().permute(...).to_sparse(n) does it.",
        )
    values = input._data.permute(0, *[axis - n_sparse + 1 for axis in order[n_sparse:]])
    shape = [input._shape[axis] for axis in order]
    coalesced = input._coalesced and (not order or order[0] == 0)
    return make(places(input)[order[:n_sparse]], values, shape, coalesced)


@has("T")
def reverse(input: Any) -> Any:
    """All dimensions in reverse order."""
    return permute(input, tuple(range(len(input._shape)))[::-1])


@has("mT")
def matrices_transposed(input: Any) -> Any:
    """The last two dimensions in each other's place."""
    return transpose(input, -2, -1)


@has("H", "mH")
def adjoint(input: Any) -> Any:
    """The last two dimensions in each other's place, conjugated."""
    return transpose(input, -2, -1).conj()


serves("adjoint")(adjoint)


@has("real")
def real(input: Any) -> Any:
    """The real parts."""
    if input.is_complex():
        return with_values(input, input._data.real)
    return input


@serves("index_select")
def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices along `dim` that `index` names, in its order."""
    at, where = _axis(dim, len(input._shape)), places(input)
    wanted = as_index(index).reshape(-1)
    n = input._shape[at]
    for each in wanted[(wanted < -n) | (wanted >= n)][:1].tolist():
        raise errors.index_error(
            f"index_select(): index contains {each} that is out of range for tensor of size "
            f"{list(input._shape)} at dimension {at}",
            f"The dimension has {n} slices.",
        )
    wanted = np.where(wanted < 0, wanted + n, wanted)
    shape = (*input._shape[:at], wanted.size, *input._shape[at + 1 :])
    if at >= len(where):
        from tapegrad.core.tensor_base import wrap

        return make(
            input._index, input._data.index_select(at - len(where) + 1, wrap(wanted)), shape
        )
    order = np.argsort(where[at], kind="stable")
    starts = np.searchsorted(where[at][order], wanted)
    often = np.searchsorted(where[at][order], wanted, side="right") - starts
    new = numbered(often)
    offset = np.arange(new.size) - (np.cumsum(often) - often)[new]
    taken = order[starts[new] + offset]
    rows = where[:, taken].copy()
    rows[at] = new
    return make(rows, picked(input._data, taken), shape)


@serves("select")
def select(input: Any, dim: int, index: int) -> Any:
    """The slice `index` along a dimension: dense where no sparse dimension is left."""
    at, where = _axis(dim, len(input._shape)), places(input)
    n = input._shape[at]
    if not -n <= index < n:
        raise errors.index_error(
            f"select(): index {index} out of range for tensor of size {list(input._shape)} at "
            f"dimension {at}",
            f"The dimension has {n} slices.",
        )
    index = int(index) % n
    shape = (*input._shape[:at], *input._shape[at + 1 :])
    if at >= len(where):
        return make(input._index, input._data.select(at - len(where) + 1, index), shape)
    hit = np.flatnonzero(where[at] == index)
    values = picked(input._data, hit)
    if len(where) == 1:
        return values.sum(0).to(input.dtype)
    return make(np.ascontiguousarray(np.delete(where, at, axis=0)[:, hit]), values, shape)


@serves("unbind")
def unbind(input: Any, dim: int = 0) -> tuple:
    """All slices along a dimension."""
    n = input._shape[_axis(dim, len(input._shape))]
    return tuple(select(input, dim, i) for i in range(n))


@serves("__iter__")
def rows(input: Any) -> Any:
    """The slices along the first dimension one by one."""
    return iter(unbind(input, 0))


@serves("narrow_copy")
def narrow_copy(input: Any, dim: int, start: int, length: int) -> Any:
    """`length` slices from `start` along a dimension."""
    at, where = _axis(dim, len(input._shape)), places(input)
    n = input._shape[at]
    if length < 0 or not 0 <= start <= start + length <= n:
        raise errors.runtime_error(
            "Invalid range to narrow. range(start, start+length) must be a subset of "
            f"range(0, {n}).",
            "Count from 0.",
        )
    shape = (*input._shape[:at], length, *input._shape[at + 1 :])
    if at >= len(where):
        values = input._data.narrow(at - len(where) + 1, start, length)
        return make(input._index, values, shape, input._coalesced)
    hit = np.flatnonzero((where[at] >= start) & (where[at] < start + length))
    rows = where[:, hit].copy()
    rows[at] -= start
    return make(rows, picked(input._data, hit), shape, input._coalesced)


@serves("__getitem__")
def getitem(input: Any, key: Any) -> Any:
    """Slices by number: whole numbers, `:` and None."""
    keys = key if isinstance(key, tuple) else (key,)
    found, at = input, 0
    for each in keys:
        if each is None:
            found, at = found.unsqueeze(at), at + 1
        elif isinstance(each, (int, np.integer)) and not isinstance(each, bool):
            n = found.shape[at] if at < len(found.shape) else 0
            if at >= len(found.shape):
                raise errors.index_error(
                    f"too many indices for tensor of dimension {len(input._shape)}",
                    "One index for each dimension.",
                )
            if not -n <= each < n:
                raise errors.index_error(
                    f"index {each} is out of bounds for dimension {at} with size {n}",
                    f"The dimension has {n} slices.",
                )
            found = found.select(at, int(each))
        elif isinstance(each, slice):
            if each != slice(None):
                raise refused("as_strided")
            at += 1
        elif each is Ellipsis:
            raise refused("storage")
        else:
            raise refused("__getitem__")
    return found


@serves("broadcast_tensors")
def broadcast_tensors(*tensors: Any) -> tuple:
    """The tensors themselves, where they have one size."""
    given = tensors[0] if len(tensors) == 1 and not is_sparse(tensors[0]) else tensors
    if any(x.shape != given[0].shape for x in given):
        raise refused("expand")
    return tuple(given)
