"""The beta distribution."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.dirichlet import Dirichlet
from tapegrad.distributions.exp_family import ExponentialFamily
from tapegrad.distributions.utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Numbers in (0, 1): density proportional to `x^(c1 - 1) (1 - x)^(c0 - 1)`.

    Args:
        concentration1: c1, of x; a number or a tensor.
        concentration0: c0, of 1 - x.

    Raises: ValueError for a parameter that is not positive.

    >>> d = torch.distributions.Beta(2.0, torch.tensor([2.0, 6.0]))
    >>> d.mean, d.log_prob(torch.tensor(0.5))
    (tensor([0.5000, 0.2500]), tensor([ 0.4055, -0.4212]))
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
        pair = torch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(pair, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Beta, _instance)
        batch_shape = torch.Size(batch_shape)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        return self._finish(Beta, new, batch_shape, torch.Size())

    @property
    def mean(self) -> Any:
        """`c1 / (c1 + c0)`."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        """That of the Dirichlet distribution of the pair."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        """`c1 c0 / (C^2 (C + 1))` of the sum C."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()

    def _half(self, index: int) -> Any:
        return self._dirichlet.concentration[..., index]

    @property
    def concentration1(self) -> Any:
        """That of x."""
        return self._half(0)

    @property
    def concentration0(self) -> Any:
        """That of 1 - x."""
        return self._half(1)

    @property
    def _natural_params(self) -> tuple:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y)
