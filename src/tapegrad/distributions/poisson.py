"""The Poisson distribution: counts of events."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.exp_family import ExponentialFamily
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Counts of events of which `rate` are expected: `P(k) = rate^k exp(-rate) / k!`.

    Args:
        rate: a number or a tensor.

    Raises: ValueError for a negative rate.

    >>> d = torch.distributions.Poisson(torch.tensor([1.0, 2.0]))
    >>> d.variance, d.log_prob(torch.tensor(2.0))
    (tensor([1., 2.]), tensor([-1.6931, -1.3069]))
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Poisson, batch_shape, _instance, "rate")

    @property
    def mean(self) -> Any:
        """rate."""
        return self.rate

    @property
    def mode(self) -> Any:
        """The rate rounded down."""
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        """rate."""
        return self.rate

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple:
        return (torch.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:
        return torch.exp(x)
