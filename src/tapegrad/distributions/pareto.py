"""The Pareto distribution."""

from __future__ import annotations

from typing import Any

from tapegrad.distributions import constraints
from tapegrad.distributions.exponential import Exponential
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import AffineTransform, ExpTransform
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Numbers above `scale` with a tail of `P(X > x) = (scale / x)^alpha`.

    Args:
        scale: the least number, a number or a tensor.
        alpha: how fast the tail falls.

    Raises: ValueError for a parameter that is not positive.

    >>> d = torch.distributions.Pareto(1.0, 3.0)
    >>> d.mean, d.variance, d.log_prob(torch.tensor(2.0))
    (tensor(1.5000), tensor(0.7500), tensor(-1.6740))
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        steps = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Pareto, _instance)
        new.scale = self.scale.expand(batch_shape)
        new.alpha = self.alpha.expand(batch_shape)
        return super().expand(batch_shape, new)

    @property
    def mean(self) -> Any:
        """`alpha scale / (alpha - 1)`; infinite up to alpha = 1."""
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> Any:
        """scale."""
        return self.scale

    @property
    def variance(self) -> Any:
        """`alpha scale^2 / ((alpha - 1)^2 (alpha - 2))`; infinite up to alpha = 2."""
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Numbers from scale on."""
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
