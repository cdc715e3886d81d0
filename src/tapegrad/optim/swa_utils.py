"""Averaging weights: models that follow a running mean of another, and the rate for it."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from math import cos, pi

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, DeviceLike, ModuleLike, OptimizerLike
from tapegrad.core.errors import assertion_error, value_error
from tapegrad.core.missing import public_names
from tapegrad.nn.modules.batchnorm import _BatchNorm
from tapegrad.nn.modules.module import Module
from tapegrad.operators import tensor
from tapegrad.optim.lr_scheduler import LRScheduler, _annealing, _for_each_group
from tapegrad.tensors.tensor import Tensor


def get_swa_avg_fn() -> Callable:
    """A function of the mean of `n` tensors, another and `n`: the mean of all.

    >>> average = torch.optim.swa_utils.get_swa_avg_fn()
    >>> average(torch.tensor([1.0]), torch.tensor([3.0]), 3)
    tensor([1.5000])
    """

    @no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """A function of a mean and another tensor: `decay * mean + (1 - decay) * other`.

    >>> average = torch.optim.swa_utils.get_ema_avg_fn(0.5)
    >>> average(torch.tensor([1.0]), torch.tensor([3.0]), 3)
    tensor([2.])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_multi_avg_fn() -> Callable:
    """The same for lists of tensors: the means in the first are changed in place.

    >>> means = [torch.tensor([1.0])]
    >>> torch.optim.swa_utils.get_swa_multi_avg_fn()(means, [torch.tensor([3.0])], 3)
    >>> means
    [tensor([1.5000])]
    """
    average = get_swa_avg_fn()

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        for mean, value in zip(averaged_param_list, current_param_list, strict=True):
            mean.copy_(average(mean, value, num_averaged))

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """The same for lists of tensors: the means in the first are changed in place.

    >>> means = [torch.tensor([1.0])]
    >>> torch.optim.swa_utils.get_ema_multi_avg_fn(0.5)(means, [torch.tensor([3.0])], 3)
    >>> means
    [tensor([2.])]
    """
    average = get_ema_avg_fn(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        for mean, value in zip(ema_param_list, current_param_list, strict=True):
            mean.copy_(average(mean, value, num_averaged))

    return ema_update


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise value_error(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.",
            "0.999 follows slowly, 0.9 fast.",
        )


class AveragedModel(Module):
    """A copy of a model, as `module`, whose parameters are a mean of the model's.

    Args:
        model: the model to follow
        device: where the copy lives
        avg_fn: gives the new mean of a mean, a parameter and how many were averaged before;
            None: the mean of all
        multi_avg_fn: the same for lists, in place
        use_buffers: average the buffers, too, instead of copying them

    Source: Izmailov et al., Averaging weights leads to wider optima and better generalization,
    2018; Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992.

    >>> model = torch.nn.Linear(1, 1)
    >>> mean = torch.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 2.0):
    ...     _ = torch.nn.init.constant_(model.weight, value)
    ...     mean.update_parameters(model)
    >>> mean.module.weight
    Parameter containing:
    tensor([[1.5000]], requires_grad=True)
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: ModuleLike,
        device: DeviceLike = None,
        avg_fn: Callable | None = None,
        multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise assertion_error(
                "Only one of avg_fn and multi_avg_fn should be provided",
                "Pass avg_fn for one tensor, or multi_avg_fn for lists.",
            )
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn = avg_fn, multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: object, **kwargs: object) -> Any:
        """What the averaged model says."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: ModuleLike) -> None:
        """Take the parameters of `model` into the mean; the first time, copy them."""
        ours, theirs = self._followed(self.module), self._followed(model)
        pairs = list(zip(ours, theirs, strict=True))
        means, values = [m for m, _ in pairs], [v.detach().to(m.device) for m, v in pairs]
        if int(self.n_averaged) == 0:
            for mean, value in zip(means, values, strict=True):
                mean.copy_(value)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn([m.detach() for m in means], values, self.n_averaged)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for mean, value in zip(means, values, strict=True):
                mean.copy_(average(mean.detach(), value, self.n_averaged))
        if not self.use_buffers:
            for mean, value in zip(self.module.buffers(), model.buffers(), strict=True):
                mean.copy_(value)
        self.n_averaged += 1

    def _followed(self, model: ModuleLike) -> Iterable[Any]:
        if self.use_buffers:
            return chain(model.parameters(), model.buffers())
        return model.parameters()


@no_grad()
def update_bn(loader: Iterable[Any], model: ModuleLike, device: DeviceLike = None) -> None:
    """Compute the running statistics of batch normalisation anew, by a walk through the data.

    Args:
        loader: batches; of lists and tuples the first member
        model: its batch normalisations forget what they saw
        device: where to move the batches

    >>> model = torch.nn.BatchNorm1d(1)
    >>> torch.optim.swa_utils.update_bn([torch.tensor([[1.0], [3.0]])], model)
    >>> model.running_mean
    tensor([2.])
    """
    momenta = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # every batch counts the same
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


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
        optimizer: OptimizerLike,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = _for_each_group("swa_lr", optimizer, swa_lr)
        self._anneal_strategy = _annealing(anneal_strategy)
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


__all__ = public_names(globals())
