"""The geometric distribution: failures before the first success."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.chance import Chance
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import broadcast_all
from tapegrad.nn.functional import binary_cross_entropy_with_logits

__all__ = ["Geometric"]


class Geometric(Chance, Distribution):
    """How many trials fail before the first success: `P(k) = (1 - probs)^k probs`.

    Args:
        probs: the probability of a success, in (0, 1].
        logits: in its place, the logarithm of the odds.

    Raises: ValueError unless exactly one of the two is given, and probs in (0, 1].

    >>> d = torch.distributions.Geometric(0.25)
    >>> d.mean, d.variance, d.log_prob(torch.tensor(0.0))
    (tensor(3.), tensor(12.), tensor(-1.3863))
    """

    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            valid = value > 0
            if not valid.all():
                invalid = value.data[~valid]
                raise errors.value_error(
                    f"Expected parameter probs ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to be positive but found "
                    f"invalid values:\n{invalid}",
                    "What never succeeds is waited for forever.",
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded_chance(Geometric, batch_shape, _instance)

    @property
    def mean(self) -> Any:
        """`1 / probs - 1`."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        """Zero."""
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        """`(1 / probs - 1) / probs`."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            u = self.probs.new(shape).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=torch.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0  # 0 * log(0): a sure success waits for nothing
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        cross = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return cross / self.probs
