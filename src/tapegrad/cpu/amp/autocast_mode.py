"""The older name of `torch.autocast("cpu")`."""

import warnings

from tapegrad.amp import autocast_mode as _amp
from tapegrad.core.dtype import bfloat16
from tapegrad.core.dtype import dtype as Dtype


class autocast(_amp.autocast):
    """Older name of `torch.autocast("cpu")`."""

    def __init__(
        self, enabled: bool = True, dtype: Dtype = bfloat16, cache_enabled: bool = True
    ) -> None:
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. "
            "Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
