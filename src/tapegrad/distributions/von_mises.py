"""The von Mises distribution on the circle."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


def _log_bessel(x: Any, order: int) -> Any:
    """log I_order(x) of the modified Bessel functions of order 0 and 1, for x > 0."""
    scaled = torch.special.i0e(x) if order == 0 else torch.special.i1e(x)
    return scaled.log() + x


class VonMises(Distribution):
    """Angles in [-pi, pi): density `exp(concentration cos(x - loc)) / (2 pi I0(concentration))`.

    Args:
        loc: the mean angle.
        concentration: how close to it the angles are.

    Raises: ValueError for a concentration that is not positive.
    Source: Best and Fisher, "Efficient simulation of the von Mises distribution", 1979.

    >>> d = torch.distributions.VonMises(torch.tensor(0.0), torch.tensor(2.0))
    >>> d.mean, d.variance, d.log_prob(torch.tensor(0.0))
    (tensor(0.), tensor(0.3022), tensor(-0.6619))
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, torch.Size(), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        try:
            return super().expand(batch_shape)
        except NotImplementedError:
            validate_args = self.__dict__.get("_validate_args")
            loc = self.loc.expand(batch_shape)
            return type(self)(loc, self.concentration.expand(batch_shape), validate_args)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        height = self.concentration * torch.cos(value - self.loc)
        return height - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    @lazy_property
    def _loc(self) -> Any:
        return self.loc.to(torch.double)

    @lazy_property
    def _concentration(self) -> Any:
        return self.concentration.to(torch.double)

    @lazy_property
    def _proposal_r(self) -> Any:
        """The parameter of the wrapped Cauchy numbers that are proposed."""
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        # below, rho has lost its digits: the first terms of its series
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    @torch.no_grad()
    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        """Angles, drawn by rejection in float64.

        >>> d = torch.distributions.VonMises(torch.tensor(0.0), torch.tensor(2.0))
        >>> bool((d.sample((100,)).abs() <= torch.pi).all())
        True
        """
        shape = self._extended_shape(sample_shape)
        x = torch.empty(shape, dtype=self._loc.dtype, device=self.loc.device)
        r, kappa = self._proposal_r, self._concentration
        done = torch.zeros(shape, dtype=torch.bool, device=self.loc.device)
        while not done.all():
            u1, u2, u3 = torch.rand((3, *shape), dtype=x.dtype, device=x.device).unbind()
            z = torch.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = kappa * (r - f)
            accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
            x = torch.where(accepted, (u3 - 0.5).sign() * f.acos(), x)
            done = done | accepted
        x = (x + math.pi + self._loc) % (2 * math.pi) - math.pi
        return x.to(self.loc.dtype)

    @property
    def mean(self) -> Any:
        """loc: the mean angle."""
        return self.loc

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """`1 - I1(concentration) / I0(concentration)`: the variance of the circle."""
        k = self.concentration
        return 1 - (_log_bessel(k, 1) - _log_bessel(k, 0)).exp()
