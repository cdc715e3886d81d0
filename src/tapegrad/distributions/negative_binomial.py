"""The negative binomial distribution: successes before a number of failures."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.chance import Chance
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.gamma import Gamma
from tapegrad.distributions.utils import lazy_property
from tapegrad.nn import functional as F

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Chance, Distribution):
    """How many trials succeed before `total_count` have failed.

    Args:
        total_count: failures, from zero on; not necessarily whole.
        probs: the probability of a success, in [0, 1).
        logits: in its place, the logarithm of the odds.

    Raises: ValueError unless exactly one of the two is given, and parameters lie in their sets.

    >>> d = torch.distributions.NegativeBinomial(2.0, torch.tensor(0.5))
    >>> d.mean, d.variance, d.log_prob(torch.tensor(0.0)).exp()
    (tensor(2.), tensor(4.), tensor(0.2500))
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._take(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded_chance(NegativeBinomial, batch_shape, _instance, "total_count")

    @property
    def mean(self) -> Any:
        """`total_count probs / (1 - probs)`."""
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Any:
        """`(total_count - 1) probs / (1 - probs)` rounded down, or zero."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        """`total_count probs / (1 - probs)^2`."""
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        """The rates of the Poisson counts that this is a mixture of."""
        rate = torch.exp(-self.logits)
        return Gamma(concentration=self.total_count, rate=rate, validate_args=False)

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        chance = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        ways = torch.lgamma(n + value) - torch.lgamma(1.0 + value) - torch.lgamma(n)
        return chance + ways.masked_fill(n + value == 0.0, 0.0)
