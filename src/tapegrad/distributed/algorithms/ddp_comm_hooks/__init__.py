"""Hooks of `DistributedDataParallel.register_comm_hook`: what becomes of a bucket of gradients."""

from enum import Enum
from functools import partial

from tapegrad.core.annotations import Any
from tapegrad.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


def _plain(hook: Any, model: Any, state: Any) -> None:
    model.register_comm_hook(state, hook)


class DDPCommHookType(Enum):
    """The hooks by name."""

    ALLREDUCE = partial(_plain, default_hooks.allreduce_hook)
    FP16_COMPRESS = partial(_plain, default_hooks.fp16_compress_hook)
    BF16_COMPRESS = partial(_plain, default_hooks.bf16_compress_hook)
    NOOP = partial(_plain, default_hooks.noop_hook)
    POWER_SGD = partial(_plain, powerSGD_hook.powerSGD_hook)
    BATCHED_POWER_SGD = partial(_plain, powerSGD_hook.batched_powerSGD_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Give a hook by name to a `DistributedDataParallel`."""
    comm_hook_type.value(model=model, state=state)
