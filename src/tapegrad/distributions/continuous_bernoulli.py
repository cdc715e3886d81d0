"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.chance import Chance
from tapegrad.distributions.exp_family import ExponentialFamily
from tapegrad.distributions.utils import broadcast_all, clamp_probs
from tapegrad.nn.functional import binary_cross_entropy_with_logits

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Chance, ExponentialFamily):
    """Numbers in [0, 1] with a density proportional to `probs^x (1 - probs)^(1 - x)`.

    Args:
        probs: in (0, 1), a number or a tensor.
        logits: in its place, the logarithm of the odds.
        lims: probabilities between these two are taken as a half, where formulas divide by zero;
            first terms of a series stand in.

    Raises: ValueError unless exactly one of the two is given, and probs in [0, 1].
    Source: Loaiza-Ganem and Cunningham, "The continuous Bernoulli: fixing a pervasive error in
    variational autoencoders", 2019.

    >>> d = torch.distributions.ContinuousBernoulli(torch.tensor([0.5, 0.25]))
    >>> d.mean, d.log_prob(torch.tensor(0.0)), d.cdf(torch.tensor(0.5))
    (tensor([0.5000, 0.4102]), tensor([0.0000, 0.4995]), tensor([0.5000, 0.6340]))
    """

    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        if probs is not None:
            if (
                validate_args is not None
                and not self.arg_constraints["probs"].check(self.probs).all()
            ):
                raise errors.value_error(
                    "The parameter probs has invalid values", "Probabilities lie in [0, 1]."
                )
            self.probs = clamp_probs(self.probs)
            self._param = self.probs
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded_chance(ContinuousBernoulli, batch_shape, _instance)
        new._lims = self._lims
        return new

    def _outside_unstable_region(self) -> Any:
        low, high = self._lims
        return (self.probs <= low) | (self.probs > high)

    def _cut_probs(self) -> Any:
        """The probabilities, with the lower limit in place of those near a half."""
        low = self._lims[0] * torch.ones_like(self.probs)
        return torch.where(self._outside_unstable_region(), self.probs, low)

    def _near_half(self, *coefficients: float) -> Any:
        """A polynomial of `(probs - 1/2)^2`."""
        x = torch.pow(self.probs - 0.5, 2)
        value: Any = coefficients[-1]
        for each in coefficients[-2::-1]:
            value = each + value * x
        return value

    def _cont_bern_log_norm(self) -> Any:
        """log of `2 atanh(1 - 2 probs) / (1 - 2 probs)`, what the density is multiplied with."""
        cut = self._cut_probs()
        below = torch.where(cut <= 0.5, cut, torch.zeros_like(cut))
        above = torch.where(cut >= 0.5, cut, torch.ones_like(cut))
        log_norm = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut))) - torch.where(
            cut <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0)
        )
        series = math.log(2.0) + self._near_half(0.0, 4.0 / 3.0, 104.0 / 45.0)
        return torch.where(self._outside_unstable_region(), log_norm, series)

    @property
    def mean(self) -> Any:
        """`p / (2 p - 1) + 1 / (2 atanh(1 - 2 p))` of the parameter p."""
        cut = self._cut_probs()
        mean = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x
        return torch.where(self._outside_unstable_region(), mean, series)

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return torch.sqrt(self.variance)

    @property
    def variance(self) -> Any:
        """`p (p - 1) / (1 - 2 p)^2 + 1 / (2 atanh(1 - 2 p))^2` of the parameter p."""
        cut = self._cut_probs()
        variance = cut * (cut - 1.0) / torch.pow(1.0 - 2.0 * cut, 2) + 1.0 / torch.pow(
            torch.log1p(-cut) - torch.log(cut), 2
        )
        series = self._near_half(1.0 / 12.0, -1.0 / 15.0, 128.0 / 945.0)
        return torch.where(self._outside_unstable_region(), variance, series)

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        weight = -binary_cross_entropy_with_logits(logits, value, reduction="none")
        return weight + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        chance = (torch.pow(cut, value) * torch.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (
            2.0 * cut - 1.0
        )
        inside = torch.where(self._outside_unstable_region(), chance, value)
        return torch.where(
            torch.le(value, 0.0),
            torch.zeros_like(value),
            torch.where(torch.ge(value, 1.0), torch.ones_like(value), inside),
        )

    def icdf(self, value: Any) -> Any:
        cut = self._cut_probs()
        above = torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)
        quantile = above / (torch.log(cut) - torch.log1p(-cut))
        return torch.where(self._outside_unstable_region(), quantile, value)

    def entropy(self) -> Any:
        log_failure = torch.log1p(-self.probs)
        log_odds = torch.log(self.probs) - log_failure
        return -self.mean * log_odds - self._cont_bern_log_norm() - log_failure

    @property
    def _natural_params(self) -> tuple:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Any:
        """log of `(exp(x) - 1) / x`; near zero, where it cancels, the series."""
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        is_outside = (x <= low) | (x > high)
        cut = torch.where(is_outside, x, low * torch.ones_like(x))
        log_norm = torch.log(torch.abs(torch.special.expm1(cut))) - torch.log(torch.abs(cut))
        series = 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0
        return torch.where(is_outside, log_norm, series)
