"""Making sparse tensors: of indices and values, of sizes alone, of diagonals."""

from contextlib import ContextDecorator
from typing import Any

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.device import require_cpu
from tapegrad.core.memory_format import sparse_coo, strided
from tapegrad.core.tensor_base import wrap
from tapegrad.core.warn_once import warn_once
from tapegrad.operators.creation.tensor import tensor
from tapegrad.sparse.table import COMPRESS, serves
from tapegrad.sparse.tensor import make, places, positions

__torch__ = "sparse_coo_tensor"

_checks = [False]  # whether every sparse tensor is looked at when it is made
_chosen = [False]  # whether anybody has said so, or that it is not to be


class check_sparse_tensor_invariants(ContextDecorator):
    """A block in which the indices of every new sparse tensor are checked.

    >>> with torch.sparse.check_sparse_tensor_invariants():
    ...     torch.sparse_coo_tensor([[5]], [1.0], (3,))
    Traceback (most recent call last):
    RuntimeError: size is inconsistent with indices: for dim 0, size is 3 but found index 5
    Indices count from 0 in each dimension.
    """

    def __init__(self, enable: bool = True):
        self._enable = enable
        self._before: list[bool] = []

    @staticmethod
    def is_enabled() -> bool:
        """Whether checks are on."""
        return _checks[0]

    @staticmethod
    def enable() -> None:
        """Check from now on."""
        _checks[0] = _chosen[0] = True

    @staticmethod
    def disable() -> None:
        """Check no more."""
        _checks[0], _chosen[0] = False, True

    def __enter__(self) -> None:
        self._before.append(_checks[0])
        _checks[0], _chosen[0] = self._enable, True

    def __exit__(self, *error: object) -> None:
        _checks[0] = self._before.pop()


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """A sparse tensor of its indices and values; of sizes alone one without elements.

    Args:
        indices: (sparse_dim, nnz), where the values stand
        values: (nnz, ...), the values; those with the same indices are added
        size: the sizes, by default the smallest that hold all indices
        dtype: of the values, by default what they have
        check_invariants: whether the indices are looked at
        is_coalesced: says that each index stands once, in order

    >>> torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 5.]])
    """
    require_cpu(device)
    refuse_pinned(pin_memory)
    if check_invariants is None and not _chosen[0]:
        warn_once(
            "Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will "
            "occur when operating on a sparse tensor which violates the invariants, but checks "
            "incur performance overhead. To silence this warning, explicitly opt in or out. See "
            "`torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance. "
        )
    if values is None:
        given = indices if size is None else size
        if not isinstance(given, (tuple, list)):
            raise errors.type_error(
                "sparse_coo_tensor(): argument 'size' (position 1) must be tuple of ints, not "
                f"{errors.type_name(given)}",
                "Give indices and values, or sizes.",
            )
        return empty(given, dtype, requires_grad)
    index = _as_indices(indices)
    data = values_of(values, dtype, requires_grad)
    if not data._array.ndim:
        data = data.reshape(1)
    _check_parts(index._array, data)
    given = size
    if size is None:
        where = index._array
        if where.shape[1] == 0 and where.shape[0]:
            largest = [0] * where.shape[0]
        else:
            largest = (where.max(axis=1) + 1).tolist() if where.shape[0] else []
        size = (*largest, *data.shape[1:])
    shape = tuple(int(n) for n in size)
    check = _checks[0] if check_invariants is None else check_invariants
    _check_sizes(index._array, data, shape)
    if check or given is None:
        check_indices(index._array, shape, check and bool(is_coalesced))
    found = make(index, data, shape, bool(is_coalesced))
    if requires_grad:
        if not (data.is_floating_point() or data.is_complex()):
            raise errors.runtime_error(
                "Only Tensors of floating point and complex dtype can require gradients",
                "Convert the values first.",
            )
        found.requires_grad_()
    return found


def refuse_pinned(pin_memory: bool) -> None:
    """Raise for memory that a GPU could read."""
    if pin_memory:
        raise errors.runtime_error(
            "Cannot access accelerator device when none is available.",
            "Leave pin_memory away: there is no GPU.",
        )


def values_of(values: Any, dtype: Any, requires_grad: bool) -> Any:
    """The values of a sparse tensor: of a tensor with its graph, or cut off where it is a leaf."""
    if not isinstance(values, tensor_base.TensorBase):
        return tensor(values, dtype=dtype)
    data = values if dtype is None else values.to(dtype)
    if data.requires_grad and not requires_grad:
        return data.view(data.shape)
    return data.detach()


def _as_indices(indices: Any) -> Any:
    if isinstance(indices, tensor_base.TensorBase):
        found = indices.detach().to(tensor([], dtype=None).long().dtype)
    else:
        found = tensor(indices).long()
    if found._array.ndim != 2:
        if found._array.ndim == 1 and not found._array.size:
            return wrap(np.zeros((0, 0), np.int64))
        raise errors.runtime_error(
            f"indices must be sparse_dim x nnz, but got: {list(found.shape)}",
            "Indices have a row for each sparse dimension and a column for each value.",
        )
    return found


def _check_parts(where: np.ndarray, values: Any) -> None:
    n = values.shape[0]
    if where.shape[0] == 0 and where.shape[1] == 0 and n == 0:
        return
    if where.shape[1] != n:
        raise errors.runtime_error(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{where.shape[1]}, nnz from values: {n}",
            "There is one value for each column of the indices.",
        )


