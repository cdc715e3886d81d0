"""ReduceLROnPlateau: rates that fall when a metric stops getting better."""

from __future__ import annotations

from math import inf
from typing import Any

from tapegrad.core.errors import runtime_error, value_error
from tapegrad.optim.lr_scheduler.scheduler import (
    LRScheduler,
    checked,
    copied,
    set_option,
    warn_of_epoch,
)


class ReduceLROnPlateau(LRScheduler):
    """Rates that fall by `factor` when a metric has not improved for more than `patience` epochs.

    Args:
        optimizer: whose groups are scheduled
        mode: `"min"` or `"max"`: which is better
        factor: below 1
        patience: how many epochs without improvement are borne
        threshold: by how much a value must be better than the best to count
        threshold_mode: `"rel"`, as a part of the best, or `"abs"`
        cooldown: how many epochs after a fall do not count
        min_lr: the smallest rate, or one for each group
        eps: falls smaller than this are left out

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     scheduler.step(loss)
    >>> scheduler.get_last_lr()
    [0.1]
    """

    def __init__(
        self,
        optimizer: Any,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise value_error("Factor should be < 1.0.", f"This one is {factor}.")
        self.factor = factor
        self.optimizer = checked(optimizer)
        n = len(optimizer.param_groups)
        self.default_min_lr = None
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != n:
                raise value_error(
                    f"expected {n} min_lrs, got {len(min_lr)}",
                    "Pass one for each group, or one for all.",
                )
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * n
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = [copied(group["lr"]) for group in optimizer.param_groups]
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise value_error(f"mode {mode} is unknown!", 'Pass "min" or "max".')
        if threshold_mode not in ("rel", "abs"):
            raise value_error(
                f"threshold mode {threshold_mode} is unknown!", 'Pass "rel" or "abs".'
            )
        self.mode_worse = inf if mode == "min" else -inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _reset(self) -> None:
        """Forget what was seen."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:
        """Tell the value of the metric at the end of an epoch."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warn_of_epoch()
        self.last_epoch = epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise runtime_error(
                    "The number of param groups in the `optimizer` "
                    f"({len(groups)}) differs from when `ReduceLROnPlateau` was initialized "
                    f"({len(self.min_lrs)}), usually due to a new param group being added to "
                    "the optimizer. Please modify the `min_lrs` field to match the length of "
                    "the `optimizer` param groups.",
                    "Set scheduler.min_lrs, or pass one min_lr for all.",
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether a fall was so recently that epochs do not count."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "rel":
            bound = best * (1.0 - sign * self.threshold)
        else:
            bound = best - sign * self.threshold
        return a < bound if self.mode == "min" else a > bound

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        vars(self).update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
