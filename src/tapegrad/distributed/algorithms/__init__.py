"""`torch.distributed.algorithms`: `join`, and hooks of `DistributedDataParallel`."""
