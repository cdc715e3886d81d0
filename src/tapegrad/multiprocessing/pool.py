"""`torch.multiprocessing.Pool`: Python's, which sends tensors by their memory."""

from multiprocessing.pool import Pool

import tapegrad.multiprocessing  # noqa: F401  # how tensors are sent

__all__ = ["Pool"]
