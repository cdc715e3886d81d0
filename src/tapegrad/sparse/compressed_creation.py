"""Making compressed matrices: of the places where rows or columns begin, indices and values."""

from typing import Any

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.device import require_cpu
from tapegrad.core.memory_format import sparse_csc, sparse_csr
from tapegrad.operators.creation.tensor import tensor
from tapegrad.sparse.compressed import compressed
from tapegrad.sparse.creation import check_sparse_tensor_invariants

__torch__ = "sparse_compressed_tensor sparse_csc_tensor sparse_csr_tensor"


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """A sparse matrix compressed by rows: row i has the elements from `crow_indices[i]` on.

    `crow_indices` has one number more than there are rows, `col_indices` and `values` one for each
    element.

    >>> torch.sparse_csr_tensor([0, 1, 3], [1, 0, 1], [2.0, 3.0, 4.0]).to_dense()
    tensor([[0., 2.],
            [3., 4.]])
    """
    require_cpu(device)
    return _made(
        sparse_csr, crow_indices, col_indices, values, size, dtype, requires_grad, check_invariants
    )


def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """A sparse matrix compressed by columns: column j has the elements from `ccol_indices[j]` on.

    >>> torch.sparse_csc_tensor([0, 1, 3], [1, 0, 1], [2.0, 3.0, 4.0]).to_dense()
    tensor([[0., 3.],
            [2., 4.]])
    """
    require_cpu(device)
    return _made(
        sparse_csc, ccol_indices, row_indices, values, size, dtype, requires_grad, check_invariants
    )


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """A sparse matrix compressed by rows or by columns, as `layout` says.

    >>> x = torch.sparse_compressed_tensor([0, 1], [1], [2.0], layout=torch.sparse_csc)
    >>> x.to_dense()
    tensor([[0.],
            [2.]])
    """
    require_cpu(device)
    if layout not in (sparse_csr, sparse_csc):
        raise errors.runtime_error(
            "compressed sparse tensor layout expected, but got "
            f"{'Strided' if layout is None else layout}",
            "torch.sparse_csr and torch.sparse_csc are there.",
        )
    parts = compressed_indices, plain_indices, values, size
    return _made(layout, *parts, dtype, requires_grad, check_invariants)


def _indices(given: Any) -> Any:
    is_tensor = isinstance(given, tensor_base.TensorBase)
    found = given.detach() if is_tensor else tensor(given).long()
    if found.dim() > 1:
        raise errors.not_implemented(
            "batches of compressed matrices", "torch.sparse_coo has any number of dimensions."
        )
    return found


def _made(
    layout: Any,
    pointers: Any,
    plain: Any,
    values: Any,
    size: Any,
    dtype: Any,
    requires_grad: bool,
    check: bool | None,
) -> Any:
    starts, along = _indices(pointers), _indices(plain)
    if isinstance(values, tensor_base.TensorBase):
        data = values if dtype is None else values.to(dtype)
        if data.requires_grad and not requires_grad:
            data = data.view(data.shape)
        else:
            data = data.detach()
    else:
        data = tensor(values, dtype=dtype)
    n, nnz = starts.numel() - 1, along.numel()
    if nnz != data.shape[0]:
        raise errors.runtime_error(
            f"The size of tensor a ({nnz}) must match the size of tensor b ({data.shape[0]}) at "
            "non-singleton dimension 0",
            "There is one value for each index.",
        )
    begin, other = starts._array.astype(np.int64), along._array.astype(np.int64)
    counts = np.diff(begin)
    if size is None:
        largest = int(other.max()) + 1 if nnz else 0
        sides = (n, largest) if layout is sparse_csr else (largest, n)
        size = (*sides, *data.shape[1:])
    shape = tuple(int(m) for m in size)
    checked = check_sparse_tensor_invariants.is_enabled() if check is None else check
    if len(shape) != 1 + data.dim() or shape[2:] != tuple(data.shape[1:]):
        raise errors.not_implemented(
            f"a compressed tensor of sizes {list(shape)} with values of {list(data.shape)}",
            "Two dimensions are sparse, those behind them are those of one value.",
        )
    _check(layout, begin, other, shape, nnz, checked)
    index = np.repeat(np.arange(counts.size), counts)
    where = np.stack((index, other) if layout is sparse_csr else (other, index))
    found = compressed(where, data, shape, layout, starts.dtype)
    return found.requires_grad_() if requires_grad else found


def _check(
    layout: Any, begin: np.ndarray, other: np.ndarray, shape: tuple, nnz: int, checked: bool
) -> None:
    first, second, axis = ("crow", "col", 0) if layout is sparse_csr else ("ccol", "row", 1)
    if begin.size != shape[axis] + 1:
        raise errors.runtime_error(
            f"{first}_indices.shape[-1] must be equal to the number of "
            f"{'rows' if axis == 0 else 'columns'} + 1 ({shape[axis] + 1}), but got {begin.size}",
            "It says where each begins, and where the last one ends.",
        )
    if begin[0] != 0 or begin[-1] != nnz or (np.diff(begin) < 0).any():
        raise errors.runtime_error(
            f"`{first}_indices[..., 0] == 0`, `{first}_indices[..., -1] == nnz` or the order of "
            f"`{first}_indices` is not satisfied.",
            f"{first}_indices grow from 0 to the number of elements.",
        )
    if nnz and (other.min() < 0 or other.max() >= shape[1 - axis]):
        raise errors.runtime_error(
            f"`0 <= {second}_indices < {'ncols' if axis == 0 else 'nrows'}` is not satisfied.",
            "Indices count from 0.",
        )
    if checked:
        inner = np.ones(max(nnz - 1, 0), bool)
        inner[begin[1:-1][(begin[1:-1] > 0) & (begin[1:-1] < nnz)] - 1] = False
        if (np.diff(other)[inner] <= 0).any():
            raise errors.runtime_error(
                f"`{second}_indices[..., {first}_indices[..., i - 1]:{first}_indices[..., i]] for "
                f"all i = 1, ..., {'nrows' if axis == 0 else 'ncols'} are sorted and distinct "
                "along the last dimension values` is not satisfied.",
                "Sort the elements of each.",
            )
