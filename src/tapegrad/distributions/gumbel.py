"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import AffineTransform, ExpTransform
from tapegrad.distributions.uniform import Uniform
from tapegrad.distributions.utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """`loc - scale log(-log u)` of a uniform u: the law of the largest of many numbers.

    Args:
        loc: the mode, a number or a tensor.
        scale: the scale.

    Raises: ValueError for a scale that is not positive.

    >>> d = torch.distributions.Gumbel(1.0, 2.0)
    >>> d.mean, d.variance, d.log_prob(torch.tensor(1.0))
    (tensor(2.1544), tensor(6.5797), tensor(-1.6931))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = torch.finfo(self.loc.dtype)
        if isinstance(loc, (int, float)) and isinstance(scale, (int, float)):
            base = Uniform(limits.tiny, 1 - limits.eps, validate_args=validate_args)
        else:
            base = Uniform(
                torch.full_like(self.loc, limits.tiny),
                torch.full_like(self.loc, 1 - limits.eps),
                validate_args=validate_args,
            )
        super().__init__(base, self._steps(self.loc, self.scale), validate_args=validate_args)

    @staticmethod
    def _steps(loc: Any, scale: Any) -> list:
        """log, sign, log, then the affine map."""
        log = ExpTransform().inv
        turn = AffineTransform(loc=0, scale=-torch.ones_like(scale))
        return [log, turn, ExpTransform().inv, AffineTransform(loc=loc, scale=-scale)]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc = self.loc.expand(batch_shape)
        new.scale = self.scale.expand(batch_shape)
        return super().expand(batch_shape, new)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Any:
        """`loc + scale` times Euler's constant."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """`scale pi / sqrt(6)`."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        """`(scale pi)^2 / 6`."""
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        return self.scale.log() + (1 + euler_constant)
