"""Products of matrices of which one is sparse, or both."""

from typing import Any

import numpy as np

from tapegrad.arrays.numpy.searchsorted_bincount import counts_of
from tapegrad.core import errors
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.memory_format import sparse_csc, sparse_csr
from tapegrad.core.shape import numbered
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.autocast_state import IN_USE, lower_dtype
from tapegrad.sparse.coalesce import coalesce
from tapegrad.sparse.table import refused, serves
from tapegrad.sparse.tensor import is_sparse, make, picked, places, scattered

_ADVICE = "to_dense() gives all elements of a sparse tensor."


def _check(s: Any, d: Any) -> None:
    if s.dtype is not d.dtype:
        raise errors.runtime_error(
            f"expected scalar type {s.dtype.scalar_name} but found {d.dtype.scalar_name}",
            "Convert one of them with to(dtype).",
        )
    if s._shape[1] != d.shape[0]:
        raise errors.runtime_error(
            f"addmm: Argument #3 (dense): Expected dim 0 size {s._shape[1]}, got {d.shape[0]}",
            "The columns of the first are the rows of the second.",
        )


def _lowered(*operands: Any) -> list:
    """The operands in the lower precision, where autocast is on."""
    kind = lower_dtype() if IN_USE else None
    if kind is None:
        return list(operands)
    return [
        x.to(kind) if x.is_floating_point() and x.dtype.name != "float64" else x for x in operands
    ]


def _check_matrix(x: Any, name: str) -> None:
    if len(x._shape) != 2 or len(places(x)) != 2:
        raise errors.runtime_error(
            f"{name}: a sparse factor is a matrix with 2 sparse dimensions, but got "
            f"{len(places(x))} of {len(x._shape)}",
            "bmm() multiplies matrices by batches.",
        )


def times_dense(s: Any, d: Any) -> Any:
    """(m, n): a sparse matrix (m, k) times a dense one (k, n)."""
    _check_matrix(s, "mm")
    s, d = _lowered(s, d)
    _check(s, d)
    rows, columns = places(s)
    terms = picked(d, columns) * s._data.reshape(-1, 1)
    return scattered(terms, rows, s._shape[0])


def _transposed(s: Any) -> Any:
    return make(places(s)[::-1].copy(), s._data, s._shape[::-1], False)


def times_sparse(a: Any, b: Any) -> Any:
    """(m, n): the sparse product of two sparse matrices."""
    _check_matrix(a, "mm")
    _check_matrix(b, "mm")
    if a._shape[1] != b._shape[0]:
        raise errors.runtime_error(
            f"mat1 and mat2 shapes cannot be multiplied ({a._shape[0]}x{a._shape[1]} and "
            f"{b._shape[0]}x{b._shape[1]})",
            "The columns of the first are the rows of the second.",
        )
    a, b = coalesce(a), coalesce(b)
    rows, columns = places(a)
    order = np.argsort(places(b)[0], kind="stable")
    starts = np.searchsorted(places(b)[0][order], np.arange(b._shape[0] + 1))
    often = np.diff(starts)[columns]
    from_a = numbered(often)
    offset = np.arange(from_a.size) - (np.cumsum(often) - often)[from_a]
    from_b = order[starts[columns][from_a] + offset]
    where = np.stack((rows[from_a], places(b)[1][from_b]))
    values = picked(a._data, from_a) * picked(b._data, from_b)
    found = make(where, values, (a._shape[0], b._shape[1]), False)
    found._coalesced = False
    return coalesce(found)


@serves("mm", "spmm", "dsmm")
def mm(input: Any, mat2: Any, **options: Any) -> Any:
    """The product of two matrices: sparse where both are."""
    _no_out("mm", options)
    if is_sparse(input):
        return times_sparse(input, mat2) if is_sparse(mat2) else times_dense(input, mat2)
    return times_dense(_transposed(mat2), input.t()).t()


def _no_out(name: str, options: dict) -> None:
    if options.get("out") is not None or options.get("out_dtype") is not None:
        raise errors.not_implemented(
            f"{name}(out=) of sparse tensors is not supported", "Take what it returns."
        )


@serves("mv")
def mv(input: Any, vec: Any, **options: Any) -> Any:
    """A sparse matrix times a dense vector."""
    _no_out("mv", options)
    if is_sparse(vec) or len(input.shape) != 2 or vec.dim() != 1:
        raise errors.runtime_error(
            "mv: two tensor dim should be 2 and 1, but got "
            f"SparseTensor Dim: {len(input.shape)}Tensor Dim: {len(vec.shape)}",
            "A matrix times a vector.",
        )
    if input._shape[1] != vec.shape[0]:
        raise errors.runtime_error(
            "mv: expected self.size(-1) == vec.size(-1)", "The vector is as long as a row."
        )
    return times_dense(input, vec.reshape(-1, 1)).reshape(-1)


