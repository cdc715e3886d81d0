"""Modules of `torch.distributed` for many ranks, by name: what they compute is refused."""
