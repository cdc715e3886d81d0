"""Functions of `torch` with an underscore that programs call: public ones by other names."""

from typing import Any

import tapegrad
from tapegrad.tensors.tensor import Tensor

__torch__ = (
    "_conj_physical _log_softmax _shape_as_tensor _softmax _softmax_backward_data "
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
