"""The LKJ distribution of correlation matrices, by their Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.beta import Beta
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices of density `det(M)^(concentration - 1)`.

    Args:
        dim: rows of the matrices, at least 2.
        concentration: 1 is uniform over correlation matrices; above, they lie near the identity.

    Raises: ValueError for a dim below 2, or a concentration that is not positive.
    Source: Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on vines
    and extended onion method", 2009, section 3.2.

    >>> d = torch.distributions.LKJCholesky(3, 0.5)
    >>> factor = d.sample()
    >>> torch.allclose((factor @ factor.mT).diagonal(), torch.ones(3))
    True
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise errors.value_error(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.",
                "A correlation is between two.",
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        batch_shape = self.concentration.size()
        # the squared length of row k without its diagonal; the first row has none
        marginal = self.concentration + 0.5 * (self.dim - 2)
        rows = torch.arange(
            self.dim - 1, dtype=self.concentration.dtype, device=self.concentration.device
        )
        rows = torch.cat([rows.new_zeros((1,)), rows])
        self._beta = Beta(rows + 0.5, marginal.unsqueeze(-1) - 0.5 * rows)
        super().__init__(batch_shape, torch.Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(LKJCholesky, _instance)
        batch_shape = torch.Size(batch_shape)
        new.dim = self.dim
        new.concentration = self.concentration.expand(batch_shape)
        new._beta = self._beta.expand((*batch_shape, self.dim))
        return self._finish(LKJCholesky, new, batch_shape, self.event_shape)

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        squared = self._beta.sample(sample_shape).unsqueeze(-1)
        like = squared
        normal = torch.randn(
            self._extended_shape(sample_shape), dtype=like.dtype, device=like.device
        ).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)  # of no elements
        factor = torch.sqrt(squared) * direction
        tiny = torch.finfo(factor.dtype).tiny
        diagonal = torch.clamp(1 - torch.sum(factor**2, dim=-1), min=tiny).sqrt()
        return factor + torch.diag_embed(diagonal)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = torch.sum(order * diagonal.log(), dim=-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        # of the paper, page 1999
        denominator = torch.lgamma(alpha) * n
        numerator = torch.mvlgamma(alpha - 0.5, n)
        pi_constant = 0.5 * n * math.log(math.pi)
        return unnormalized - (pi_constant + numerator - denominator)
