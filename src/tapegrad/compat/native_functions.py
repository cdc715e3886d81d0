"""Functions of `torch` with an underscore that programs call: public ones by other names."""

from typing import Any

import tapegrad
from tapegrad.core import errors
from tapegrad.tensors.tensor import Tensor

__torch__ = (
    "_conj_physical _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo "
    "_log_softmax _shape_as_tensor _softmax _softmax_backward_data "
    "_log_softmax_backward_data compiled_with_cxx11_abi"
)


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The shape of a tensor, as a tensor of int64.

    >>> torch._shape_as_tensor(torch.ones(2, 3))
    tensor([2, 3])
    """
    return tapegrad.tensor(list(self.shape), dtype=tapegrad.int64)


def _conj_physical(self: Tensor) -> Tensor:
    """`torch.conj_physical`."""
    return tapegrad.conj_physical(self)


def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`torch.softmax`; with `half_to_float` in float32."""
    return tapegrad.softmax(self, dim, dtype=tapegrad.float32 if half_to_float else None)


def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`torch.log_softmax`; with `half_to_float` in float32."""
    return tapegrad.log_softmax(self, dim, dtype=tapegrad.float32 if half_to_float else None)


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """The gradient of a softmax from that of its output: y (g - sum(g y))."""
    product = grad_output * output
    return (product - output * product.sum(dim, keepdim=True)).to(input_dtype)


def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """The gradient of a log_softmax from that of its output: g - exp(y) sum(g)."""
    total = grad_output.sum(dim, keepdim=True)
    return (grad_output - output.exp() * total).to(input_dtype)


def compiled_with_cxx11_abi() -> bool:
    """Whether PyTorch's libraries have the names of C++11: they all do.

    >>> torch.compiled_with_cxx11_abi()
    True
    """
    return True


def _convert_indices_from_coo_to_csr(self: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where the entries of each of `size` rows begin, and where the last one's end.

    Args:
        self: (n,), the row of each entry, in ascending order.

    Returns: (size + 1,), int64, or int32 if that is asked for.

    >>> torch._convert_indices_from_coo_to_csr(torch.tensor([0, 0, 2]), 4)
    tensor([0, 2, 2, 3, 3])
    """
    if self.dim() > 1:
        raise errors.runtime_error(
            f"Input is supposed to be a vector, but got {self.dim()} dimensional tensor.",
            "It has the row of each entry.",
        )
    if self.dtype.is_floating_point or self.dtype.is_complex or self.dtype is tapegrad.bool:
        raise errors.not_implemented(
            '"convert_indices_from_coo_to_csr_cpu" not implemented for '
            f"'{self.dtype.scalar_name}'",
            "Rows are integers.",
        )
    if self.numel() and not 0 <= int(self.min()) <= int(self.max()) < size:
        raise errors.index_error(
            f"index out of range: rows go from 0 to {size - 1}",
            f"They are between {int(self.min())} and {int(self.max())}.",
        )
    return tapegrad.searchsorted(self, tapegrad.arange(size + 1), out_int32=out_int32)


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The row and the column of each entry, (2, n); with `transpose` the column comes first.

    >>> torch._convert_indices_from_csr_to_coo(torch.tensor([0, 2, 3]), torch.tensor([0, 1, 1]))
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    dtype = tapegrad.int32 if out_int32 else tapegrad.int64
    counts = crow_indices.diff()
    rows = tapegrad.arange(len(counts)).repeat_interleave(counts).to(dtype)
    columns = col_indices.to(dtype)
    return tapegrad.stack([columns, rows] if transpose else [rows, columns])
