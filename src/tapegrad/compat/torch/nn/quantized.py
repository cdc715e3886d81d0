"""`torch.nn.quantized`: the older name of `torch.ao.nn.quantized`."""

from typing import Any

from tapegrad.compat.torch.ao.nn import quantized as _quantized
from tapegrad.compat.torch.ao.nn.quantized import FloatFunctional

__all__ = ["FloatFunctional"]


def __getattr__(name: str) -> Any:
    return getattr(_quantized, name)
