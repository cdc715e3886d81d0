"""The Kumaraswamy distribution."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.transforms import AffineTransform, PowerTransform
from tapegrad.distributions.uniform import Uniform
from tapegrad.distributions.utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


def _moment(a: Any, b: Any, n: int) -> Any:
    """The n-th moment, `b B(1 + n / a, b)`."""
    arg = 1 + n / a
    log_value = torch.lgamma(arg) + torch.lgamma(b) - torch.lgamma(arg + b)
    return b * torch.exp(log_value)


class Kumaraswamy(TransformedDistribution):
    """Numbers in (0, 1) much like beta ones: `P(X > x) = (1 - x^a)^b`.

    Args:
        concentration1: a, a number or a tensor.
        concentration0: b.

    Raises: ValueError for a parameter that is not positive.
    Source: Kumaraswamy, "A generalized probability density function", 1980.

    >>> d = torch.distributions.Kumaraswamy(2.0, torch.tensor([1.0, 2.0]))
    >>> d.mean, d.log_prob(torch.tensor(0.5))
    (tensor([0.6667, 0.5333]), tensor([0.0000, 0.4055]))
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            torch.full_like(self.concentration0, 0),
            torch.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        steps = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(batch_shape)
        new.concentration0 = self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, new)

    @property
    def mean(self) -> Any:
        """The first moment."""
        return _moment(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Any:
        """`((a - 1) / (a b - 1))^(1 / a)`; nan where a or b is below one.

        PyTorch has nan everywhere.
        """
        a, b = self.concentration1, self.concentration0
        log_mode = a.reciprocal() * ((a - 1) / (a * b - 1)).log()
        log_mode[(a < 1) | (b < 1)] = torch.nan
        return log_mode.exp()

    @property
    def variance(self) -> Any:
        """The second moment without the square of the mean."""
        a, b = self.concentration1, self.concentration0
        return _moment(a, b, 2) - torch.pow(self.mean, 2)

    def entropy(self) -> Any:
        a, b = self.concentration1.reciprocal(), self.concentration0.reciprocal()
        harmonic = torch.digamma(self.concentration0 + 1) + euler_constant
        logs = torch.log(self.concentration1) + torch.log(self.concentration0)
        return (1 - b) + (1 - a) * harmonic - logs
