"""Rates that fall by factors: of a function, every few epochs, at milestones, at each epoch."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.optim.lr_scheduler.scheduler import LRScheduler


class _OfFunctions(LRScheduler):
    """A function for each group; callable objects are saved with their attributes."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        n = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else []
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas = [lr_lambda] * n
        elif len(lr_lambda) != n:
            raise value_error(
                f"Expected {n} lr_lambdas, but got {len(lr_lambda)}",
                "Pass a function for each group, or one for all.",
            )
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, and of the functions what callable objects remember."""
        state = super().state_dict()
        functions = state.pop("lr_lambdas")
        state["lr_lambdas"] = [
            None if isinstance(f, FunctionType) else f.__dict__.copy() for f in functions
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        state = dict(state_dict)
        memories = state.pop("lr_lambdas")
        vars(self).update(state)
        for function, memory in zip(self.lr_lambdas, memories, strict=True):
            if memory is not None:
                vars(function).update(memory)


class LambdaLR(_OfFunctions):
    """The first rates times a function of the epoch.

    Args:
        optimizer: whose groups are scheduled
        lr_lambda: a function, or one for each group
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Any,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        self._rates()
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class MultiplicativeLR(_OfFunctions):
    """The last rates times a function of the epoch.

    Args:
        optimizer: whose groups are scheduled
        lr_lambda: a function, or one for each group
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Any,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        if self._is_initial:
            return rates
        pairs = zip(self.lr_lambdas, rates, strict=True)
        return [lr * function(self.last_epoch) for function, lr in pairs]


class StepLR(LRScheduler):
    """Rates that fall by `gamma` every `step_size` epochs.

    Args:
        optimizer: whose groups are scheduled
        step_size: epochs from one fall to the next
        gamma: the factor
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
    >>> for _ in range(4):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [1.0]
    [1.0]
    [0.1]
    [0.1]
    """

    def __init__(
        self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return rates
        return [lr * self.gamma for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Rates that fall by `gamma` at each of the milestones.

    Args:
        optimizer: whose groups are scheduled
        milestones: numbers of epochs
        gamma: the factor
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [1], gamma=0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Any, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        if self.last_epoch not in self.milestones:
            return rates
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        n = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**n for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Rates that fall by `gamma` at each epoch.

    Args:
        optimizer: whose groups are scheduled
        gamma: the factor
        last_epoch: the number of the last epoch; -1 to begin

    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        if self._is_initial:
            return rates
        return [lr * self.gamma for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]
