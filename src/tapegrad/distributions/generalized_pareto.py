"""The generalised Pareto distribution: what exceeds a high threshold."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Numbers above loc with the tail `(1 + c (x - loc) / scale)^(-1 / c)`, c the concentration.

    Args:
        loc: the threshold.
        scale: the scale.
        concentration: c; at zero the tail is exponential, below it ends at `loc - scale / c`.

    Raises: ValueError for a scale that is not positive.
    Source: Pickands, "Statistical inference using extreme order statistics", 1975.

    >>> d = torch.distributions.GeneralizedPareto(0.0, 1.0, torch.tensor([0.0, 0.25]))
    >>> d.mean, d.cdf(torch.tensor(1.0)), d.entropy()
    (tensor([1.0000, 1.3333]), tensor([0.6321, 0.5904]), tensor([1.0000, 1.2500]))
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        names = ("loc", "scale", "concentration")
        return self._expanded(GeneralizedPareto, batch_shape, _instance, *names)

    def _is_exponential(self) -> Any:
        return torch.isclose(self.concentration, torch.zeros_like(self.concentration))

    def _safe_concentration(self, is_exponential: Any) -> Any:
        """With ones where it is zero, so that no branch not taken has an infinite gradient."""
        return torch.where(is_exponential, torch.ones_like(self.concentration), self.concentration)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z, flat = self._z(value), self._is_exponential()
        c = self._safe_concentration(flat)
        tail = torch.where(flat, z, (1 / c + 1) * torch.log1p(c * z))
        return -self.scale.log() - tail

    def log_survival_function(self, value: Any) -> Any:
        """`log P(X > value)`.

        >>> d = torch.distributions.GeneralizedPareto(0.0, 1.0, 0.0)
        >>> d.log_survival_function(torch.tensor(2.0))
        tensor(-2.)
        """
        if self._validate_args:
            self._validate_sample(value)
        z, flat = self._z(value), self._is_exponential()
        c = self._safe_concentration(flat)
        return torch.where(flat, -z, -torch.log1p(c * z) / c)

    def log_cdf(self, value: Any) -> Any:
        """`log P(X <= value)`.

        >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.0).log_cdf(torch.tensor(2.0))
        tensor(-0.1454)
        """
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        flat = self._is_exponential()
        c = self._safe_concentration(flat)
        log_tail = torch.log1p(-value)
        distance = torch.where(flat, -log_tail, torch.expm1(-c * log_tail) / c)
        return self.loc + self.scale * distance

    @property
    def mean(self) -> Any:
        """`loc + scale / (1 - concentration)`; infinite from one on."""
        has_mean = self.concentration < 1
        safe = torch.where(has_mean, self.concentration, 0.5)
        return torch.where(has_mean, self.loc + self.scale / (1 - safe), torch.inf)

    @property
    def variance(self) -> Any:
        """`scale^2 / ((1 - c)^2 (1 - 2 c))`; infinite from a half on."""
        has_variance = self.concentration < 0.5
        safe = torch.where(has_variance, self.concentration, 0.25)
        value = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return torch.where(has_variance, value, torch.inf)

    def entropy(self) -> Any:
        return torch.log(self.scale) + self.concentration + 1

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From loc on; where the concentration is negative, up to the end of the tail."""
        lower = self.loc
        upper = torch.where(
            self.concentration < 0, lower - self.scale / self.concentration, torch.inf
        )
        return constraints.interval(lower, upper)
