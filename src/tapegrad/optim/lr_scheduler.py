"""Schedulers: learning rates that change while a model trains."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import cos, floor, inf, log, pi
from types import FunctionType

from tapegrad.core.annotations import Any, OptimizerLike
from tapegrad.core.errors import advised, runtime_error, type_error, value_error, warn
from tapegrad.core.missing import public_names
from tapegrad.core.missing import refuses as _refuses
from tapegrad.nn.modules.utils import has_own_constructor
from tapegrad.optim.optimizer import Optimizer
from tapegrad.tensors.tensor import Tensor


@contextmanager
def _enable_get_lr_call(o: "LRScheduler") -> Iterator["LRScheduler"]:
    """Within this context `get_lr` of a scheduler does not warn."""
    o._get_lr_called_within_step = True
    try:
        yield o
    finally:
        o._get_lr_called_within_step = False


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

    def __init__(self, optimizer: OptimizerLike, last_epoch: int = -1) -> None:
        self.optimizer = _checked(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly "
                    "loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs = [_copied(group["initial_lr"]) for group in optimizer.param_groups]
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

    def get_last_lr(self) -> list[float | Tensor]:
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
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        with _enable_get_lr_call(self):
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
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
            _set_option(group, "lr", lr)
        self._last_lr = [_copied(group["lr"]) for group in groups]

    def _rates(self) -> list[Any]:
        """What the groups have now, for `get_lr`."""
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                3,
            )
        return [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def _warn_of_order(self) -> None:
        optimizer: Any = self.optimizer
        place = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
        if vars(optimizer).get("step") is not getattr(optimizer, "_step_when_scheduled", None):
            warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call `optimizer.step()` before "
                f"`lr_scheduler.step()`. See more details at {place}",
                3,
            )
        elif not getattr(optimizer, "_opt_called", False):
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
                "before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping "
                f"the first value of the learning rate schedule. See more details at {place}",
                3,
            )


class _LRScheduler(LRScheduler):
    """The former name of `LRScheduler`."""


def _checked(optimizer: OptimizerLike) -> Any:
    """`optimizer`, which must be one."""
    if not isinstance(optimizer, Optimizer):
        raise type_error(
            f"{type(optimizer).__name__} is not an Optimizer",
            "Pass the optimizer first: StepLR(optimizer, step_size=30).",
        )
    return optimizer


def _copied(value: Any) -> Any:
    """A number as it is; a tensor's elements in a new one."""
    return value.clone() if isinstance(value, Tensor) else value


def _set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option of a group; one that is a tensor is filled."""
    if isinstance(group[name], Tensor):
        group[name].fill_(value)
    else:
        group[name] = value


EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)


def _for_each_group(name: str, optimizer: OptimizerLike, value: Any) -> list[Any]:
    """A list with a value for each group."""
    n = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * n
    if len(value) != n:
        raise value_error(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {n}.",
            "Pass one for each group, or one for all.",
        )
    return [_copied(each) for each in value]


def _annealing(anneal_strategy: str) -> str:
    """The strategy, which must be one of the two."""
    if anneal_strategy not in ("cos", "linear"):
        raise value_error(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}",
            'Pass "cos" or "linear".',
        )
    return anneal_strategy


def _uses_beta1(optimizer: OptimizerLike) -> bool:
    """Whether the optimizer's momentum is the first of its betas; raise if it has none."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise value_error(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled",
            "Pass cycle_momentum=False.",
        )
    return "betas" in optimizer.defaults


def _set_momentum(group: dict[str, Any], momentum: float, beta1: bool) -> None:
    """Give a group another momentum."""
    if beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        _set_option(group, "momentum", momentum)


def _memory(function: Callable) -> dict[str, Any] | None:
    """The attributes of a callable object, None for a function: what a state keeps of it."""
    return None if isinstance(function, FunctionType) else vars(function).copy()


