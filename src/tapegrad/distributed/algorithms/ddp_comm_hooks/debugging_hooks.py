"""A hook that sends nothing, which tells what communication costs."""

from tapegrad.distributed.algorithms.ddp_comm_hooks.default_hooks import noop_hook

__all__ = ["noop_hook"]
