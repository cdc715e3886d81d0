"""torch.cpu.amp: older names of `torch.amp`, for the CPU."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.cpu.amp.autocast_mode import autocast
from tapegrad.cpu.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]

__getattr__ = _refuses(__name__)
