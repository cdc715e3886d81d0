"""Elements with the same indices added, and what the parts of a sparse tensor are."""

from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.shape import axis_of as _axis
from tapegrad.sparse.table import has, serves
from tapegrad.sparse.tensor import make, picked, places, positions, scattered


@serves("coalesce")
def coalesce(input: Any) -> Any:
    """The same tensor with each index once, in order."""
    if input._coalesced:
        return input
    where = places(input)
    found, inverse = np.unique(positions(where, input._shape), return_inverse=True)
    first = np.zeros(found.size, np.int64)
    first[inverse[::-1]] = np.arange(inverse.size)[::-1]
    if found.size == inverse.size:
        values = picked(input._data, first)
    else:
        values = scattered(input._data, inverse.reshape(-1), found.size)
    return make(np.ascontiguousarray(where[:, first]), values, input._shape, True)


@serves("is_coalesced")
def is_coalesced(input: Any) -> bool:
    """Whether each index stands once, in order."""
    return input._coalesced


@serves("_coalesced_")
def set_coalesced(input: Any, coalesced: bool) -> Any:
    """Say whether each index stands once."""
    input._coalesced = bool(coalesced)
    return input


@serves("_indices")
def raw_indices(input: Any) -> Any:
    """The indices as they are: (sparse_dim, nnz)."""
    return input._index.detach()


@serves("_values")
def raw_values(input: Any) -> Any:
    """The values as they are, without history: (nnz, ...)."""
    return input._data.detach()


@serves("_nnz")
def nnz(input: Any) -> int:
    """The number of elements that are stored."""
    return places(input).shape[1]


@serves("indices")
def indices(input: Any) -> Any:
    """The indices of a coalesced tensor."""
    _check_coalesced(input, "indices")
    return input._index.detach()


@serves("values")
def values(input: Any) -> Any:
    """The values of a coalesced tensor, with their history."""
    _check_coalesced(input, "values")
    return input._data.view(input._data.shape)


def _check_coalesced(input: Any, name: str) -> None:
    if not input._coalesced:
        raise errors.runtime_error(
            f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first",
            f"_{name}() gives them as they are.",
        )


@serves("sparse_dim", "_dimI")
def sparse_dim(input: Any) -> int:
    """The number of sparse dimensions."""
    return places(input).shape[0]


@serves("dense_dim", "_dimV")
def dense_dim(input: Any) -> int:
    """The number of dimensions that are not sparse."""
    return len(input._shape) - places(input).shape[0]


@serves("dim", "ndimension")
def dim(input: Any) -> int:
    """The number of dimensions."""
    return len(input._shape)


@serves("numel", "nelement")
def numel(input: Any) -> int:
    """The number of elements, those that are not stored included."""
    return int(np.prod(input._shape, dtype=np.int64))


@serves("size")
def size(input: Any, dim: Any = None) -> Any:
    """The sizes, or that of dimension `dim`."""
    return input.shape if dim is None else input._shape[_axis(dim, len(input._shape))]


@serves("stride")
def stride(input: Any, dim: Any = None) -> Any:
    """Zeros: the elements lie where the indices say."""
    return (0,) * len(input._shape) if dim is None else 0


@serves("__len__")
def length(input: Any) -> int:
    """The size of the first dimension."""
    if not input._shape:
        raise errors.type_error("len() of a 0-d tensor", "It has no dimensions.")
    return input._shape[0]


@serves("element_size")
def element_size(input: Any) -> int:
    """The number of bytes of a value."""
    return input._data.element_size()


has("itemsize")(element_size)


@serves("storage_offset")
def storage_offset(input: Any) -> int:
    """Zero."""
    return 0


@serves("is_contiguous", "is_pinned", "is_shared", "is_conj", "is_neg", "is_inference")
def no(input: Any, *args: Any, **kwargs: Any) -> bool:
    """A sparse tensor is not."""
    return False


@serves("is_floating_point")
def is_floating_point(input: Any) -> bool:
    """Whether the values are floating-point numbers."""
    return input._data.is_floating_point()


@serves("is_complex")
def is_complex(input: Any) -> bool:
    """Whether the values are complex numbers."""
    return input._data.is_complex()


@serves("is_signed")
def is_signed(input: Any) -> bool:
    """Whether the values can be negative."""
    return input._data.is_signed()


@serves("is_same_size")
def is_same_size(input: Any, other: Any) -> bool:
    """Whether two tensors have the same sizes."""
    return input.shape == other.shape


@serves("get_device")
def get_device(input: Any) -> int:
    """-1: the CPU."""
    return input._data.get_device()


@serves("result_type")
def result_type(input: Any, other: Any) -> Any:
    """The dtype of a sum of both."""
    from tapegrad.sparse.arithmetic import result_dtype

    return result_dtype(input, other)


@has("_version")
def version(input: Any) -> int:
    """How often the values were written in place."""
    return input._data._version
