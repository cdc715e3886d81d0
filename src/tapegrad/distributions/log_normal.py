"""The log-normal distribution."""

from __future__ import annotations

from typing import Any

from tapegrad.distributions import constraints
from tapegrad.distributions.normal import Normal
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """Numbers whose logarithm is normal.

    Args:
        loc: the mean of the logarithm, a number or a tensor.
        scale: its standard deviation.

    Raises: ValueError for a scale that is not positive.

    >>> d = torch.distributions.LogNormal(0.0, torch.tensor(1.0))
    >>> d.mean, d.mode, d.entropy()
    (tensor(1.6487), tensor(0.3679), tensor(1.4189))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(LogNormal, _instance))

    @property
    def loc(self) -> Any:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """`exp(loc + scale^2 / 2)`."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        """`exp(loc - scale^2)`."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        """`(exp(scale^2) - 1) exp(2 loc + scale^2)`."""
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc
