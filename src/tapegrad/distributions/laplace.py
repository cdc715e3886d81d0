"""The Laplace distribution: two exponential tails."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Numbers with the density `exp(-|x - loc| / scale) / (2 scale)`.

    Args:
        loc: the middle, a number or a tensor.
        scale: the mean distance from it.

    Raises: ValueError for a scale that is not positive.

    >>> d = torch.distributions.Laplace(0.0, 1.0)
    >>> d.variance, d.cdf(torch.tensor(0.0)), d.entropy()
    (tensor(2.), tensor(0.5000), tensor(1.6931))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Laplace, batch_shape, _instance, "loc", "scale")

    @property
    def mean(self) -> Any:
        """loc."""
        return self.loc

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """`2 scale^2`."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        """`sqrt(2) scale`."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        u = self.loc.new(shape).uniform_(torch.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        x = value - self.loc
        return 0.5 - 0.5 * x.sign() * torch.expm1(-x.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        x = value - 0.5
        return self.loc - self.scale * x.sign() * torch.log1p(-2 * x.abs())

    def entropy(self) -> Any:
        return 1 + torch.log(2 * self.scale)
