"""SWALR: rates that settle, for a model whose weights are averaged."""

from __future__ import annotations

from math import cos, pi
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.optim.lr_scheduler.momentum import for_each_group
from tapegrad.optim.lr_scheduler.scheduler import LRScheduler


class SWALR(LRScheduler):
    """Rates that go to `swa_lr` in `anneal_epochs` epochs, and stay.

    Args:
        optimizer: whose groups are scheduled
        swa_lr: the rate in the end, or one for each group
        anneal_epochs: how many epochs the way takes
        anneal_strategy: `"cos"` or `"linear"`
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.swa_utils.SWALR(optimizer, 0.5, 2, anneal_strategy="linear")
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Any,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = for_each_group("swa_lr", optimizer, swa_lr)
        if anneal_strategy not in ("cos", "linear"):
            raise value_error(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}",
                'Pass "cos" or "linear".',
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise value_error(
                f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}", "0: at once."
            )
        self.anneal_epochs = anneal_epochs
        for group, lr in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = lr
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        last, now = self._way(step - 1), self._way(step)
        found = []
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            end = group["swa_lr"]
            start = end if last == 1 else (lr - last * end) / (1 - last)
            found.append(now * end + (1 - now) * start)
        return found

    def _way(self, step: int) -> float:
        """How much of the way is behind after a number of steps, from 0 to 1."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - cos(pi * t)) / 2 if self._anneal_strategy == "cos" else t
