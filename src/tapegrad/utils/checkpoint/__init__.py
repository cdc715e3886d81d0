"""Checkpoints: keep the inputs of a stretch of the network, and compute the rest again backward.

Source: Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016.
"""

from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.checkpoint.frame import CheckpointError, GraphExecGroup
from tapegrad.utils.checkpoint.run import (
    CheckpointFunction,
    DefaultDeviceType,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    get_device_states,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
    set_device_states,
)
from tapegrad.utils.checkpoint.selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType",
    "GraphExecGroup", "SelectiveCheckpointContext", "check_backward_validity", "checkpoint",
    "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable",
    "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip

__getattr__ = _refuses(__name__)
