"""`torch.ao.nn.quantized`: `FloatFunctional`; the layers by name."""

from typing import Any

import tapegrad
from tapegrad.compat.paths import QUANTISATION as _ADVICE
from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.nn import Identity, Module
from tapegrad.tensors.tensor import Tensor


class FloatFunctional(Module):
    """Sums, products and the like as a module, so that an observer can be put behind them.

    >>> from tapegrad.compat.torch.ao.nn.quantized import FloatFunctional
    >>> FloatFunctional().add(torch.ones(2), torch.ones(2))
    tensor([2., 2.])
    """

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Not to be called: call its methods."""
        raise RuntimeError(
            "FloatFunctional is not intended to use the 'forward'. Please use the underlying "
            "operation"
        )

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + y."""
        return self.activation_post_process(tapegrad.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """x + y for a number: nothing is observed."""
        return tapegrad.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """x * y."""
        return self.activation_post_process(tapegrad.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """x * y for a number: nothing is observed."""
        return tapegrad.mul(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """Tensors one after the other."""
        return self.activation_post_process(tapegrad.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """max(x + y, 0)."""
        return self.activation_post_process(tapegrad.relu(tapegrad.add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """x @ y."""
        return self.activation_post_process(tapegrad.matmul(x, y))


FloatFunctional.__module__ = "torch.ao.nn.quantized.modules.functional_modules"

__all__ = ["FloatFunctional"]

_LAYERS = (
    "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
    "DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional GroupNorm Hardswish "
    "InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM LayerNorm LeakyReLU Linear "
    "MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid Softmax"
)

__getattr__: Any = _refusing(__name__, _ADVICE, classes=_LAYERS, submodules="dynamic")
