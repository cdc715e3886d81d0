"""`DistributedDataParallel` of ranks with different numbers of inputs.

A step of the ranks that still have inputs, in the order of its collectives:

    1. how many they are (`Join`)
    2. whether gradients are reduced in this step, which one of them says by `no_sync`
    3. the order of the buckets, after the first step
    4. whose buffers the others take, and the buffers
    5. the buckets of gradients, and which parameters nobody has used

The ranks without inputs take part in all of it, with zeros.
"""

from tapegrad.core.annotations import Any
from tapegrad.distributed.algorithms.join import JoinHook
from tapegrad.distributed.collectives import all_reduce
from tapegrad.distributed.reduce_op import ReduceOp


def common_rank(model: Any, stands: bool) -> int:
    """The last rank of those that stand for one."""
    from tapegrad import tensor

    group = model.process_group
    found = tensor([group.rank() if stands else -1])
    all_reduce(found, ReduceOp.MAX, group=group)
    return int(found)


def anyone_reduces(model: Any, this_one: bool) -> bool:
    """Whether gradients are reduced in this step."""
    from tapegrad import tensor

    found = tensor([int(this_one)])
    all_reduce(found, group=model.process_group)
    return int(found) > 0


class ModelJoinHook(JoinHook):
    """What a rank without inputs does for a model while others have some."""

    def __init__(self, model: Any, divides_by_all: bool) -> None:
        self.model = model
        model._divides_by_all = divides_by_all

    def main_hook(self) -> None:
        model = self.model
        reduces = anyone_reduces(model, False)
        if reduces:
            model.reducer.prepare_for_forward()
        if model.will_sync_module_buffers():
            model._take_from(common_rank(model, False), model.module.buffers())
        model.require_forward_param_sync = reduces
        if reduces:
            model.reducer.take_part(model.find_unused_parameters or model.static_graph)

    def post_hook(self, is_last_joiner: bool) -> None:
        """Take the model of the rank that was the last to have inputs."""
        model = self.model
        if model.process_group.size() > 1:
            source = common_rank(model, is_last_joiner)
            model._take_from(source, [*model._module_parameters, *model.module.buffers()])
