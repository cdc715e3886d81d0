"""torch.signal: windows."""

from tapegrad.signal import windows

__all__ = ["windows"]
