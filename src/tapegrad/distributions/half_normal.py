"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any

from tapegrad.distributions.folded import FoldedDistribution
from tapegrad.distributions.normal import Normal
from tapegrad.distributions.transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(FoldedDistribution):
    """The absolute value of a normal number of mean zero.

    Args:
        scale: the standard deviation of the normal number.

    Raises: ValueError for a scale that is not positive.

    >>> d = torch.distributions.HalfNormal(torch.tensor(1.0))
    >>> d.mean, d.log_prob(torch.tensor(0.0)), d.cdf(torch.tensor(1.0))
    (tensor(0.7979), tensor(-0.2258), tensor(0.6827))
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(HalfNormal, _instance))

    @property
    def mean(self) -> Any:
        """`scale sqrt(2 / pi)`."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        """`scale^2 (1 - 2 / pi)`."""
        return self.scale.pow(2) * (1 - 2 / math.pi)
