"""The chance of a success, given as probability or as logit; the other is computed when needed."""

from __future__ import annotations

from typing import Any

from tapegrad.distributions import constraints
from tapegrad.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    one_of_probs_and_logits,
    probs_to_logits,
)


class Chance:
    """What Bernoulli, binomial, geometric and similar distributions share: `probs` and `logits`.

    >>> d = torch.distributions.Bernoulli(logits=torch.zeros(2))
    >>> d.probs, d.param_shape
    (tensor([0.5000, 0.5000]), torch.Size([2]))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    _param: Any

    def _take(self, probs: Any, logits: Any, *others: Any) -> tuple:
        """Keep what is given of the two, broadcast with the other parameters, which it returns."""
        one_of_probs_and_logits(probs, logits)
        if probs is not None:
            self.probs, *rest = broadcast_all(probs, *others)
            self._param = self.probs
        else:
            self.logits, *rest = broadcast_all(logits, *others)
            self._param = self.logits
        return tuple(rest)

    def _expanded_chance(
        self: Any, cls: type, batch_shape: Any, _instance: Any, *parameters: str
    ) -> Any:
        """`expand` of what is given of the two, and of further parameters."""
        new = self._expanded(cls, batch_shape, _instance, "probs", "logits", *parameters)
        new._param = new.__dict__["logits" if "logits" in self.__dict__ else "probs"]
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Any:
        """Logarithms of the odds `probs / (1 - probs)`."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """Probabilities of a success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of `probs` and `logits`."""
        return self._param.size()
