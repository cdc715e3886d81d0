"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.gamma import Gamma
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """The reciprocal of a gamma number.

    Args:
        concentration: the shape, a number or a tensor.
        rate: the rate of the gamma number, which is the scale here.

    Raises: ValueError for a parameter that is not positive.

    >>> d = torch.distributions.InverseGamma(3.0, torch.tensor(4.0))
    >>> d.mean, d.mode, d.log_prob(torch.tensor(1.0))
    (tensor(2.), tensor(1.), tensor(-0.5343))
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Any

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, power, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Any:
        """The shape."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of the gamma number."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        """`rate / (concentration - 1)`; infinite up to one."""
        a = self.concentration
        return torch.where(a > 1, self.rate / (a - 1), torch.inf)

    @property
    def mode(self) -> Any:
        """`rate / (concentration + 1)`."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """`rate^2 / ((concentration - 1)^2 (concentration - 2))`; infinite up to two."""
        a = self.concentration
        return torch.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), torch.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
