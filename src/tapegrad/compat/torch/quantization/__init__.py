"""`torch.quantization`: the older name of `torch.ao.quantization`."""

from typing import Any

from tapegrad.compat.torch.ao import quantization as _quantization
from tapegrad.compat.torch.ao.quantization import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


def __getattr__(name: str) -> Any:
    return getattr(_quantization, name)
