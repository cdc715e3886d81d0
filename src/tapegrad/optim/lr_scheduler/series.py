"""Several schedulers of one optimizer: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from tapegrad.core.errors import type_error, value_error
from tapegrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from tapegrad.optim.lr_scheduler.scheduler import LRScheduler, copied, set_option


class _Series(LRScheduler):
    """Saves its schedulers' states in a list."""

    _schedulers: list[Any]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, with a list of the schedulers' states."""
        state = super().state_dict()
        schedulers = state.pop("_schedulers")
        state["_schedulers"] = [s.state_dict() for s in schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        state = dict(state_dict)
        saved = state.pop("_schedulers")
        vars(self).update(state)
        for scheduler, one in zip(self._schedulers, saved, strict=False):
            scheduler.load_state_dict(one)


class SequentialLR(_Series):
    """One scheduler after the other, from milestone to milestone.

    Args:
        optimizer: whose groups are scheduled
        schedulers: in their order
        milestones: the epochs at which the next begins
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> from tapegrad.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> parts = [ConstantLR(optimizer, factor=0.5), ExponentialLR(optimizer, gamma=0.9)]
    >>> scheduler = SequentialLR(optimizer, parts, milestones=[2])
    >>> for _ in range(4):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [0.5]
    [0.5]
    [1.0]
    [0.9]
    """

    def __init__(
        self,
        optimizer: Any,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise value_error(
                "SequentialLR expects at least one scheduler, but got no scheduler.",
                "Pass a list of schedulers.",
            )
        _check_members("SequentialLR", schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise value_error(
                "Sequential Schedulers expects number of schedulers provided to be one more "
                "than the number of milestone points, but got number of schedulers "
                f"{len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}",
                "A milestone is where the next scheduler begins.",
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            set_option(group, "lr", copied(group["initial_lr"]))
        self.recursive_undo()
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the first epoch, which each scheduler counted when it was made."""
        scheduler = self if sched is None else sched
        if hasattr(scheduler, "_schedulers"):
            for each in scheduler._schedulers:
                self.recursive_undo(each)
        elif hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1

    def step(self) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Series):
    """All schedulers at every epoch, each on the rates that the one before it has set.

    Args:
        schedulers: in their order
        optimizer: theirs; None: that of the first

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> from tapegrad.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
    >>> parts = [ConstantLR(optimizer, factor=0.5), ExponentialLR(optimizer, gamma=0.9)]
    >>> scheduler = ChainedScheduler(parts)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.45]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Any = None) -> None:
        if len(schedulers) < 1:
            raise value_error(
                "ChainedScheduler expects at least one scheduler to be chained, but got no "
                "scheduler.",
                "Pass a list of schedulers.",
            )
        optimizer = optimizer or schedulers[0].optimizer
        _check_members("ChainedScheduler", schedulers, optimizer)
        self._schedulers = schedulers  # type: ignore[assignment]
        self.optimizer = optimizer
        self._last_lr = [copied(group["lr"]) for group in optimizer.param_groups]

    def step(self) -> None:
        """Go on to the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]


def _check_members(name: str, schedulers: Sequence[Any], optimizer: Any) -> None:
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise type_error(
                f"{name} at index {i} should have `optimizer` as its attribute.", "Pass schedulers."
            )
        if isinstance(scheduler, ReduceLROnPlateau):
            raise value_error(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                "additional kwargs to be specified when calling `step`, but got one at index "
                f"{i} in the given schedulers sequence.",
                "Step that one by itself.",
            )
        if optimizer != scheduler.optimizer:
            raise value_error(
                f"{name} expects all schedulers to belong to the same optimizer, but got "
                f"scheduler {type(scheduler).__name__} at index {i} has "
                f"{scheduler.optimizer}, which is different from "
                f"{type(optimizer).__name__}.",
                "Make all of them for one optimizer.",
            )
