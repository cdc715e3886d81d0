"""When the parameters of ranks are averaged that train on their own."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable

from tapegrad.core.annotations import Any
from tapegrad.distributed.algorithms.model_averaging import utils
from tapegrad.distributed.groups import _resolved

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """Averages parameters over a group; counts its calls in `step`."""

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = _resolved(process_group)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable) -> None:
        """Average them, if it is time."""


class PeriodicModelAverager(ModelAverager):
    """Averages every `period` steps, from step `warmup_steps` on.

    With `post_localSGD_hook`, `warmup_steps` is its `start_localSGD_iter`.
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(
                "When period is 1, no need to use model averaging because the communication cost "
                "of all-reducing parameters will be no less than the cost of all-reducing "
                "gradients by DistributedDataParallel in the backward pass. Therefore, only "
                "DistributedDataParallel should be used for this case.",
                stacklevel=2,
            )
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params: Iterable) -> None:
        since = self.step - self.warmup_steps
        if since >= 0 and since % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
