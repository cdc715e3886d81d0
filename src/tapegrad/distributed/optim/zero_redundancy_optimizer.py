"""`ZeroRedundancyOptimizer`: each rank has the states of its part of the parameters."""

from itertools import chain

from tapegrad.autograd.execution_engine import ENGINE
from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import not_implemented, runtime_error, type_error
from tapegrad.distributed.algorithms.join import Join, Joinable, JoinHook
from tapegrad.distributed.collectives import broadcast, reduce
from tapegrad.distributed.groups import _resolved, get_global_rank
from tapegrad.distributed.object_collectives import broadcast_object_list
from tapegrad.distributed.reduce_op import ReduceOp
from tapegrad.optim import Optimizer
from tapegrad.tensors.tensor import Tensor


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimiser whose states are spread over ranks, parameter by parameter.

    Each parameter belongs to one rank: the largest first, each to the rank that has the fewest
    numbers so far, group by group. That rank makes its step and sends it to the others.

    Args:
        params: Parameters, or groups of them, the same on every rank.
        optimizer_class: The optimiser that makes the steps; `defaults` are its options.
        process_group: The ranks; all if None.
        parameters_as_bucket_view: Accepted; parameters are sent one by one either way.
        shard_gradients: Average each gradient on the rank that its parameter belongs to, while the
            backward pass goes on, and let it go on the others. For a model that is not in a
            `DistributedDataParallel`, with one backward pass for each step. PyTorch has no such
            option.

    Raises:
        NotImplementedError: `overlap_with_ddp`.

    Source: Rajbhandari et al., ZeRO: Memory optimizations toward training trillion parameter
    models, 2020: stage 1, and with `shard_gradients` stage 2.

    >>> tapegrad.distributed.init_process_group(
    ...     "gloo", store=tapegrad.distributed.HashStore(), rank=0, world_size=1
    ... )
    >>> from tapegrad.distributed.optim import ZeroRedundancyOptimizer
    >>> w = tapegrad.nn.Parameter(tapegrad.ones(2))
    >>> optimizer = ZeroRedundancyOptimizer([w], tapegrad.optim.SGD, lr=0.5)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.5000, 0.5000])
    >>> tapegrad.distributed.destroy_process_group()
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: type,
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        *,
        shard_gradients: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise not_implemented(
                "tapegrad has no overlap_with_ddp of ZeroRedundancyOptimizer", "Leave it away."
            )
        self.process_group = _resolved(process_group)
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        self._shards_gradients = shard_gradients
        self._owners: dict[Any, int] = {}
        self._n_numbers = [0] * self.world_size  # of each rank's parameters
        self._consolidated: list[dict] | None = None
        self._reduced: dict[Any, Any] = {}  # gradients since the last step, and works of them
        self._queued = False
        self.optim: Any = None
        Joinable.__init__(self)
        super().__init__(_groups(params), defaults)
        own = [self._own_part(group) for group in self.param_groups]
        self.optim = optimizer_class(own, **defaults)
        self.defaults = self.optim.defaults
        self._take_options()
        self.state = self.optim.state

    # --- who has what -----------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """More parameters, which are spread as the first ones were."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for p in sorted(group["params"], key=Tensor.numel, reverse=True):
            owner = self._n_numbers.index(min(self._n_numbers))
            self._owners[p] = owner
            self._n_numbers[owner] += p.numel()
            if self._shards_gradients and p.requires_grad:
                p.register_post_accumulate_grad_hook(self._arrived)
        if self.optim is not None:
            self.optim.add_param_group(self._own_part(group))
            self._take_options()

    def _own_part(self, group: dict) -> dict:
        """A group with the parameters of this rank alone."""
        own = [i for i, p in enumerate(group["params"]) if self._owners[p] == self.rank]
        found = dict(group)
        for name in ("params", "param_names"):
            if name in group:
                found[name] = [group[name][i] for i in own]
        return found

    def _take_options(self) -> None:
        """Have what the optimiser inside has as options, besides the parameters."""
        for group, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            group.update({k: v for k, v in own.items() if k not in ("params", "param_names")})

    def _give_options(self) -> None:
        """Let the optimiser inside have the options that a schedule has changed."""
        for group, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            own.update({k: v for k, v in group.items() if k not in ("params", "param_names")})

    def _parameters(self) -> list:
        return list(chain.from_iterable(group["params"] for group in self.param_groups))

    # --- a step -----------------------------------------------------------------------------------

    def step(self, closure: Callable | None = None, **kwargs: Any) -> Any:
        """A step of the optimiser inside, whose parameters the others then get."""
        Join.notify_join_context(self)
        self._finish_reducing()
        self._reduced.clear()
        self._give_options()
        loss = self.optim.step(closure, **kwargs) if closure else self.optim.step(**kwargs)
        self._take_options()
        if self.world_size > 1:
            with no_grad():
                works = [
                    broadcast(p.data, group=self.process_group, async_op=True, group_src=owner)
                    for p, owner in self._owners.items()
                ]
                for work in works:
                    work.wait()
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        self._finish_reducing()
        self._reduced.clear()
        super().zero_grad(set_to_none)

    def _arrived(self, p: Any) -> None:
        """Begin to average a gradient, if there is one, where its parameter belongs."""
        if p.grad is None:
            return
        if p in self._reduced:
            raise runtime_error(
                "shard_gradients averages the gradients of each backward pass, and a second one "
                "came before the step",
                "Call step() or zero_grad() between them, or leave shard_gradients away.",
            )
        g, owner = p.grad, self._owners[p]
        op = {"op": ReduceOp.AVG, "group": self.process_group, "async_op": True}
        self._reduced[p] = reduce(g, group_dst=owner, **op)
        if owner != self.rank:
            p.grad = None
        if not self._queued:
            self._queued = True
            ENGINE.queue_callback(self._finish_reducing)

    def _finish_reducing(self) -> None:
        self._queued = False
        for p, work in self._reduced.items():
            if work is not None:
                work.wait()
                self._reduced[p] = None

    # --- states -----------------------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the states of all ranks on one, for its `state_dict`; every rank calls it.

        Args:
            to: The rank, one of the world's.
        """
        self._give_options()
        gathered: list[Any] = []
        for owner in range(self.world_size):
            source = get_global_rank(self.process_group, owner) if self.world_size > 1 else 0
            found = [self.optim.state_dict()["state"] if owner == self.rank else None]
            if self.world_size > 1:
                broadcast_object_list(found, src=source, group=self.process_group)
            gathered.append(found[0])
        is_here = self.world_size == 1 or get_global_rank(self.process_group, self.rank) == to
        self._consolidated = gathered if is_here else None

    def state_dict(self) -> dict[str, Any]:
        """The states, as they were when `consolidate_state_dict` gathered them.

        Raises: RuntimeError where they were not gathered on this rank.
        """
        if self._consolidated is None:
            raise runtime_error(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to "
                "save the global state.",
                "Nothing was gathered yet.",
            )
        numbers = {p: i for i, p in enumerate(self._parameters())}
        own: list[list[Any]] = [[] for _ in range(self.world_size)]
        for p in self._parameters():
            own[self._owners[p]].append(p)
        found = super().state_dict()
        found["state"] = {}
        for params, states in zip(own, self._consolidated, strict=True):
            found["state"].update({numbers[params[i]]: state for i, state in states.items()})
        found["state"] = dict(sorted(found["state"].items()))
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` gave: each rank keeps the states of its parameters."""
        params = self._parameters()
        if len(params) != sum(len(g["params"]) for g in state_dict["param_groups"]):
            super().load_state_dict(state_dict)  # raises, and says what differs
        given = {params[i]: state for i, state in state_dict["state"].items()}
        own = list(chain.from_iterable(group["params"] for group in self.optim.param_groups))
        groups, n = [], 0
        for group, new in zip(self.optim.param_groups, state_dict["param_groups"], strict=True):
            size = len(group["params"])
            groups.append({**new, "params": list(range(n, n + size))})
            n += size
        for group in groups:
            group.pop("param_names", None)
        states = {i: given[p] for i, p in enumerate(own) if p in given}
        self.optim.load_state_dict({"state": states, "param_groups": groups})
        self.state = self.optim.state
        self._take_options()

    # --- uneven inputs ----------------------------------------------------------------------------

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """A rank without inputs makes steps all the same: others need its parameters."""
        return _StepHook(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self._parameters()[0].device

    @property
    def join_process_group(self) -> Any:
        """The ranks that have the states."""
        return self.process_group


class _StepHook(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self._optimizer = optimizer

    def main_hook(self) -> None:
        self._optimizer.step()


def _groups(params: Any) -> list:
    """The parameters, or groups of them, as a list."""
    if isinstance(params, Tensor):
        raise type_error(
            f"`params` argument should be an iterable of Tensors, but got {params.type()}",
            "Put the tensor into a list.",
        )
    return list(params)
