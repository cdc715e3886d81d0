"""`DefaultSavePlanner` and `DefaultLoadPlanner`: options of who writes and reads what."""

from tapegrad.core.errors import not_implemented
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.checkpoint.planner import LoadPlanner, SavePlanner


class DefaultSavePlanner(SavePlanner):
    """Every part once, each by the rank that has the fewest bytes to write so far.

    Args:
        dedup_save_to_lowest_rank: By the lowest of the ranks that have it.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:
        _check_flat(flatten_state_dict)
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank


class DefaultLoadPlanner(LoadPlanner):
    """What the given state has, from the parts that have it.

    Args:
        allow_partial_load: Leave what the checkpoint lacks as it is.
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        _check_flat(flatten_state_dict)
        self.allow_partial_load = allow_partial_load


def _check_flat(flat: bool) -> None:
    if not flat:
        raise not_implemented(
            "tapegrad has no planner with flatten_state_dict=False", "Leave it away."
        )


__getattr__ = _refuses(__name__)
