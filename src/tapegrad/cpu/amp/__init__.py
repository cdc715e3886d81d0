"""torch.cpu.amp: older names of `torch.amp`, for the CPU."""

from tapegrad.core.missing import missing as _missing
from tapegrad.cpu.amp.autocast_mode import autocast
from tapegrad.cpu.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]


def __getattr__(name: str):
    raise _missing(__name__, name)