@serves("matmul", "__matmul__")
def matmul(input: Any, other: Any, **options: Any) -> Any:
    """The product of two matrices, or of a matrix and a vector."""
    ranks = len(input.shape), len(other.shape)
    if ranks == (2, 2):
        return mm(input, other, **options)
    if ranks == (2, 1) and is_sparse(input):
        return mv(input, other, **options)
    if ranks == (1, 2) and is_sparse(other):
        return mv(_transposed(other), input, **options)
    raise refused("expand" if max(ranks) > 2 and min(ranks) > 2 else "reshape")


@serves("__rmatmul__")
def rmatmul(input: Any, other: Any) -> Any:
    """other @ input."""
    return matmul(other, input)


@serves("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias."""
    if bias is not None and is_sparse(bias):
        raise refused("expand")
    columns = weight.t()
    found = matmul(input, columns)
    return found if bias is None else found + bias


def reduced(s: Any, d: Any, reduce: str) -> Any:
    """(m, n): of the products that a dense matrix product sums, their mean or the largest.

    `s` (m, k) is compressed by rows, `d` (k, n) dense; a row without elements gives zeros.
    """
    if s.layout is not sparse_csr:
        if s.layout is not sparse_csc:
            raise refused("_sparse_mm_reduce_impl", "SparseCPU" if is_sparse(s) else "CPU")
        raise errors.runtime_error(
            "sparse_mm_reduce: expect self to be SparseCsr, got SparseCsc", "to_sparse_csr()"
        )
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in ("sum", "mean", "amax", "amin"):
        raise errors.runtime_error(
            f"sparse_mm_reduce: reduce type of {reduce} has not been enabled.",
            "There are sum, mean, amax and amin.",
        )
    _check(s, d)
    rows, columns = places(s)
    terms = picked(d, columns) * s._data.reshape(-1, 1)
    if reduce in ("sum", "mean"):
        total = scattered(terms, rows, s._shape[0])
        if reduce == "sum":
            return total
        n = np.maximum(counts_of(rows, s._shape[0]), 1)
        return total / wrap(n[:, None]).to(total.dtype)
    return scattered_extreme(terms, rows, s._shape[0], reduce)


def scattered_extreme(terms: Any, rows: np.ndarray, n: int, reduce: str) -> Any:
    """(n, width): the largest or smallest of the terms (nnz, width) of each row, or zero."""
    found = terms.detach().numpy()
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(n))
    has_some = counts_of(rows, n) > 0
    sign = 1 if reduce == "amax" else -1
    chosen = np.zeros((n, found.shape[1]), np.int64)
    ends = np.append(starts[1:], rows.size)
    for row in np.flatnonzero(has_some):
        of_row = order[starts[row] : ends[row]]
        chosen[row] = of_row[(sign * found[of_row]).argmax(axis=0)]
    if not rows.size:
        return terms.new_zeros((n, found.shape[1]))
    taken = terms.gather(0, wrap(chosen))
    return taken * wrap(has_some[:, None]).to(terms.dtype)


def sparse_mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """`torch.sparse.mm`: the product of two matrices, of which one or both may be sparse.

    >>> x = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
    >>> torch.sparse.mm(x, torch.eye(2))
    tensor([[0., 2.],
            [3., 0.]])
    """
    if reduce is not None:
        return reduced(mat1, mat2, reduce)
    if not is_sparse(mat1) and not is_sparse(mat2):
        return mat1.mm(mat2)
    return mat1 @ mat2 if mat1.dim() == mat2.dim() == 2 else mm(mat1, mat2)


