"""`ShardedGradScaler`: the scaler of losses for models that are spread; of one rank, the usual."""

from typing import Any

from tapegrad.amp.grad_scaler import GradScaler


class ShardedGradScaler(GradScaler):
    """A `GradScaler`; with one rank no other can have found an infinity."""

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        backoff_factor: float = 0.5,
        growth_factor: float = 2.0,
        growth_interval: int = 2000,
        enabled: bool = True,
        process_group: Any = None,
    ) -> None:
        super().__init__(
            device, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
        self.process_group = process_group
