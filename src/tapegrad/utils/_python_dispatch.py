"""`torch.utils._python_dispatch`: modes that are handed operators."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.overrides.dispatch_mode import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
)

TorchDispatchMode.__module__ = "torch.utils._python_dispatch"

__all__ = [
    "TorchDispatchMode",
    "_disable_current_modes",
    "_get_current_dispatch_mode",
    "_get_current_dispatch_mode_stack",
]

__getattr__ = _refuses(__name__)
