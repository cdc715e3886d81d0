"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """The ratio of two centred normal numbers: density `1 / (pi scale (1 + z^2))`.

    z is `(x - loc) / scale`.

    Args:
        loc: the median, a number or a tensor.
        scale: half the distance of the quartiles.

    Raises: ValueError for a scale that is not positive.

    >>> d = torch.distributions.Cauchy(0.0, 1.0)
    >>> d.mean, d.mode, d.icdf(torch.tensor(0.75))
    (tensor(nan), tensor(0.), tensor(1.))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Cauchy, batch_shape, _instance, "loc", "scale")

    def _filled(self, value: float) -> Any:
        shape, like = self._extended_shape(), self.loc
        return torch.full(shape, value, dtype=like.dtype, device=like.device)

    @property
    def mean(self) -> Any:
        """nan: the integral has no value."""
        return self._filled(math.nan)

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Infinite."""
        return self._filled(math.inf)

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        noise = self.loc.new(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        distance = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (distance**2).log1p()

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()
