"""Queues of work of Intel's GPUs: there is none."""

from tapegrad.compat.torch.xpu import Event, Stream

__all__ = ["Event", "Stream"]
