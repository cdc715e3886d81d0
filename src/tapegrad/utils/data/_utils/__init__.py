"""The inside of a DataLoader, where PyTorch users look for it."""

from tapegrad.utils.data._utils import collate, fetch, worker

__all__ = ["collate", "fetch", "worker"]
