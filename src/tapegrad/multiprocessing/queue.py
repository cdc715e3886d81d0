"""Queues of `torch.multiprocessing`: Python's, which send tensors by their memory."""

from multiprocessing.queues import Queue, SimpleQueue

import tapegrad.multiprocessing  # noqa: F401  # how tensors are sent

__all__ = ["Queue", "SimpleQueue"]
