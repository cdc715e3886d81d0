"""Older names of `torch.amp`'s block and decorators, for the GPU."""

import functools
from typing import Any

from tapegrad.amp import autocast_mode as _amp
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.dtype import float16
from tapegrad.core.errors import deprecated


class autocast(_amp.autocast):
    """Older name of `torch.autocast("cuda")`: without a GPU, a block that changes nothing."""

    def __init__(
        self, enabled: bool = True, dtype: Dtype = float16, cache_enabled: bool = True
    ) -> None:
        _amp.warn_of_device("cuda", "autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def _deprecated(name: str) -> None:
    deprecated(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}(args..., device_type='cuda')` instead.",
        3,
    )


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """Older name of `torch.amp.custom_fwd(device_type="cuda")`."""
    _deprecated("custom_fwd")
    return functools.partial(_amp.custom_fwd, device_type="cuda")(fwd=fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """Older name of `torch.amp.custom_bwd(device_type="cuda")`."""
    _deprecated("custom_bwd")
    return functools.partial(_amp.custom_bwd, device_type="cuda")(bwd)
