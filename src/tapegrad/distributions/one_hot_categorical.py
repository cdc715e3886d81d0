"""The categorical distribution as vectors with a single one."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.categorical import Categorical
from tapegrad.distributions.distribution import Distribution
from tapegrad.nn import functional as F

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """Vectors of K elements of which one is 1.

    Args:
        probs: (*, K), not negative; they are divided by their sum.
        logits: (*, K), in place of probs.

    Raises: ValueError unless exactly one of the two is given, with at least one dimension.

    >>> d = torch.distributions.OneHotCategorical(torch.tensor([1.0, 3.0]))
    >>> d.mean, d.mode, d.log_prob(torch.tensor([0.0, 1.0]))
    (tensor([0.2500, 0.7500]), tensor([0., 1.]), tensor(-0.2877))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(OneHotCategorical, _instance)
        batch_shape = torch.Size(batch_shape)
        new._categorical = self._categorical.expand(batch_shape)
        return self._finish(OneHotCategorical, new, batch_shape, self.event_shape)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def probs(self) -> Any:
        """Probabilities, (*, K)."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Logarithms of the probabilities, (*, K)."""
        return self._categorical.logits

    @property
    def mean(self) -> Any:
        """probs."""
        return self._categorical.probs

    @property
    def mode(self) -> Any:
        """The most probable vector."""
        probs = self._categorical.probs
        return F.one_hot(probs.argmax(dim=-1), num_classes=probs.shape[-1]).to(probs)

    @property
    def variance(self) -> Any:
        """`probs (1 - probs)`, element by element."""
        return self._categorical.probs * (1 - self._categorical.probs)

    @property
    def param_shape(self) -> Any:
        """The shape of `probs` and `logits`."""
        return self._categorical.param_shape

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        sample_shape = torch.Size(sample_shape)
        index = self._categorical.sample(sample_shape)
        return F.one_hot(index, self._categorical._num_events).to(self._categorical.probs)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same with samples whose gradient is that of the probabilities.

    Source: Bengio, Léonard and Courville, "Estimating or propagating gradients through stochastic
    neurons", 2013.

    >>> probs = torch.tensor([0.25, 0.75], requires_grad=True)
    >>> d = torch.distributions.OneHotCategoricalStraightThrough(probs)
    >>> (d.rsample() * torch.tensor([1.0, 2.0])).sum().backward()
    >>> probs.grad
    tensor([-0.7500,  0.2500])
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        sample, probs = self.sample(sample_shape), self._categorical.probs
        return sample + (probs - probs.detach())
