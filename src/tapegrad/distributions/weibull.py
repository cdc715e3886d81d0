"""The Weibull distribution."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.exponential import Exponential
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import AffineTransform, PowerTransform
from tapegrad.distributions.utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """`scale` times a power `1 / concentration` of an exponential number: times to failure.

    Args:
        scale: the scale, a number or a tensor.
        concentration: the shape; below one failures grow rarer with age, above one more frequent.

    Raises: ValueError for a parameter that is not positive.

    >>> d = torch.distributions.Weibull(2.0, 1.0)
    >>> d.mean, d.variance, d.log_prob(torch.tensor(2.0))
    (tensor(2.), tensor(4.), tensor(-1.6931))
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        steps = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Weibull, _instance)
        new.scale = self.scale.expand(batch_shape)
        new.concentration = self.concentration.expand(batch_shape)
        new.concentration_reciprocal = new.concentration.reciprocal()
        expanded = super().expand(batch_shape, new)
        expanded.transforms = [
            PowerTransform(exponent=new.concentration_reciprocal),
            AffineTransform(loc=0, scale=new.scale),
        ]
        return expanded

    @property
    def mean(self) -> Any:
        """`scale Gamma(1 + 1 / concentration)`."""
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Any:
        """`scale ((k - 1) / k)^(1 / k)` of the concentration k."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Any:
        """`scale^2 (Gamma(1 + 2 / k) - Gamma(1 + 1 / k)^2)` of the concentration k."""
        second = torch.exp(torch.lgamma(1 + 2 * self.concentration_reciprocal))
        first = torch.exp(2 * torch.lgamma(1 + self.concentration_reciprocal))
        return self.scale.pow(2) * (second - first)

    def entropy(self) -> Any:
        share = euler_constant * (1 - self.concentration_reciprocal)
        return share + torch.log(self.scale * self.concentration_reciprocal) + 1
