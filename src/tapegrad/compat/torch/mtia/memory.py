"""Memory of Meta's accelerators: there is none."""

from tapegrad.compat.torch.mtia import max_memory_allocated, memory_stats, reset_peak_memory_stats

__all__ = ["max_memory_allocated", "memory_stats", "reset_peak_memory_stats"]
