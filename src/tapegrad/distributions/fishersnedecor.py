"""The F-distribution of Fisher and Snedecor."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.gamma import Gamma
from tapegrad.distributions.utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The ratio of two chi-squared numbers, each divided by its degrees of freedom.

    Args:
        df1: degrees of freedom above, a number or a tensor.
        df2: degrees of freedom below.

    Raises: ValueError for a parameter that is not positive.

    >>> d = torch.distributions.FisherSnedecor(4.0, torch.tensor([2.0, 6.0]))
    >>> d.mean, d.mode, d.log_prob(torch.tensor(1.0))
    (tensor([   nan, 1.5000]), tensor([0.2500, 0.3750]), tensor([-1.2164, -0.8802]))
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(FisherSnedecor, _instance)
        new._gamma1 = self._gamma1.expand(torch.Size(batch_shape))
        new._gamma2 = self._gamma2.expand(torch.Size(batch_shape))
        return self._expanded(FisherSnedecor, batch_shape, new, "df1", "df2")

    @property
    def mean(self) -> Any:
        """`df2 / (df2 - 2)`; nan up to df2 = 2."""
        df2 = self.df2.clone(memory_format=torch.contiguous_format)
        df2[df2 <= 2] = torch.nan
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        """`(df1 - 2) / df1 df2 / (df2 + 2)`; nan up to df1 = 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        mode[self.df1 <= 2] = torch.nan
        return mode

    @property
    def variance(self) -> Any:
        """`2 df2^2 (df1 + df2 - 2) / (df1 (df2 - 2)^2 (df2 - 4))`; nan up to df2 = 4."""
        df2 = self.df2.clone(memory_format=torch.contiguous_format)
        df2[df2 <= 4] = torch.nan
        above = 2 * df2.pow(2) * (self.df1 + df2 - 2)
        return above / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        # Gamma(df / 2, df) is a chi-squared number divided by twice its degrees of freedom
        above = self._gamma1.rsample(sample_shape).view(shape)
        below = self._gamma2.rsample(sample_shape).view(shape)
        tiny = torch.finfo(below.dtype).tiny
        below.clamp_(min=tiny)
        ratio = above / below
        ratio.clamp_(min=tiny)
        return ratio

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2 = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        normalizer = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        power = half1 * ratio.log() + (half1 - 1) * torch.log(value)
        return normalizer + power - (half1 + half2) * torch.log1p(ratio * value)
