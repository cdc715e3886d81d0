"""Rates along a cosine, once or with restarts."""

from __future__ import annotations

from math import cos, floor, log, pi
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.optim.lr_scheduler.scheduler import LRScheduler


class CosineAnnealingLR(LRScheduler):
    """Rates that swing along a cosine, from the first one to `eta_min` in `T_max` epochs.

        lr = eta_min + (base - eta_min) * (1 + cos(pi * epoch / T_max)) / 2

    Args:
        optimizer: whose groups are scheduled
        T_max: half of a period, in epochs
        eta_min: the smallest rate
        last_epoch: the number of the last epoch; -1 to begin

    Source: Loshchilov and Hutter, SGDR, 2016, equation 5, without the restarts.

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        epoch, n, least = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return rates
        if self._step_count == 1 and epoch > 0:
            factor = (1 + cos(epoch * pi / n)) / 2
            return [least + (base - least) * factor for base in self.base_lrs]
        if (epoch - 1 - n) % (2 * n) == 0:  # from the minimum, where no ratio leads away
            factor = (1 - cos(pi / n)) / 2
            pairs = zip(self.base_lrs, rates, strict=True)
            return [lr + (base - least) * factor for base, lr in pairs]
        factor = (1 + cos(pi * epoch / n)) / (1 + cos(pi * (epoch - 1) / n))
        return [factor * (lr - least) + least for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = 1 + cos(pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * factor / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Rates that fall along a cosine and start again, each time for `T_mult` times as long.

        lr = eta_min + (base - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2

    Args:
        optimizer: whose groups are scheduled
        T_0: epochs until the first restart
        T_mult: how much longer each fall takes than the one before
        eta_min: the smallest rate
        last_epoch: the number of the last epoch; -1 to begin

    Source: Loshchilov and Hutter, SGDR, 2016, equation 5.

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for _ in range(3):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [1.0]
    [0.5]
    [1.0]
    """

    def __init__(
        self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise value_error(f"Expected positive integer T_0, but got {T_0}", "Count epochs.")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise value_error(
                f"Expected integer T_mult >= 1, but got {T_mult}",
                "1: all falls take as long as the first.",
            )
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._rates()
        factor = 1 + cos(pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * factor / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to `epoch`, which may be between two."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise value_error(
                    f"Expected non-negative epoch, but got {epoch}",
                    "Leave epoch away to go on by one.",
                )
            self._jump(epoch)
        self.last_epoch = floor(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _jump(self, epoch: float) -> None:
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            n = int(log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
