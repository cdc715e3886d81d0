"""Tensors spread over ranks, by name: there are none, and nothing is an instance of `DTensor`."""

from typing import Any

from tapegrad.compat.torch.distributed.refusal import refuse, refusing
from tapegrad.compat.torch.distributed.tensor.placement_types import (
    Partial,
    Placement,
    Replicate,
    Shard,
)
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.device_mesh import DeviceMesh, init_device_mesh
from tapegrad.tensors.tensor import Tensor

__all__ = ["DTensor", "Partial", "Placement", "Replicate", "Shard"]

_ADVICE = "With one rank a tensor is whole: use it as it is."


class DTensor(Tensor):
    """Raises: there are no tensors spread over ranks."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        refuse("tensor.DTensor", _ADVICE)

    @staticmethod
    def from_local(*args: Any, **kwargs: Any) -> Any:
        """Raises: there are no tensors spread over ranks."""
        refuse("tensor.DTensor", _ADVICE)


for _name in "distribute_tensor distribute_module empty full ones rand randn zeros".split():
    globals()[_name] = refusing(f"tensor.{_name}", _ADVICE)

__getattr__ = _refuses(__name__)
