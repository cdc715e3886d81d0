"""`ShardedGradScaler`: the scaler of losses where each rank has other gradients."""

from tapegrad.amp.grad_scaler import GradScaler
from tapegrad.core.annotations import Any, OptimizerLike
from tapegrad.distributed.collectives import all_reduce
from tapegrad.distributed.groups import get_world_size, is_initialized
from tapegrad.distributed.reduce_op import ReduceOp


class ShardedGradScaler(GradScaler):
    """A `GradScaler` that skips a step on every rank where one has found inf or nan.

    That of `torch.amp` does so too where gradients are `DTensor`s, or the same on all ranks.

    Args:
        process_group: The ranks; all if None.
    """

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

    def _unscale_grads_(
        self, optimizer: OptimizerLike, inv_scale: Any, found_inf: Any, allow_fp16: bool
    ) -> dict[Any, Any]:
        found = super()._unscale_grads_(optimizer, inv_scale, found_inf, allow_fp16)
        if not is_initialized() or get_world_size(self.process_group) == 1:
            return found
        all_reduce(found_inf, ReduceOp.MAX, self.process_group)
        return {found_inf.device: found_inf}
