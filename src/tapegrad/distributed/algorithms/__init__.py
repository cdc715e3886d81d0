"""`torch.distributed.algorithms`: `join`, and hooks of `DistributedDataParallel`."""

from tapegrad.distributed.algorithms.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
