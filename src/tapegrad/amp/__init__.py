"""torch.amp: mixed precision, matrix products in bfloat16 and sums in float32."""

from tapegrad.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from tapegrad.amp.grad_scaler import GradScaler
from tapegrad.core.missing import refuses as _refuses

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

__getattr__ = _refuses(__name__)
