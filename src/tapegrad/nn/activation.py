"""Activations of the rectifier family: the identity for large inputs, little for small ones."""

from __future__ import annotations

from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.tensors.tensor import Tensor


class InPlace(Module):
    """A layer whose one choice is whether to overwrite its input."""

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(InPlace):
    """The positive part: `max(x, 0)`.

    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class SELU(InPlace):
    """Scaled exponential: `1.0507 * (x if x > 0 else 1.6733 * (exp(x) - 1))`.

    Source: Klambauer et al., Self-normalizing neural networks, 2017.

    >>> torch.nn.SELU()(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class SiLU(InPlace):
    """`x * sigmoid(x)`, also called swish.

    Source: Hendrycks and Gimpel, Gaussian error linear units, 2016.

    >>> torch.nn.SiLU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(InPlace):
    """`x * tanh(softplus(x))`.

    Source: Misra, Mish, 2019.

    >>> torch.nn.Mish()(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(InPlace):
    """`x * clamp(x + 3, 0, 6) / 6`, piecewise and cheap.

    Source: Howard et al., Searching for MobileNetV3, 2019.

    >>> torch.nn.Hardswish()(torch.tensor([-1.0, 2.0]))
    tensor([-0.3333,  1.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class GELU(Module):
    """`x * Phi(x)` with the normal distribution function `Phi`, or its `"tanh"` approximation.

    Source: Hendrycks and Gimpel, Gaussian error linear units, 2016.

    >>> torch.nn.GELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class LeakyReLU(Module):
    """`x if x > 0 else negative_slope * x`.

    >>> torch.nn.LeakyReLU(0.1)(torch.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}{_inplace(self)}"


class PReLU(Module):
    """A leaky rectifier that learns its slope, one for all or one for each channel (axis 1).

    Shape: `x: (N, num_parameters, ...)` if there are several; `weight: (num_parameters,)`.

    Source: He et al., Delving deep into rectifiers, 2015.

    >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).detach()
    tensor([-0.2500,  2.0000])
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Every slope is `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """A leaky rectifier with random slopes in training, their mean in evaluation.

    Source: Xu et al., Empirical evaluation of rectified activations, 2015.

    >>> torch.nn.RReLU(0.1, 0.3).eval()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2000,  2.0000])
    """

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}{_inplace(self)}"


class ELU(Module):
    """`x if x > 0 else alpha * (exp(x) - 1)`.

    Source: Clevert et al., Fast and accurate deep network learning by ELUs, 2015.

    >>> torch.nn.ELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_inplace(self)}"


class CELU(Module):
    """`max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`: ELU, smooth for every alpha.

    Source: Barron, Continuously differentiable exponential linear units, 2017.

    >>> torch.nn.CELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_inplace(self)}"


class Softplus(Module):
    """`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above `threshold`.

    >>> torch.nn.Softplus()(torch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


def _inplace(module: Any) -> str:
    return ", inplace=True" if module.inplace else ""
