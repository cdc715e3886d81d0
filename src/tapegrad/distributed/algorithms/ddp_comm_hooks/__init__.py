"""Hooks of `DistributedDataParallel.register_comm_hook`: what becomes of a bucket of gradients."""

from enum import Enum
from functools import partial

from tapegrad.core.annotations import Any
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.algorithms.ddp_comm_hooks import (
    debugging_hooks,
    default_hooks,
    powerSGD_hook,
    quantization_hooks,
)

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


def _plain(hook: Any, model: Any, state: Any) -> None:
    model.register_comm_hook(state, hook)


def _power_sgd(hook: Any, rank: int, model: Any, state: Any) -> None:
    _plain(hook, model, powerSGD_hook.PowerSGDState(state, rank))


class DDPCommHookType(Enum):
    """The hooks by name."""

    ALLREDUCE = partial(_plain, default_hooks.allreduce_hook)
    FP16_COMPRESS = partial(_plain, default_hooks.fp16_compress_hook)
    BF16_COMPRESS = partial(_plain, default_hooks.bf16_compress_hook)
    QUANTIZE_PER_TENSOR = partial(_plain, quantization_hooks.quantization_pertensor_hook)
    QUANTIZE_PER_CHANNEL = partial(_plain, quantization_hooks.quantization_perchannel_hook)
    POWER_SGD = partial(_power_sgd, powerSGD_hook.powerSGD_hook, 1)
    POWER_SGD_RANK2 = partial(_power_sgd, powerSGD_hook.powerSGD_hook, 2)
    BATCHED_POWER_SGD = partial(_power_sgd, powerSGD_hook.batched_powerSGD_hook, 1)
    BATCHED_POWER_SGD_RANK2 = partial(_power_sgd, powerSGD_hook.batched_powerSGD_hook, 2)
    NOOP = partial(_plain, debugging_hooks.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Give a hook by name to a `DistributedDataParallel`."""
    comm_hook_type.value(model=model, state=state)


__getattr__ = _refuses(__name__)
