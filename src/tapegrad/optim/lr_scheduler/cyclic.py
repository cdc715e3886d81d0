"""CyclicLR: rates that go up and down."""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from types import FunctionType
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.optim.lr_scheduler.momentum import for_each_group, set_momentum, uses_beta1
from tapegrad.optim.lr_scheduler.scheduler import LRScheduler, checked, set_option


class CyclicLR(LRScheduler):
    """Rates that go from `base_lr` to `max_lr` and back, again and again, along lines.

    Args:
        optimizer: whose groups are scheduled
        base_lr: the lowest rate, or one for each group
        max_lr: the highest in the first cycle, or one for each group
        step_size_up: steps of the way up
        step_size_down: steps of the way down; None: as many
        mode: `"triangular"`; `"triangular2"`: each cycle is half as high as the last;
            `"exp_range"`: the height falls by `gamma` at each step
        gamma: for `"exp_range"`
        scale_fn: a function that gives the height, instead of `mode`
        scale_mode: of what it is a function: `"cycle"` or `"iterations"`
        cycle_momentum: let the momentum go the other way
        base_momentum: the lowest momentum, or one for each group
        max_momentum: the highest, or one for each group
        last_epoch: the number of the last step; -1 to begin

    Source: Smith, Cyclical learning rates for training neural networks, 2015.

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0, momentum=0.9)
    >>> scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=2)
    >>> for _ in range(4):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [0.0]
    [0.5]
    [1.0]
    [0.5]
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = checked(optimizer)
        groups = optimizer.param_groups
        lowest = for_each_group("base_lr", optimizer, base_lr)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise value_error(
                "mode is invalid and scale_fn is None",
                'Pass "triangular", "triangular2" or "exp_range".',
            )
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            self.base_momentums = for_each_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = for_each_group("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:  # all is checked: now the groups may change
            for group, lr in zip(groups, lowest, strict=True):
                set_option(group, "lr", lr)
        if last_epoch == -1 and cycle_momentum:
            pairs = zip(self.max_momentums, self.base_momentums, strict=True)
            for group, (high, low) in zip(groups, pairs, strict=True):
                set_momentum(group, high, self.use_beta1)
                group["max_momentum"] = high
                group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """The height of cycle, or of step, `x`, as a part of the first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        self._rates()
        passed = self.last_epoch / self.total_size
        cycle = floor(1 + passed)
        x = 1.0 + passed - cycle
        ratio = self.step_ratio
        part = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        rates = [low + (high - low) * part * scale for low, high in pairs]
        if self.cycle_momentum:
            pairs = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, pairs, strict=True):
                set_momentum(group, high - (high - low) * part * scale, self.use_beta1)
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, and of a function what a callable object remembers."""
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        plain = function is None or isinstance(function, FunctionType)
        state["_scale_fn_custom"] = None if plain else function.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        state = dict(state_dict)
        memory = state.pop("_scale_fn_custom")
        vars(self).update(state)
        if memory is not None:
            vars(self._scale_fn_custom).update(memory)
