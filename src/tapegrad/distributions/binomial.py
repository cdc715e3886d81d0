"""The binomial distribution: successes of a number of trials."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.chance import Chance
from tapegrad.distributions.distribution import Distribution

__all__ = ["Binomial"]


def _softplus(x: Any) -> Any:
    """log(1 + exp(x)), written so that neither sign overflows, and the slope at 0 is a half."""
    return 0.5 * (x + x.abs()) + torch.log1p(torch.exp(-torch.abs(x)))


class Binomial(Chance, Distribution):
    """How many of `total_count` trials succeed.

    Args:
        total_count: trials, a number or a tensor.
        probs: the probability of a success.
        logits: in its place, the logarithm of the odds.

    Raises: ValueError unless exactly one of the two is given, and probs in [0, 1].

    >>> d = torch.distributions.Binomial(3, torch.tensor(0.5))
    >>> d.mean, d.log_prob(torch.tensor(1.0)).exp(), d.enumerate_support()
    (tensor(1.5000), tensor(0.3750), tensor([0., 1., 2., 3.]))
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._take(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded_chance(Binomial, batch_shape, _instance, "total_count")

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """Counts up to that of the trials."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        """`total_count probs`."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        """`(total_count + 1) probs` rounded down."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        """`total_count probs (1 - probs)`."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        ways = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        # value log(p) + (n - value) log(1 - p)
        return value * logits - n * _softplus(logits) + ways

    def entropy(self) -> Any:
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise errors.not_implemented(
                "Inhomogeneous total count not supported by `entropy`.",
                "It is a sum over all counts, of which there is one number.",
            )
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise errors.not_implemented(
                "Inhomogeneous total count not supported by `enumerate_support`.",
                "All distributions of the batch must have the same counts.",
            )
        values = torch.arange(1 + n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
