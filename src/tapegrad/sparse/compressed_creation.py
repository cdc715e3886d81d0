"""Making compressed matrices: of the places where rows or columns begin, indices and values."""

from typing import Any, TypedDict, Unpack

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.device import require_cpu
from tapegrad.core.memory_format import sparse_csc, sparse_csr
from tapegrad.core.shape import numbered
from tapegrad.operators.creation.tensor import tensor
from tapegrad.sparse.compressed import compressed
from tapegrad.sparse.creation import check_sparse_tensor_invariants, refuse_pinned, values_of

__torch__ = "sparse_compressed_tensor sparse_csc_tensor sparse_csr_tensor"


class Options(TypedDict, total=False):
    """What may be given by name besides the parts."""

    dtype: Any  # of the values, by default what they have
    device: Any
    pin_memory: bool
    requires_grad: bool
    check_invariants: bool | None


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Unpack[Options]
) -> Any:
    """A sparse matrix compressed by rows: row i has the elements from `crow_indices[i]` on.

    `crow_indices` has one number more than there are rows, `col_indices` and `values` one for each
    element.

    >>> torch.sparse_csr_tensor([0, 1, 3], [1, 0, 1], [2.0, 3.0, 4.0]).to_dense()
    tensor([[0., 2.],
            [3., 4.]])
    """
    return _made("csr", sparse_csr, crow_indices, col_indices, values, size, options)


def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Unpack[Options]
) -> Any:
    """A sparse matrix compressed by columns: column j has the elements from `ccol_indices[j]` on.

    >>> torch.sparse_csc_tensor([0, 1, 3], [1, 0, 1], [2.0, 3.0, 4.0]).to_dense()
    tensor([[0., 3.],
            [2., 4.]])
    """
    return _made("csc", sparse_csc, ccol_indices, row_indices, values, size, options)


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    layout: Any = None,
    **options: Unpack[Options],
) -> Any:
    """A sparse matrix compressed by rows or by columns, as `layout` says.

    >>> x = torch.sparse_compressed_tensor([0, 1], [1], [2.0], layout=torch.sparse_csc)
    >>> x.to_dense()
    tensor([[0.],
            [2.]])
    """
    parts = compressed_indices, plain_indices, values, size
    return _made("compressed", layout, *parts, options)


def _indices(given: Any) -> Any:
    is_tensor = isinstance(given, tensor_base.TensorBase)
    found = given.detach() if is_tensor else tensor(given).long()
    if found.dim() > 1:
        raise errors.not_implemented(
            "batches of compressed matrices", "torch.sparse_coo has any number of dimensions."
        )
    return found


def _made(
    name: str, layout: Any, pointers: Any, plain: Any, values: Any, size: Any, options: Options
) -> Any:
    for key in options:
        if key not in Options.__annotations__:
            raise errors.type_error(
                f"sparse_{name}_tensor() got an unexpected keyword argument '{key}'",
                f"It takes {', '.join(Options.__annotations__)}.",
            )
    require_cpu(options.get("device"))
    refuse_pinned(options.get("pin_memory", False))
    if layout not in (sparse_csr, sparse_csc):
        raise errors.runtime_error(
            "compressed sparse tensor layout expected, but got "
            f"{'Strided' if layout is None else layout}",
            "torch.sparse_csr and torch.sparse_csc are there.",
        )
    starts, along = _indices(pointers), _indices(plain)
    requires_grad = options.get("requires_grad", False)
    data = values_of(values, options.get("dtype"), requires_grad)
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
    checked = options.get("check_invariants")
    if checked is None:
        checked = check_sparse_tensor_invariants.is_enabled()
    if len(shape) != 1 + data.dim() or shape[2:] != tuple(data.shape[1:]):
        raise errors.not_implemented(
            f"a compressed tensor of sizes {list(shape)} with values of {list(data.shape)}",
            "Two dimensions are sparse, those behind them are those of one value.",
        )
    _check(layout, begin, other, shape, nnz, checked)
    index = numbered(counts)
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
