"""`torch.distributed.elastic`: of it, how a worker says that it failed."""
