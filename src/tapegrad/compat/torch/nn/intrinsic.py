"""`torch.nn.intrinsic`: the older name of `torch.ao.nn.intrinsic`."""

from typing import Any

from tapegrad.compat.torch.ao.nn import intrinsic as _intrinsic


def __getattr__(name: str) -> Any:
    return getattr(_intrinsic, name)
