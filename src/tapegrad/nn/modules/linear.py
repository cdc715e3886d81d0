"""Linear layers: a matrix, or one for each pair of inputs."""

import math

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike
from tapegrad.core.errors import value_error
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.modules.lazy import LazyLayer
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import shown
from tapegrad.nn.parameter import Parameter, add_parameter
from tapegrad.tensors.tensor import Tensor

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Its input, unchanged; arguments of the constructor are ignored.

    >>> torch.nn.Identity(54, unused=True)(torch.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """Weighted sums of the last axis: `y = x @ weight.T + bias`.

    Args:
        in_features: size of the last axis of `x`
        out_features: size of the last axis of `y`
        bias: whether to add a bias

    Shape: `x: (..., in_features)` to `y: (..., out_features)`;
    `weight: (out_features, in_features)`, `bias: (out_features,)`.

    >>> layer = torch.nn.Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    >>> layer(torch.ones(5, 3)).shape
    torch.Size([5, 2])
    """

    __constants__ = ("in_features", "out_features")

    in_features: int
    out_features: int
    weight: Parameter

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        add_parameter(self, "weight", True, (out_features, in_features), device, dtype)
        add_parameter(self, "bias", bias, out_features, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform on +-1/sqrt(in_features), weight and bias.

        Source: LeCun et al., Efficient BackProp, 1998, as PyTorch has it: `kaiming_uniform_` with
        `a=sqrt(5)` is that bound.
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{shown(self, 'in_features out_features')}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """A linear layer; the name says that PyTorch's quantisation leaves it alone."""


class Bilinear(Module):
    """A form linear in each of two inputs: `y_k = x1 @ weight[k] @ x2 + bias_k`.

    Shape: `x1: (..., in1_features)`, `x2: (..., in2_features)` to `y: (..., out_features)`;
    `weight: (out_features, in1_features, in2_features)`, `bias: (out_features,)`.

    >>> torch.nn.Bilinear(3, 4, 2)(torch.ones(5, 3), torch.ones(5, 4)).shape
    torch.Size([5, 2])
    """

    __constants__ = ("in1_features", "in2_features", "out_features")

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise value_error(
                f"in1_features must be > 0, but got (in1_features={in1_features})",
                "The bound of the initialisation is 1/sqrt(in1_features).",
            )
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        add_parameter(self, "weight", True, shape, device, dtype)
        add_parameter(self, "bias", bias, out_features, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform on +-1/sqrt(in1_features), weight and bias."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = shown(self, "in1_features in2_features out_features")
        return f"{sizes}, bias={self.bias is not None}"


class LazyLinear(LazyLayer, Linear, becomes=Linear):
    """A `Linear` with as many `in_features` as its first input has.

    >>> torch.nn.LazyLinear(3)(torch.ones(2, 5)).shape
    torch.Size([2, 3])
    """

    _taken = "in_features"

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self._make_later(True, bias, device, dtype)

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
