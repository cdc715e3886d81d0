"""Modules of `torch.distributed.checkpoint` that only shards of several ranks need, by name."""
