"""The older name of `torch.autocast("cpu")`."""

from tapegrad.amp import autocast_mode as _amp
from tapegrad.core.dtype import bfloat16
from tapegrad.core.dtype import dtype as Dtype


class autocast(_amp.autocast):
    """Older name of `torch.autocast("cpu")`."""

    def __init__(
        self, enabled: bool = True, dtype: Dtype = bfloat16, cache_enabled: bool = True
    ) -> None:
        _amp.warn_of_device("cpu", "autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
