"""Rates that reach their place after some epochs: at once, along a line, along a power."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.optim.lr_scheduler.scheduler import LRScheduler


class ConstantLR(LRScheduler):
    """Rates times `factor` for the first `total_iters` epochs.

    Args:
        optimizer: whose groups are scheduled
        factor: from 0 to 1
        total_iters: how many epochs it lasts
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5).get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise value_error(
                "Constant multiplicative factor expected to be between 0 and 1.",
                f"This one is {factor}.",
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        if self.last_epoch == 0:
            return [lr * self.factor for lr in rates]
        if self.last_epoch != self.total_iters:
            return rates
        return [lr * (1.0 / self.factor) for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Rates whose factor goes from `start_factor` to `end_factor` along a line.

    Args:
        optimizer: whose groups are scheduled
        start_factor: the factor to begin with, above 0 and at most 1
        end_factor: the factor after `total_iters` epochs, from 0 to 1
        total_iters: how many epochs the way takes
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise value_error(
                "Starting multiplicative factor expected to be greater than 0 and less or "
                "equal to 1.",
                f"This one is {start_factor}.",
            )
        if not 0 <= end_factor <= 1.0:
            raise value_error(
                "Ending multiplicative factor expected to be between 0 and 1.",
                f"This one is {end_factor}.",
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        epoch, n = self.last_epoch, self.total_iters
        if epoch == 0:
            return [lr * self.start_factor for lr in rates]
        if self._is_initial or epoch > n:
            return rates
        way = self.end_factor - self.start_factor
        last = n * self.start_factor + (epoch - 1) * way
        return [lr * (1.0 + way / last) for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        way = self.end_factor - self.start_factor
        n = self.total_iters
        factor = self.start_factor + way * min(n, self.last_epoch) / n
        return [base * factor for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Rates that fall to 0 as a power of the time that is left.

        lr = base * (1 - epoch / total_iters)**power

    Args:
        optimizer: whose groups are scheduled
        total_iters: how many epochs the way takes
        power: 1 for a line
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        epoch, n = self.last_epoch, self.total_iters
        if self._is_initial or epoch > n:
            return rates
        factor = ((1.0 - epoch / n) / (1.0 - (epoch - 1) / n)) ** self.power
        return [lr * factor for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]
