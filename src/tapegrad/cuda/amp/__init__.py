"""torch.cuda.amp: older names of `torch.amp`, for the GPU."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from tapegrad.cuda.amp.common import amp_definitely_not_available
from tapegrad.cuda.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = _refuses(__name__)
