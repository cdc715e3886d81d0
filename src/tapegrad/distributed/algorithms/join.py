"""`Join`: ranks with fewer inputs keep up with those that have more."""

import warnings
from abc import ABC, abstractmethod
from typing import NamedTuple

from tapegrad.core.annotations import Any
from tapegrad.distributed.collectives import all_reduce
from tapegrad.distributed.groups import get_rank, get_world_size

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a rank without inputs does while others still have some."""

    def main_hook(self) -> None:
        """Called for each step of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called when no rank has inputs."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


def _disabled() -> _JoinConfig:
    return _JoinConfig(False, False, False)


class Joinable(ABC):
    """What takes part in a `Join`: a model, an optimiser."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _disabled()

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a rank without inputs does for this."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """Where the numbers of a step are exchanged."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The ranks that join."""


class Join:
    """A block in which ranks may have different numbers of inputs.

    Args:
        joinables: What takes part; their `join_hook` says what a rank without inputs does.
        enable: False: the block does nothing.
        throw_on_early_termination: Raise where a rank has no inputs and others do.
    """

    def __init__(
        self,
        joinables: list,
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._hooks = [each.join_hook(**kwargs) for each in joinables]
        self._enable, self._throws = enable, throw_on_early_termination
        groups = {each.join_process_group for each in joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._group = groups.pop()
        self._rank = get_rank(self._group)
        for i, each in enumerate(joinables):
            each._join_config = _JoinConfig(enable, throw_on_early_termination, i == 0)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not self._enable or kind is not None:
            return
        is_last = True
        n_steps = 0
        while (n := self._still_running()) > 0:
            if self._throws:
                self._tell_to_stop()
                raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
            is_last = False
            n_steps += 1
            if n_steps == 1000:
                warnings.warn(
                    f"Detected uneven input skew of greater than 1000, with {n} ranks running.",
                    stacklevel=2,
                )
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(is_last)

    def _still_running(self) -> int:
        """How many ranks still have inputs, which this one has not."""
        from tapegrad import zeros

        if get_world_size(self._group) == 1:
            return 0
        count = zeros(1, device=self._joinables[0].join_device)
        all_reduce(count, group=self._group)
        return int(count)

    def _tell_to_stop(self) -> None:
        from tapegrad import ones

        all_reduce(ones(1, device=self._joinables[0].join_device), group=self._group)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """Say that this rank begins a step; the work to wait for, if there is any to do."""
        from tapegrad import ones, zeros

        config = getattr(joinable, "_join_config", _disabled())
        if not config.is_first_joinable or not config.enable:
            return None
        if get_world_size(joinable.join_process_group) == 1:
            return None
        options = {"device": joinable.join_device}
        group = joinable.join_process_group
        work = all_reduce(ones(1, **options), group=group, async_op=True)
        if config.throw_on_early_termination:
            stops = zeros(1, **options)
            all_reduce(stops, group=group)
            if int(stops):
                raise RuntimeError(
                    "Detected at least one rank that exhausted inputs. Throwing across all ranks."
                )
        return work
