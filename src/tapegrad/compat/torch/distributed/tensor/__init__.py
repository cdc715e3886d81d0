"""Modules of `torch.distributed.tensor` that cut layers and sequences over ranks, by name."""
