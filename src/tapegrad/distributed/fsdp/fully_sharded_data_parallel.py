"""`FullyShardedDataParallel`, by name: its constructor raises."""

from typing import Any

from tapegrad.compat.torch.distributed.refusal import refuse
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.fsdp.api import (
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from tapegrad.nn.modules.module import Module

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "LocalOptimStateDictConfig",
    "LocalStateDictConfig",
    "MixedPrecision",
    "OptimStateDictConfig",
    "OptimStateKeyType",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictConfig",
    "StateDictSettings",
    "StateDictType",
]

_ADVICE = "Call torch.distributed.fsdp.fully_shard(module) instead: it spreads each parameter."


class FullyShardedDataParallel(Module):
    """Raises: parameters are not spread as flat ones; `fully_shard` spreads each by itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse("fsdp.FullyShardedDataParallel", _ADVICE)

    @staticmethod
    def fsdp_modules(module: Module, root_only: bool = False) -> list:
        """The modules in a model that are spread: none."""
        return []


__getattr__ = _refuses(__name__)