class _OfFunctions(LRScheduler):
    """A function for each group; callable objects are saved with their attributes."""

    def __init__(
        self,
        optimizer: OptimizerLike,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = optimizer
        n = len(optimizer.param_groups)
        self.lr_lambdas: list[Any] = [lr_lambda] * n
        if isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas = [*lr_lambda]
        if len(self.lr_lambdas) != n:
            raise value_error(
                f"Expected {n} lr_lambdas, but got {len(self.lr_lambdas)}",
                "Pass a function for each group, or one for all.",
            )
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, and of the functions what callable objects remember."""
        return {**super().state_dict(), "lr_lambdas": [_memory(f) for f in self.lr_lambdas]}

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
        self, optimizer: OptimizerLike, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
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
        self,
        optimizer: OptimizerLike,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
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

    def __init__(self, optimizer: OptimizerLike, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rates = self._rates()
        return rates if self._is_initial else [lr * self.gamma for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


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
        self,
        optimizer: OptimizerLike,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise value_error(
                "Constant multiplicative factor expected to be between 0 and 1.",
                f"This one is {factor}.",
            )
        self.factor, self.total_iters = factor, total_iters
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
        optimizer: OptimizerLike,
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
        self.start_factor, self.end_factor = start_factor, end_factor
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
        self,
        optimizer: OptimizerLike,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters, self.power = total_iters, power
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
        self, optimizer: OptimizerLike, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
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
        self,
        optimizer: OptimizerLike,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
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
        self.T_mult, self.eta_min = T_mult, eta_min
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
        with _enable_get_lr_call(self):
            rates = self.get_lr()
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
        optimizer: OptimizerLike,
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
        self.optimizer = _checked(optimizer)
        groups = optimizer.param_groups
        lowest = _for_each_group("base_lr", optimizer, base_lr)
        self.max_lrs = _for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise value_error(
                "mode is invalid and scale_fn is None",
                'Pass "triangular", "triangular2" or "exp_range".',
            )
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            self.base_momentums = _for_each_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = _for_each_group("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:  # all is checked: now the groups may change
            for group, lr in zip(groups, lowest, strict=True):
                _set_option(group, "lr", lr)
        if last_epoch == -1 and cycle_momentum:
            for group, high, low in zip(
                groups, self.max_momentums, self.base_momentums, strict=True
            ):
                _set_momentum(group, high, self.use_beta1)
                group.update(max_momentum=high, base_momentum=low)
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
            ends = self.base_momentums, self.max_momentums
            for group, low, high in zip(self.optimizer.param_groups, *ends, strict=True):
                _set_momentum(group, high - (high - low) * part * scale, self.use_beta1)
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, and of a function what a callable object remembers."""
        memory = None if self._scale_fn_custom is None else _memory(self._scale_fn_custom)
        return {**super().state_dict(), "_scale_fn_custom": memory}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        state = dict(state_dict)
        memory = state.pop("_scale_fn_custom")
        vars(self).update(state)
        if memory is not None:
            vars(self._scale_fn_custom).update(memory)


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
        optimizer: OptimizerLike,
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
        self.optimizer = _checked(optimizer)
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise value_error(
                f"Expected float between 0 and 1 pct_start, but got {pct_start}",
                "0.3: the rise takes three tenths of the steps.",
            )
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = _annealing(anneal_strategy)
        groups = optimizer.param_groups
        highest = _for_each_group("max_lr", optimizer, max_lr)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            high_momentums = _for_each_group("max_momentum", optimizer, max_momentum)
            low_momentums = _for_each_group("base_momentum", optimizer, base_momentum)
        if last_epoch == -1:  # all is checked: now the groups may change
            for group, lr in zip(groups, highest, strict=True):
                first = lr / div_factor
                group.update(initial_lr=first, max_lr=lr, min_lr=first / final_div_factor)
        if last_epoch == -1 and cycle_momentum:
            for group, high, low in zip(groups, high_momentums, low_momentums, strict=True):
                _set_momentum(group, high, self.use_beta1)
                group.update(max_momentum=high, base_momentum=low)
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
                _set_momentum(group, self._between(group, phase, "momentum", part), self.use_beta1)
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


def _check_count(name: str, n: int) -> None:
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
        optimizer: OptimizerLike,
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
        self.optimizer = _checked(optimizer)
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
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = [_copied(group["lr"]) for group in optimizer.param_groups]
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
            warn(EPOCH_DEPRECATION_WARNING)
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
        self._last_lr = [_copied(group["lr"]) for group in self.optimizer.param_groups]

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
                _set_option(group, "lr", new)

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


class _Series(LRScheduler):
    """Saves its schedulers' states in a list."""

    _schedulers: list[Any]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, with a list of the schedulers' states."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

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
        optimizer: OptimizerLike,
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
            _set_option(group, "lr", _copied(group["initial_lr"]))
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

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: OptimizerLike = None) -> None:
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
        self._last_lr = [_copied(group["lr"]) for group in optimizer.param_groups]

    def step(self) -> None:
        """Go on to the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [_copied(group["lr"]) for group in self.optimizer.param_groups]


def _check_members(name: str, schedulers: Sequence[Any], optimizer: OptimizerLike) -> None:
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


__all__ = public_names(globals(), "_LRScheduler")
has_own_constructor(LambdaLR, MultiplicativeLR)
__getattr__ = _refuses(__name__)
