"""The multinomial distribution: how often each of K outcomes came."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.binomial import Binomial
from tapegrad.distributions.categorical import Categorical
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """Counts of K outcomes in `total_count` draws.

    Args:
        total_count: an int.
        probs: (*, K), not negative; they are divided by their sum.
        logits: (*, K), in place of probs.

    Raises:
        NotImplementedError: total_count is no int.
        ValueError: not exactly one of probs and logits is given.

    >>> d = torch.distributions.Multinomial(4, torch.tensor([1.0, 3.0]))
    >>> d.mean, d.variance, d.log_prob(torch.tensor([1.0, 3.0])).exp()
    (tensor([1., 3.]), tensor([0.7500, 0.7500]), tensor(0.4219))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise errors.not_implemented(
                "inhomogeneous total_count is not supported", "It is one int for the whole batch."
            )
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Multinomial, _instance)
        batch_shape = torch.Size(batch_shape)
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = self._binomial.expand(batch_shape + self.event_shape)
        new.total_count = self.total_count
        return self._finish(Multinomial, new, batch_shape, self.event_shape)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts that sum to that of the draws."""
        return constraints.multinomial(self.total_count)

    @property
    def logits(self) -> Any:
        """Logarithms of the probabilities, (*, K)."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Probabilities, (*, K)."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Any:
        """The shape of `probs` and `logits`."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Any:
        """`total_count probs`."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """`total_count probs (1 - probs)`, element by element."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        sample_shape = torch.Size(sample_shape)
        drawn = self._categorical.sample(torch.Size((self.total_count,)) + sample_shape)
        drawn = drawn.permute(*range(1, drawn.dim()), 0)  # the draws last
        counts = drawn.new(self._extended_shape(sample_shape)).zero_()
        counts.scatter_add_(-1, drawn, torch.ones_like(drawn))
        return counts.type_as(self.probs)

    def entropy(self) -> Any:
        """By the expectations of log(k!) of each outcome's count, which is binomial."""
        n = torch.tensor(self.total_count)
        ways = self._binomial.enumerate_support(expand=False)[1:]
        chances = torch.exp(self._binomial.log_prob(ways))
        weights = (chances * torch.lgamma(ways + 1)).sum([0, -1])
        return self.total_count * self._categorical.entropy() - torch.lgamma(n + 1) + weights

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -torch.inf)] = 0  # 0 * -inf: what cannot come did not
        return ways + (logits * value).sum(-1)
