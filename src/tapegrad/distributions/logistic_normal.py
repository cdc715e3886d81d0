"""The logistic-normal distribution on the simplex."""

from __future__ import annotations

from typing import Any

from tapegrad.distributions import constraints
from tapegrad.distributions.normal import Normal
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Points of the simplex, made of K normal numbers by `StickBreakingTransform`.

    Args:
        loc: (*, K), means of the normal numbers.
        scale: their standard deviations.

    Raises: ValueError for a scale that is not positive.

    >>> d = torch.distributions.LogisticNormal(torch.zeros(2), torch.ones(2))
    >>> d.event_shape, d.log_prob(torch.tensor([0.25, 0.25, 0.5]))
    (torch.Size([3]), tensor(1.3054))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(LogisticNormal, _instance))

    @property
    def _normal(self) -> Any:
        return self.base_dist.base_dist

    @property
    def loc(self) -> Any:
        """The means of the normal numbers."""
        return self._normal.loc

    @property
    def scale(self) -> Any:
        """The standard deviations of the normal numbers."""
        return self._normal.scale
