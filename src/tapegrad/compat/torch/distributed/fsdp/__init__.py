"""Models whose parameters are spread over ranks, by name: options are real, the models raise."""

from typing import Any

from tapegrad.compat.torch.distributed.fsdp.api import *
from tapegrad.compat.torch.distributed.fsdp.fully_sharded_data_parallel import (
    FullyShardedDataParallel,
)
from tapegrad.compat.torch.distributed.refusal import refuse, refusing
from tapegrad.core.missing import refuses as _refuses

_ADVICE = "With one rank nothing is spread: train the module itself, or DistributedDataParallel."


class FSDPModule:
    """What `fully_shard` would make of a module."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        refuse("fsdp.FSDPModule", _ADVICE)


class UnshardHandle:
    """What `FSDPModule.unshard` would give."""


fully_shard = refusing("fsdp.fully_shard", _ADVICE)
register_fsdp_forward_method = refusing("fsdp.register_fsdp_forward_method", _ADVICE)

__getattr__ = _refuses(__name__)
