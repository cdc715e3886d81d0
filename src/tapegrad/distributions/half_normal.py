"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.normal import Normal
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(TransformedDistribution):
    """The absolute value of a normal number of mean zero.

    Args:
        scale: the standard deviation of the normal number.

    Raises: ValueError for a scale that is not positive.

    >>> d = torch.distributions.HalfNormal(torch.tensor(1.0))
    >>> d.mean, d.log_prob(torch.tensor(0.0)), d.cdf(torch.tensor(1.0))
    (tensor(0.7979), tensor(-0.2258), tensor(0.6827))
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Any

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(HalfNormal, _instance))

    @property
    def scale(self) -> Any:
        """The standard deviation of the normal number."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """`scale sqrt(2 / pi)`."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Any:
        """Zero."""
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        """`scale^2 (1 - 2 / pi)`."""
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -torch.inf)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)