def _check_sizes(where: np.ndarray, values: Any, shape: tuple) -> None:
    dense = values._array.ndim - 1
    if len(shape) != where.shape[0] + dense:
        raise errors.runtime_error(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = "
            f"{len(shape)}, sparse_dim = {where.shape[0]}, dense_dim = {dense}",
            "Sizes are those of the rows of the indices, then those of one value.",
        )
    expected = (where.shape[1], *shape[where.shape[0] :])
    if tuple(values.shape) != expected:
        raise errors.runtime_error(
            f"values has incorrect size, expected {list(expected)}, got {list(values.shape)}",
            "One value has the sizes of the dimensions that are not sparse.",
        )


def check_indices(where: np.ndarray, shape: tuple, coalesced: bool = False) -> None:
    """Raise unless all indices lie within `shape`, and in order where that is said."""
    for axis, row in enumerate(where):
        if not row.size:
            continue
        if row.min() < 0:
            raise errors.runtime_error(
                f"found negative index {row.min()} for dim {axis}",
                "Indices count from 0 in each dimension.",
            )
        if row.max() >= shape[axis]:
            raise errors.runtime_error(
                f"size is inconsistent with indices: for dim {axis}, size is {shape[axis]} but "
                f"found index {row.max()}",
                "Indices count from 0 in each dimension.",
            )
    if coalesced and (np.diff(positions(where, shape)) <= 0).any():
        raise errors.runtime_error(
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor",
            "Leave is_coalesced away and call coalesce().",
        )


def empty(size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
    """A sparse tensor of `size` without elements."""
    shape = tuple(int(n) for n in size)
    values = tensor([], dtype=dtype)
    found = make(np.zeros((len(shape), 0), np.int64), values, shape, True)
    return found.requires_grad_() if requires_grad else found


def laid_out(
    name: str, shape: tuple, dtype: Any, requires_grad: bool, layout: Any = sparse_coo
) -> Any:
    """`torch.zeros` and `torch.empty` with a sparse layout."""
    if name not in ("zeros", "empty"):
        raise errors.runtime_error(
            "full(...) is not implemented for sparse layout",
            f"A sparse tensor of {name} stores all: torch.{name}(...).to_sparse().",
        )
    if layout is sparse_coo:
        return empty(shape, dtype, requires_grad)
    found = COMPRESS[0](empty(shape, dtype), layout)
    return found.requires_grad_() if requires_grad else found


@serves("new_zeros", "new_empty")
def new_zeros(input: Any, *size: Any, dtype: Any = None, **options: Any) -> Any:
    """A sparse tensor of another size without elements, of the same dtype."""
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    layout = options.get("layout")
    if layout is strided:
        return input._data.detach().new_zeros(tuple(shape), dtype=dtype)
    return empty(
        shape, input.dtype if dtype is None else dtype, options.get("requires_grad", False)
    )


@serves("new")
def new(input: Any, *size: Any) -> Any:
    """A sparse tensor of another size without elements, or of other indices and values."""
    if size and isinstance(size[0], tensor_base.TensorBase):
        return sparse_coo_tensor(*size, check_invariants=False)
    return new_zeros(input, *size)


@serves("new_tensor")
def new_tensor(input: Any, data: Any, **options: Any) -> Any:
    """A dense tensor of `data` in the dtype of this one."""
    return input._data.detach().new_tensor(data, **options)


@serves("zeros_like", "empty_like")
def zeros_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    **_: Any,
) -> Any:
    """A sparse tensor of the same size without elements, or a dense one of zeros."""
    if memory_format is not None:
        text = "memory format option is only supported by strided tensors"
        raise errors.runtime_error(text, "Leave it away.")
    kind = input.dtype if dtype is None else dtype
    if layout is not None and layout is not sparse_coo:
        if layout is not strided:
            raise errors.not_implemented(
                f"zeros_like of a sparse tensor in {layout}", "torch.sparse_coo is there."
            )
        return input._data.detach().new_zeros(input.shape, dtype=kind, requires_grad=requires_grad)
    n_sparse = places(input).shape[0]
    values = input._data.detach().new_zeros((0, *input._shape[n_sparse:]), dtype=kind)
    found = make(np.zeros((n_sparse, 0), np.int64), values, input._shape, True)
    return found.requires_grad_() if requires_grad else found


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """A sparse matrix with the rows of `diagonals` along the diagonals `offsets`.

    Element j of a row stands in column j.

    >>> torch.sparse.spdiags(torch.ones(3), torch.tensor([0]), (3, 3)).to_dense()
    tensor([[1., 0., 0.],
            [0., 1., 0.],
            [0., 0., 1.]])
    """
    if layout is not None and layout is not sparse_coo:
        raise errors.not_implemented(
            f"spdiags(layout={layout}): only torch.sparse_coo is there", "Leave layout away."
        )
    rows = diagonals.reshape(1, -1) if diagonals.dim() < 2 else diagonals
    starts = offsets._array.reshape(-1)
    if len(set(starts.tolist())) != len(starts):
        raise errors.runtime_error(
            "Offset tensor contains duplicate values", "Each diagonal is given once."
        )
    if len(starts) != rows.shape[0]:
        raise errors.runtime_error(
            f"Number of diagonals ({rows.shape[0]}) does not match the number of offsets "
            f"({len(starts)})",
            "Give one offset for each row of diagonals.",
        )
    height, width = shape
    line, column = np.nonzero(
        [[0 <= j - k < height and j < width for j in range(rows.shape[1])] for k in starts]
    )
    taken = rows.reshape(-1).index_select(0, wrap(line * rows.shape[1] + column))
    where = np.stack((column - starts[line], column)).astype(np.int64)
    return make(where, taken, (height, width))
