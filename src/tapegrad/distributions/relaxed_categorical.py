"""Categorical distributions relaxed to the simplex, so that samples have gradients."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.categorical import Categorical
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import ExpTransform
from tapegrad.distributions.utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a relaxed one-hot vector: a log-softmax of logits and Gumbel noise.

    Args:
        temperature: a tensor.
        probs: (*, K), not negative.
        logits: (*, K), in place of probs.

    Source: Maddison, Mnih and Teh, "The Concrete distribution", 2017, appendix C; Jang, Gu and
    Poole, "Categorical reparameterization with Gumbel-softmax", 2017.

    >>> from tapegrad.distributions.relaxed_categorical import ExpRelaxedCategorical
    >>> d = ExpRelaxedCategorical(torch.tensor(1.0), torch.ones(2))
    >>> d.log_prob(torch.tensor([0.5, 0.5]).log())
    tensor(-1.3863)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    # the vectors are logarithms of the simplex, for which there is no constraint
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        batch_shape = torch.Size(batch_shape)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)
        return self._finish(ExpRelaxedCategorical, new, batch_shape, self.event_shape)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self) -> Any:
        """The shape of `probs` and `logits`."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Any:
        """Logarithms of the probabilities, (*, K)."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Probabilities, (*, K)."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape, like = self._extended_shape(sample_shape), self.logits
        u = clamp_probs(torch.rand(shape, dtype=like.dtype, device=like.device))
        gumbel = -((-(u.log())).log())
        scores = (self.logits + gumbel) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        k = self._categorical._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        log_scale = torch.full_like(self.temperature, float(k)).lgamma()
        log_scale = log_scale - self.temperature.log().mul(-(k - 1))
        score = logits - value.mul(self.temperature)
        score = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1)
        return score + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex that tend to one-hot vectors as the temperature tends to zero.

    Args:
        temperature: a tensor.
        probs: (*, K), not negative.
        logits: (*, K), in place of probs.

    Raises: ValueError unless exactly one of the two is given, with at least one dimension.

    >>> d = torch.distributions.RelaxedOneHotCategorical(torch.tensor(0.5), torch.ones(3))
    >>> d.rsample((2,)).shape, d.event_shape
    (torch.Size([2, 3]), torch.Size([3]))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: Any

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, new)

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Logarithms of the probabilities, (*, K)."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """Probabilities, (*, K)."""
        return self.base_dist.probs
