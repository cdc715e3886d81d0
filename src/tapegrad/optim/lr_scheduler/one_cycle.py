"""OneCycleLR: rates that rise once and fall to almost nothing."""

from __future__ import annotations

from math import cos, pi
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.optim.lr_scheduler.momentum import for_each_group, set_momentum, uses_beta1
from tapegrad.optim.lr_scheduler.scheduler import LRScheduler, checked


class OneCycleLR(LRScheduler):
    """Rates that rise to `max_lr`, then fall far below where they began; one step for each batch.

    Args:
        optimizer: whose groups are scheduled
        max_lr: the highest rate, or one for each group
        total_steps: steps of the cycle, or
        epochs, steps_per_epoch: their product
        pct_start: the part of the cycle that the rise takes
        anneal_strategy: `"cos"` or `"linear"`
        cycle_momentum: let the momentum go the other way
        base_momentum: the lowest momentum, or one for each group
        max_momentum: the highest, or one for each group
        div_factor: `max_lr` over the first rate
        final_div_factor: the first rate over the last
        three_phase: fall as long as the rise took, then further
        last_epoch: the number of the last step; -1 to begin

    Source: Smith and Topin, Super-convergence, 2017; with two phases instead of three, as fast.ai
    has them, unless `three_phase`.

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0, momentum=0.9)
    >>> scheduler = torch.optim.lr_scheduler.OneCycleLR(
    ...     optimizer, 1.0, total_steps=5, pct_start=0.6, div_factor=2, anneal_strategy="linear"
    ... )
    >>> for _ in range(3):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [0.5]
    [0.75]
    [1.0]
    """

    def __init__(
        self,
        optimizer: Any,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = checked(optimizer)
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise value_error(
                f"Expected float between 0 and 1 pct_start, but got {pct_start}",
                "0.3: the rise takes three tenths of the steps.",
            )
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if anneal_strategy not in ("cos", "linear"):
            raise value_error(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}",
                'Pass "cos" or "linear".',
            )
        self._anneal_func_type = anneal_strategy
        groups = optimizer.param_groups
        highest = for_each_group("max_lr", optimizer, max_lr)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            high_momentums = for_each_group("max_momentum", optimizer, max_momentum)
            low_momentums = for_each_group("base_momentum", optimizer, base_momentum)
        if last_epoch == -1:  # all is checked: now the groups may change
            for group, lr in zip(groups, highest, strict=True):
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if last_epoch == -1 and cycle_momentum:
            pairs = zip(high_momentums, low_momentums, strict=True)
            for group, (high, low) in zip(groups, pairs, strict=True):
                set_momentum(group, high, self.use_beta1)
                group["max_momentum"] = high
                group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._rates()
        step = self.last_epoch
        if step > self.total_steps:
            raise value_error(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}",
                "Pass more total_steps, or stop stepping.",
            )
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        part = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group, phase, "lr", part))
            if self.cycle_momentum:
                set_momentum(group, self._between(group, phase, "momentum", part), self.use_beta1)
        return rates

    def _between(self, group: dict[str, Any], phase: dict[str, Any], what: str, part: float) -> Any:
        start, end = group[phase[f"start_{what}"]], group[phase[f"end_{what}"]]
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (cos(pi * part) + 1)
        return (end - start) * part + start


def _count_steps(total: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total is not None:
        _check_count("total_steps", total)
        return total
    if epochs is None or steps_per_epoch is None:
        raise value_error(
            "You must define either total_steps OR (epochs AND steps_per_epoch)",
            "Steps are batches: epochs=10, steps_per_epoch=len(loader).",
        )
    _check_count("epochs", epochs)
    _check_count("steps_per_epoch", steps_per_epoch)
    return epochs * steps_per_epoch


def _check_count(name: str, n: Any) -> None:
    if n <= 0 or not isinstance(n, int):
        raise value_error(f"Expected positive integer {name}, but got {n}", "Count from 1 up.")


def _phases(n: int, rise: float, three: bool) -> list[dict[str, Any]]:
    """For each phase its last step, and the group's options between which it goes."""
    ends = [rise * n - 1, 2 * rise * n - 2, n - 1] if three else [rise * n - 1, n - 1]
    rates = ["initial_lr", "max_lr", "initial_lr", "min_lr"]
    momentums = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"]
    if not three:
        del rates[2], momentums[2]
    return [
        {
            "end_step": end,
            "start_lr": rates[i],
            "end_lr": rates[i + 1],
            "start_momentum": momentums[i],
            "end_momentum": momentums[i + 1],
        }
        for i, end in enumerate(ends)
    ]
