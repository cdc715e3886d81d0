"""LRScheduler: counting epochs and setting learning rates; what every scheduler builds upon."""

from __future__ import annotations

from typing import Any
from warnings import warn

from tapegrad.core.errors import advised, type_error, value_error
from tapegrad.optim.optimizer import Optimizer
from tapegrad.tensors.tensor import Tensor


class LRScheduler:
    """The base class of schedulers: sets the learning rates of an optimizer's groups.

    Args:
        optimizer: whose groups are scheduled
        last_epoch: the number of the last epoch; -1 to begin

    A subclass defines `get_lr`: the new rates, from those the groups have now. One that can say
    them from the number of the epoch alone also defines `_get_closed_form_lr`.

    >>> class Halve(torch.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
    >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    >>> scheduler = Halve(optimizer)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        self.optimizer = checked(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly "
                    "loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        optimizer._step_when_scheduled = vars(optimizer).get("step")
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates to begin with."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, by name."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        vars(self).update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates set last, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates of this epoch, one for each group."""
        raise advised(NotImplementedError(), "A schedule defines get_lr().")

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch. (`epoch`, the number of one, is deprecated.)"""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: list[Any]) -> None:
        groups = self.optimizer.param_groups
        if len(rates) != len(groups):
            how = "shorter" if len(rates) < len(groups) else "longer"
            raise value_error(
                f"zip() argument 2 is {how} than argument 1",
                f"The scheduler gives {len(rates)} rates and the optimizer has {len(groups)} "
                "groups: make another scheduler after add_param_group().",
            )
        for group, lr in zip(groups, rates, strict=True):
            set_option(group, "lr", lr)
        self._last_lr = [copied(group["lr"]) for group in groups]

    def _rates(self) -> list[Any]:
        """What the groups have now, for `get_lr`."""
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _warn_of_order(self) -> None:
        optimizer: Any = self.optimizer
        place = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
        if vars(optimizer).get("step") is not getattr(optimizer, "_step_when_scheduled", None):
            warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call `optimizer.step()` before "
                f"`lr_scheduler.step()`. See more details at {place}",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(optimizer, "_opt_called", False):
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
                "before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping "
                f"the first value of the learning rate schedule. See more details at {place}",
                UserWarning,
                stacklevel=3,
            )


class _LRScheduler(LRScheduler):
    """The former name of `LRScheduler`."""


def checked(optimizer: Any) -> Any:
    """`optimizer`, which must be one."""
    if not isinstance(optimizer, Optimizer):
        raise type_error(
            f"{type(optimizer).__name__} is not an Optimizer",
            "Pass the optimizer first: StepLR(optimizer, step_size=30).",
        )
    return optimizer


def copied(value: Any) -> Any:
    """A number as it is; a tensor's elements in a new one."""
    return value.clone() if isinstance(value, Tensor) else value


def set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option of a group; one that is a tensor is filled."""
    if isinstance(group[name], Tensor):
        group[name].fill_(value)
    else:
        group[name] = value


def warn_of_epoch() -> None:
    """Tell that the argument `epoch` of `step` is deprecated."""
    warn(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
        "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
        "epoch is different from None, the closed form is used instead of the new chainable form, "
        "where available. Please open an issue if you are unable to replicate your use case: "
        "https://github.com/pytorch/pytorch/issues/new/choose.",
        UserWarning,
        stacklevel=3,
    )