@serves("addmm")
def addmm(
    input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """beta * input + alpha * mat1 @ mat2, with a sparse `mat1`."""
    _no_out("addmm", {"out": out})
    if is_sparse(input):
        raise errors.runtime_error(
            "addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse",
            "Add to a dense tensor.",
        )
    if is_sparse(mat2):
        raise errors.runtime_error(
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have "
            "strided layout, got 'mat1' with layout "
            f"{'Sparse' if is_sparse(mat1) else 'Strided'} and 'mat2' with layout Sparse",
            "The first factor is the sparse one.",
        )
    input, mat1, mat2 = _lowered(input, mat1, mat2)
    product = times_dense(mat1, mat2)
    shown = input.expand(product.shape)
    return (shown if beta == 1 else shown * beta) + (product if alpha == 1 else product * alpha)


def sparse_addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """`torch.sparse.addmm`: beta * mat + alpha * mat1 @ mat2, with a sparse `mat1`.

    >>> x = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
    >>> torch.sparse.addmm(torch.ones(2, 2), x, torch.eye(2))
    tensor([[1., 3.],
            [4., 1.]])
    """
    if is_sparse(mat):
        raise refused("expand")
    return addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


@serves("bmm")
def bmm(input: Any, mat2: Any, **options: Any) -> Any:
    """Products of matrices by batches, of which the first is sparse: (b, m, k) and (b, k, n)."""
    _no_out("bmm", options)
    if is_sparse(mat2):
        raise errors.runtime_error("bmm_sparse: Tensor 'mat2' must be dense", _ADVICE)
    for name, x in (("self", input), ("mat2", mat2)):
        if len(x.shape) != 3:
            raise errors.runtime_error(
                f"bmm_sparse: Tensor '{name}' must have 3 dims, but has {len(x.shape)}",
                "The first dimension counts matrices.",
            )
    n, height, width = input._shape
    if len(places(input)) != 3 or mat2.shape[0] != n or mat2.shape[1] != width:
        raise errors.runtime_error(
            f"bmm_sparse: sizes {list(input._shape)} and {list(mat2.shape)} do not fit",
            "(b, m, k) times (b, k, n), all of the first sparse.",
        )
    input, mat2 = _lowered(input, mat2)
    batch, rows, columns = places(input)
    flat = mat2.reshape(n * width, -1)
    terms = picked(flat, batch * width + columns) * input._data.reshape(-1, 1)
    return scattered(terms, batch * height + rows, n * height).reshape(n, height, -1)


@require_tensors
def hspmm(mat1: Any, mat2: Any) -> Any:
    """The product of a sparse and a dense matrix, with the rows that have elements.

    >>> x = torch.sparse_coo_tensor([[1], [0]], [2.0], (3, 2))
    >>> torch.hspmm(x, torch.ones(2, 2)).to_dense()
    tensor([[0., 0.],
            [2., 2.],
            [0., 0.]])
    """
    if not is_sparse(mat1):
        raise refused("hspmm", "CPU")
    _check(mat1, mat2)
    rows, columns = places(mat1)
    found, inverse = np.unique(rows, return_inverse=True)
    terms = picked(mat2, columns) * mat1._data.reshape(-1, 1)
    values = scattered(terms, inverse.reshape(-1), found.size)
    return make(found[None], values, (mat1._shape[0], mat2.shape[1]))


@require_tensors
def sspaddmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat1 @ mat2: sparse, with each row of the product that has elements.

    >>> x = torch.sparse_coo_tensor([[1], [0]], [2.0], (2, 2))
    >>> torch.sspaddmm(x, x, torch.eye(2)).to_dense()
    tensor([[0., 0.],
            [4., 0.]])
    """
    if not is_sparse(input) or not is_sparse(mat1):
        raise errors.runtime_error(
            "tensor.sspaddmm(...) can only be called on sparse tensors", "to_sparse() makes one."
        )
    product = coalesce(hspmm(mat1, mat2))
    rows, n = places(product)[0], mat2.shape[1]
    where = np.stack((np.repeat(rows, n), np.tile(np.arange(n), rows.size)))
    values = product._data.reshape(-1) * alpha
    if not places(input).shape[1]:
        return make(where, values, input._shape)
    joined = np.concatenate((places(input), where), axis=1)
    m = places(input).shape[1]
    parts = scattered(input._data * beta, np.arange(m), m + values.shape[0])
    rest = scattered(values, np.arange(m, m + values.shape[0]), m + values.shape[0])
    return make(joined, parts + rest, input._shape)


@require_tensors
def smm(input: Any, mat: Any) -> Any:
    """The product of a sparse and a dense matrix as a sparse one.

    >>> x = torch.sparse_coo_tensor([[1], [0]], [2.0], (2, 2))
    >>> torch.smm(x, torch.eye(2)).to_dense()
    tensor([[0., 0.],
            [2., 0.]])
    """
    if not is_sparse(input):
        raise errors.runtime_error(
            "tensor.sspaddmm(...) can only be called on sparse tensors", "to_sparse() makes one."
        )
    from tapegrad.sparse.creation import empty

    start = empty((input._shape[0], mat.shape[1]), input.dtype)
    return sspaddmm(start, input, mat)


@require_tensors
def spmm(input: Any, mat2: Any) -> Any:
    """The product of two matrices; another name of `torch.mm`.

    >>> torch.spmm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return sparse_mm(input, mat2)


dsmm = spmm
serves("hspmm")(hspmm)
serves("sspaddmm")(sspaddmm)
serves("smm")(smm)

__torch__ = "dsmm hspmm smm spmm sspaddmm"
