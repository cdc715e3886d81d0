"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.distributions.cauchy import Cauchy
from tapegrad.distributions.folded import FoldedDistribution
from tapegrad.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(FoldedDistribution):
    """The absolute value of a Cauchy number of median zero.

    Args:
        scale: the scale of the Cauchy number, which is the median.

    Raises: ValueError for a scale that is not positive.

    >>> d = torch.distributions.HalfCauchy(torch.tensor(2.0))
    >>> d.mean, d.icdf(torch.tensor(0.5)), d.log_prob(torch.tensor(0.0))
    (tensor(inf), tensor(2.), tensor(-1.1447))
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self) -> Any:
        """Infinite."""
        shape, like = self._extended_shape(), self.scale
        return torch.full(shape, math.inf, dtype=like.dtype, device=like.device)

    @property
    def variance(self) -> Any:
        """Infinite."""
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value = torch.as_tensor(value, dtype=self.base_dist.scale.dtype, device=self.scale.device)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -torch.inf)
