"""`ZeroRedundancyOptimizer`: each rank has the states of its part of the parameters."""

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import not_implemented, runtime_error
from tapegrad.distributed.groups import _resolved
from tapegrad.optim import Optimizer


class ZeroRedundancyOptimizer(Optimizer):
    """An optimiser whose states are spread over ranks; one rank has all of them.

    Args:
        params: Parameters, or groups of them.
        optimizer_class: The optimiser that makes the steps; `defaults` are its options.

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
        **defaults: Any,
    ) -> None:
        self.process_group = _resolved(process_group)
        if self.process_group.size() > 1:
            raise not_implemented(
                "tapegrad has no ZeroRedundancyOptimizer of several ranks",
                f"Take {optimizer_class.__name__} itself on each.",
            )
        if overlap_with_ddp:
            raise not_implemented(
                "tapegrad has no overlap_with_ddp of ZeroRedundancyOptimizer", "Leave it away."
            )
        self.optim = optimizer_class(params, **defaults)
        self._consolidated: dict | None = None
        self._is_built = False
        super().__init__(self.optim.param_groups, self.optim.defaults)
        self._is_built = True
        self.param_groups = self.optim.param_groups
        self.state = self.optim.state

    def step(self, closure: Callable | None = None, **kwargs: Any) -> Any:
        """A step of the optimiser inside."""
        return self.optim.step(closure, **kwargs) if closure else self.optim.step(**kwargs)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """More parameters."""
        if self._is_built:  # the groups of the beginning are there
            self.optim.add_param_group(param_group)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the states of all ranks on one, for `state_dict`."""
        self._consolidated = self.optim.state_dict()

    def state_dict(self) -> dict[str, Any]:
        """The states, as they were when `consolidate_state_dict` gathered them."""
        if self._consolidated is None:
            rank = self.process_group.rank()
            raise runtime_error(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={rank})` on all ranks beforehand if you meant to save "
                "the global state.",
                "Nothing was gathered yet.",
            )
        return self._consolidated

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` gave."""
        self.optim.load_state_dict(state_dict)
        self.param_groups, self.state = self.optim.param_groups, self.optim.state
