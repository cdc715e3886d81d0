"""The gamma distribution."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.exp_family import ExponentialFamily
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Positive numbers: density `rate^a x^(a - 1) exp(-rate x) / Gamma(a)`, a the concentration.

    Args:
        concentration: the shape, a number or a tensor.
        rate: the inverse of the scale.

    Samples have gradients with respect to both parameters (`torch._standard_gamma`).

    Raises: ValueError for a parameter that is not positive.

    >>> d = torch.distributions.Gamma(2.0, torch.tensor([1.0, 4.0]))
    >>> d.mean, d.mode, d.log_prob(torch.tensor(1.0))
    (tensor([2.0000, 0.5000]), tensor([1.0000, 0.2500]), tensor([-1.0000, -1.2274]))
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Gamma, batch_shape, _instance, "concentration", "rate")

    @property
    def mean(self) -> Any:
        """`concentration / rate`."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        """`(concentration - 1) / rate`, or zero."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        """`concentration / rate^2`."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        drawn.detach().clamp_(min=torch.finfo(drawn.dtype).tiny)  # no gradient of the clamp
        return drawn

    def log_prob(self, value: Any) -> Any:
        value = torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        a, rate = self.concentration, self.rate
        return torch.xlogy(a, rate) + torch.xlogy(a - 1, value) - rate * value - torch.lgamma(a)

    def entropy(self) -> Any:
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)

    @property
    def _natural_params(self) -> tuple:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return torch.special.gammainc(self.concentration, self.rate * value)
