"""The categorical distribution: the index of one of K outcomes."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import (
    lazy_property,
    logits_to_probs,
    one_of_probs_and_logits,
    probs_to_logits,
)

__all__ = ["Categorical"]


class Categorical(Distribution):
    """An index from 0 to K - 1, each with its probability.

    Args:
        probs: (*, K), not negative; they are divided by their sum.
        logits: (*, K), in place of probs: logarithms of what the probabilities are proportional to.

    Raises: ValueError unless exactly one of the two is given, with at least one dimension.

    >>> d = torch.distributions.Categorical(torch.tensor([1.0, 3.0]))
    >>> d.probs, d.log_prob(torch.tensor(1)), d.mode
    (tensor([0.2500, 0.7500]), tensor(-0.2877), tensor(1))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        one_of_probs_and_logits(probs, logits)
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        if given.dim() < 1:
            raise errors.value_error(
                f"`{name}` parameter must be at least one-dimensional.",
                "Its last dimension numbers the outcomes.",
            )
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param = self.__dict__[name]
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Categorical, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in ("probs", "logits"):
            if name in self.__dict__:
                expanded = self.__dict__[name].expand((*batch_shape, self._num_events))
                setattr(new, name, expanded)
                new._param = expanded
        new._num_events = self._num_events
        return self._finish(Categorical, new, batch_shape, torch.Size())

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The numbers of the outcomes."""
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Any:
        """Logarithms of the probabilities, (*, K)."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """Probabilities, (*, K)."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Any:
        """The shape of `probs` and `logits`."""
        return self._param.size()

    def _nan(self) -> Any:
        shape = self._extended_shape()
        return torch.full(shape, torch.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mean(self) -> Any:
        """nan: an index has no mean."""
        return self._nan()

    @property
    def mode(self) -> Any:
        """The most probable index."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        """nan: an index has no variance."""
        return self._nan()

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        if not isinstance(sample_shape, torch.Size):
            sample_shape = torch.Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        drawn = torch.multinomial(rows, sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logits = torch.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)  # an outcome of probability zero adds zero, not nan

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(self._num_events, dtype=torch.long, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
