"""torch.amp: mixed precision, matrix products in bfloat16 and sums in float32."""

from tapegrad.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from tapegrad.amp.grad_scaler import GradScaler
from tapegrad.core.missing import missing as _missing

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def __getattr__(name: str):
    raise _missing(__name__, name)
