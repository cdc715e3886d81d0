"""Student's t-distribution."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.chi2 import Chi2
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """`loc + scale z / sqrt(v / df)` of a standard normal z and a chi-squared v.

    Args:
        df: degrees of freedom, a number or a tensor.
        loc: the middle.
        scale: the scale.

    Raises: ValueError for a df or a scale that is not positive.

    >>> d = torch.distributions.StudentT(torch.tensor([1.0, 3.0]))
    >>> d.mean, d.variance, d.log_prob(torch.tensor(0.0))
    (tensor([nan, 0.]), tensor([nan, 3.]), tensor([-1.1447, -1.0009]))
    """

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(StudentT, _instance)
        new._chi2 = self._chi2.expand(torch.Size(batch_shape))
        return self._expanded(StudentT, batch_shape, new, "df", "loc", "scale")

    @property
    def mean(self) -> Any:
        """loc; nan up to one degree of freedom."""
        mean = self.loc.clone(memory_format=torch.contiguous_format)
        mean[self.df <= 1] = torch.nan
        return mean

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """`scale^2 df / (df - 2)`; infinite up to two degrees of freedom, nan up to one."""
        variance = self.df.clone(memory_format=torch.contiguous_format)
        df, scale, has_one = self.df, self.scale, self.df > 2
        variance[has_one] = scale[has_one].pow(2) * df[has_one] / (df[has_one] - 2)
        variance[(df <= 2) & (df > 1)] = torch.inf
        variance[df <= 1] = torch.nan
        return variance

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        z = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        v = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (z * torch.rsqrt(v / self.df))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + torch.lgamma(0.5 * self.df)
            - torch.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Any:
        log_beta = (
            torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(0.5 * (self.df + 1))
        )
        slope = torch.digamma(0.5 * (self.df + 1)) - torch.digamma(0.5 * self.df)
        return self.scale.log() + 0.5 * (self.df + 1) * slope + 0.5 * self.df.log() + log_beta
