"""`torch.distributed.tensor`: tensors of which each rank has a part, or all.

placement_types   where the parts are
dtensor           `DTensor`, and what makes one
redistribute      from one placement to another, with gradients
rules             what functions of tensors do with them: elementwise, reductions, creation
creation          `zeros`, `rand`, ... that make whole tensors in parts

Tensor parallelism (`parallel`, `experimental`) is known by name and refused.
"""

from tapegrad.core.annotations import Any
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.device_mesh import DeviceMesh, init_device_mesh
from tapegrad.distributed.tensor.creation import empty, full, ones, rand, randn, zeros
from tapegrad.distributed.tensor.dtensor import DTensor, distribute_module, distribute_tensor
from tapegrad.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "ones",
    "rand",
    "randn",
    "zeros",
]

_refuse = _refuses(__name__)


def __getattr__(name: str) -> Any:
    if name in ("experimental", "parallel"):
        from tapegrad.compat.insides import module_of

        return module_of(f"distributed.tensor.{name}")
    return _refuse(name)
