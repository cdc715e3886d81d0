"""torch.cuda.amp: older names of `torch.amp`, for the GPU."""

from tapegrad.core.missing import missing as _missing
from tapegrad.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from tapegrad.cuda.amp.common import amp_definitely_not_available
from tapegrad.cuda.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]


def __getattr__(name: str):
    raise _missing(__name__, name)
