"""Bernoulli distributions relaxed to numbers between 0 and 1, so that samples have gradients."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.chance import Chance
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import SigmoidTransform
from tapegrad.distributions.utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Chance, Distribution):
    """The logit of a relaxed Bernoulli number: `(logits + logit(u)) / temperature`, u uniform.

    Args:
        temperature: a tensor; near zero samples tend to infinity, the logits of 0 and 1.
        probs: the probability of a one.
        logits: in its place, the logarithm of the odds.

    Source: Maddison, Mnih and Teh, "The Concrete distribution", 2017, appendix B.

    >>> from tapegrad.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
    >>> LogitRelaxedBernoulli(torch.tensor(1.0), 0.5).log_prob(torch.tensor(0.0))
    tensor(-1.3863)
    """

    support = constraints.real

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded_chance(LogitRelaxedBernoulli, batch_shape, _instance)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=probs.dtype, device=probs.device))
        logit = u.log() - (-u).log1p() + probs.log() - (-probs).log1p()
        return logit / self.temperature

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        distance = logits - value.mul(self.temperature)
        return self.temperature.log() + distance - 2 * distance.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that tend to Bernoulli ones as the temperature tends to zero.

    Args:
        temperature: a tensor.
        probs: the probability of a one.
        logits: in its place, the logarithm of the odds.

    Raises: ValueError unless exactly one of the two is given, and probs in [0, 1].

    >>> d = torch.distributions.RelaxedBernoulli(torch.tensor(1.0), torch.tensor([0.5]))
    >>> d.log_prob(torch.tensor([0.5])), d.rsample((2,)).shape
    (tensor([0.]), torch.Size([2, 1]))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: Any

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Logarithms of the odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """Probabilities of a one."""
        return self.base_dist.probs
