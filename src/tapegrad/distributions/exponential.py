"""The exponential distribution: waiting times."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.exp_family import ExponentialFamily
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Waiting times: density `rate exp(-rate x)` for x >= 0.

    Args:
        rate: events in a unit of time, a number or a tensor.

    Raises: ValueError for a rate that is not positive.

    >>> d = torch.distributions.Exponential(2.0)
    >>> d.mean, d.log_prob(torch.tensor(1.0)), d.icdf(torch.tensor(0.5))
    (tensor(0.5000), tensor(-1.3069), tensor(0.3466))
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Exponential, batch_shape, _instance, "rate")

    @property
    def mean(self) -> Any:
        """`1 / rate`."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        """Zero."""
        return torch.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        """`1 / rate`."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        """`1 / rate^2`."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        return self.rate.new(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value: Any) -> Any:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self) -> tuple:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -torch.log(-x)
