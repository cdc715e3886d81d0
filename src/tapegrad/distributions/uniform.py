"""The uniform distribution on an interval."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Numbers spread evenly over [low, high): density `1 / (high - low)`.

    Args:
        low: the lower end, a number or a tensor.
        high: the upper end.

    Raises: ValueError unless low < high.

    >>> d = torch.distributions.Uniform(0.0, torch.tensor([1.0, 2.0]))
    >>> d.mean, d.log_prob(torch.tensor(0.5)), d.cdf(torch.tensor(0.5))
    (tensor([0.5000, 1.0000]), tensor([ 0.0000, -0.6931]), tensor([0.5000, 0.2500]))
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict:
        """Each end lies on its side of the other."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Uniform, batch_shape, _instance, "low", "high")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        """nan: no number is more probable than another."""
        return torch.nan * self.high

    @property
    def stddev(self) -> Any:
        """`(high - low) / sqrt(12)`."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        """`(high - low)^2 / 12`."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        noise = torch.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        is_inside = self.low.le(value) & self.high.gt(value)
        return torch.log(is_inside.type_as(self.low)) - torch.log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return torch.log(self.high - self.low)
