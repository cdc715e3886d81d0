"""Normalisations of samples: over features, groups of channels, and neighbouring channels."""

from numbers import Integral

from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, Shape
from tapegrad.core.errors import value_error
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import shown
from tapegrad.nn.parameter import Parameter, add_parameter
from tapegrad.operators.shape.cat_stack import stack
from tapegrad.tensors.tensor import Tensor

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _Norm(Module):
    weight: Parameter | None

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, those of them that there are."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class LayerNorm(_Norm):
    """`y = (x - mean) / sqrt(variance + eps) * weight + bias` over the last dimensions.

    Args:
        normalized_shape: sizes of the dimensions that are normalised together, or of the last
        eps: added to the variance
        elementwise_affine: whether there are weight and bias
        bias: whether, with `elementwise_affine`, there is a bias

    Shape: `x` and `y: (..., *normalized_shape)`; `weight`, `bias: normalized_shape`.

    Source: Ba et al., Layer normalization, 2016, eq. 3.

    >>> torch.nn.LayerNorm(2)(torch.tensor([[1.0, 3.0], [5.0, 5.0]])).detach()
    tensor([[-1.0000,  1.0000],
            [ 0.0000,  0.0000]])
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")

    def __init__(
        self,
        normalized_shape: Shape,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        add_parameter(self, "weight", elementwise_affine, self.normalized_shape, device, dtype)
        add_parameter(
            self, "bias", elementwise_affine and bias, self.normalized_shape, device, dtype
        )
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        options = shown(self, "eps elementwise_affine")
        return f"{self.normalized_shape}, {options}, bias={self.bias is not None}"


class RMSNorm(_Norm):
    """`y = x / sqrt(mean(x^2) + eps) * weight` over the last dimensions.

    Args:
        normalized_shape: sizes of the dimensions that are normalised together, or of the last
        eps: added to the mean square; None for the dtype's epsilon
        elementwise_affine: whether there is a weight

    Shape: `x` and `y: (..., *normalized_shape)`; `weight: normalized_shape`.

    Source: Zhang and Sennrich, Root mean square layer normalization, 2019, eq. 4.

    >>> torch.nn.RMSNorm(2)(torch.tensor([[3.0, 4.0]])).detach()
    tensor([[0.8485, 1.1314]])
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")

    def __init__(
        self,
        normalized_shape: Shape,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        add_parameter(self, "weight", elementwise_affine, self.normalized_shape, device, dtype)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, {shown(self, 'eps elementwise_affine')}"


class GroupNorm(_Norm):
    """`y = (x - mean) / sqrt(variance + eps) * weight + bias`, each group of channels together.

    Args:
        num_groups: the channels fall into so many groups
        num_channels: number of channels C
        eps: added to the variance
        affine: whether there are weight and bias, for each channel
        bias: whether, with `affine`, there is a bias

    Shape: `x` and `y: (N, C, ...)`; `weight`, `bias: (C,)`.

    Source: Wu and He, Group normalization, 2018, eq. 1 and 7.

    >>> torch.nn.GroupNorm(2, 4)(torch.tensor([[1.0, 3.0, 5.0, 5.0]])).detach()
    tensor([[-1.0000,  1.0000,  0.0000,  0.0000]])
    """

    __constants__ = ("num_groups", "num_channels", "eps", "affine")

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise value_error(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})",
                "All groups have the same number of channels.",
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine = affine
        add_parameter(self, "weight", affine, (num_channels,), device, dtype)
        add_parameter(self, "bias", affine and bias, (num_channels,), device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        sizes, options = f"{self.num_groups}, {self.num_channels}", shown(self, "eps affine")
        return f"{sizes}, {options}, bias={self.bias is not None}"


def _sizes(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, Integral) else tuple(shape)  # type: ignore[return-value]


class CrossMapLRN2d(Module):
    """`y = x / (k + alpha / size * sum(x^2))^beta`, the sum over neighbouring channels.

    Use `LocalResponseNorm`: as in PyTorch, the first channel stays in the sum of every later one
    once it has been in it. The derivative is that of this function; PyTorch's own differs from
    it, and fails for some sizes.

    Shape: `x` and `y: (N, C, H, W)`.

    >>> torch.nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)(torch.ones(1, 4, 1, 1)).flatten()
    tensor([0.3333, 0.2500, 0.2000, 0.2500])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta = size, alpha, beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise value_error(
                f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.",
                "The shape is (N, C, H, W).",
            )
        squares = (input * input).unbind(1)
        reach = (self.size - 1) // 2 + 1  # the channel itself and those to one side
        sums = []
        for channel in range(len(squares)):
            first = max(channel - reach + 1, 0)
            near = [*squares[first : channel + reach]]
            if channel >= reach:
                near.append(squares[0])
            sums.append(sum(near[1:], near[0]))
        scale = stack(sums, 1) * (self.alpha / self.size) + self.k
        return input * scale**-self.beta

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(Module):
    """`y = x / (k + alpha * mean(x^2))^beta`, the mean over `size` neighbouring channels.

    Channels beyond the first and the last count as zero. The mean is over `size` channels, where
    the paper takes the sum.

    Shape: `x` and `y: (N, C, ...)`.

    Source: Krizhevsky et al., ImageNet classification with deep networks, 2012, section 3.3.

    >>> torch.nn.LocalResponseNorm(2, alpha=2.0, beta=1.0)(torch.ones(1, 1, 2))
    tensor([[[0.5000, 0.5000]]])
    """

    __constants__ = ("size", "alpha", "beta", "k")

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta = size, alpha, beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
