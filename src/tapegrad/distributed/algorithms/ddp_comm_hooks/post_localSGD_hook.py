"""Gradients averaged within subgroups after a while, and models seldom over all ranks.

Source: Lin, Stich, Patel and Jaggi, Don't Use Large Mini-Batches, Use Local SGD, 2020. The models
are averaged by `algorithms.model_averaging`.
"""

import logging

from tapegrad.core.annotations import Any
from tapegrad.distributed.algorithms.ddp_comm_hooks.default_hooks import _mean, noop_hook
from tapegrad.distributed.groups import new_subgroups

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]

logger = logging.getLogger(__name__)


class PostLocalSGDState:
    """Who averages with whom, and from when on.

    Args:
        process_group: All ranks, which average gradients at first; the default group if None.
        subgroup: Those that do it from iteration `start_localSGD_iter` on. PyTorch takes the ranks
            of a computer if it is None, which it counts by GPUs: without any, give a group.
        post_local_gradient_allreduce: False: from then on nobody averages gradients.
    """

    __slots__ = (
        "iter",
        "post_local_gradient_allreduce",
        "process_group",
        "start_localSGD_iter",
        "subgroup",
    )

    def __init__(
        self,
        process_group: Any,
        subgroup: Any,
        start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count the iteration that ends with this bucket, if it is the last one."""
        self.iter += bucket.is_last()
        if self.iter == self.start_localSGD_iter:
            logger.info("Start to apply local SGD after %s iterations.", self.iter)


def post_localSGD_hook(state: PostLocalSGDState, bucket: Any) -> Any:
    """The mean of a bucket over all ranks at first, over those of the subgroup later, or none."""
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return _mean(state.process_group, bucket.buffer())
    if not state.post_local_gradient_allreduce:
        return noop_hook(None, bucket)
    if state.subgroup is None:
        state.subgroup, _ = new_subgroups()
    return _mean(state.subgroup, bucket.buffer())
