"""A linear layer that takes the number of features from its first input."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.nn.lazy import LazyModuleMixin
from tapegrad.nn.linear import Linear
from tapegrad.nn.uninitialized import UninitializedParameter
from tapegrad.tensors.tensor import Tensor


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` with as many `in_features` as its first input has.

    >>> torch.nn.LazyLinear(3)(torch.ones(2, 5)).shape
    torch.Size([2, 3])
    """

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """As in `Linear`, once the parameters have shapes."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Make the parameters for inputs like this one."""
        if not self.has_uninitialized_params():
            if not self.in_features:
                self.in_features = self.weight.shape[-1]
            return
        with no_grad():
            self.in_features = input.shape[-1]
            weight: Any = self.weight
            weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
