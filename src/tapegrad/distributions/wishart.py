"""The Wishart distribution of covariance matrices."""

from __future__ import annotations

import math
import warnings
from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.chi2 import Chi2
from tapegrad.distributions.exp_family import ExponentialFamily
from tapegrad.distributions.multivariate_normal import _precision_to_scale_tril
from tapegrad.distributions.utils import lazy_property

__all__ = ["Wishart"]

_log_2 = math.log(2)


def _mvdigamma(x: Any, p: int) -> Any:
    """The derivative of the logarithm of the multivariate gamma function of dimension p."""
    shifts = torch.arange(p, dtype=x.dtype, device=x.device)
    return torch.digamma(x.unsqueeze(-1) - shifts.div(2)).sum(-1)


class Wishart(ExponentialFamily):
    """Sums of `df` outer products `x x'` of normal vectors of mean zero.

    Args:
        df: degrees of freedom, above p - 1; a number or a tensor.
        covariance_matrix: (*, p, p), the covariance of the vectors, positive definite.
        precision_matrix: (*, p, p), in its place the inverse.
        scale_tril: (*, p, p), in its place the lower Cholesky factor.

    Raises:
        AssertionError: not exactly one of the three matrices is given.
        ValueError: a matrix of too few dimensions, or too few degrees of freedom.

    Source: Bartlett's decomposition (Smith and Hocking, "Wishart variate generator", 1972).

    >>> d = torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2))
    >>> d.mean, d.log_prob(torch.eye(2))
    (tensor([[3., 0.],
            [0., 3.]]), tensor(-3.5310))
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict:
        """Degrees of freedom above p - 1, and matrices."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise errors.assertion_error(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified.",
                "The others are computed from it.",
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise errors.value_error(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions",
                "Its shape is (*, p, p).",
            )
        if isinstance(df, (int, float)):
            batch_shape = torch.Size(matrix.shape[:-2])
            self.df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        p = event_shape[-1]
        if self.df.le(p - 1).any():
            raise errors.value_error(
                f"Value of df={df} expected to be greater than ndim - 1 = {p - 1}.",
                "With fewer, the matrices are singular.",
            )
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._batch_dims = [-(i + 1) for i in range(len(self._batch_shape))]
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        self._dist_chi2 = self._diagonal(batch_shape)
        if self.df.lt(p).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
                stacklevel=2,
            )

    def _diagonal(self, batch_shape: Any) -> Chi2:
        """The distribution of the squared diagonal of Bartlett's factor."""
        p = self._event_shape[-1]
        fewer = torch.arange(p, dtype=self.df.dtype, device=self.df.device)
        return Chi2((self.df.unsqueeze(-1) - fewer).expand((*batch_shape, -1)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Wishart, _instance)
        batch_shape = torch.Size(batch_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(
            batch_shape + self.event_shape
        )
        new.df = self.df.expand(batch_shape)
        new._batch_dims = [-(i + 1) for i in range(len(batch_shape))]
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(batch_shape + self.event_shape))
        new._event_shape = self._event_shape
        new._dist_chi2 = new._diagonal(batch_shape)
        return self._finish(Wishart, new, batch_shape, self.event_shape)

    def _expanded_matrix(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the vectors' covariance, (*, p, p)."""
        return self._expanded_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of the vectors, (*, p, p)."""
        factor = self._unbroadcasted_scale_tril
        return self._expanded_matrix(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance, (*, p, p)."""
        return self._expanded_matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Any:
        """df times the covariance."""
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        """`(df - p - 1)` times the covariance; nan unless that is positive."""
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = torch.where(factor > 0, factor, torch.nan)
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        """`df (V_ij^2 + V_ii V_jj)` of the covariance V."""
        V = self.covariance_matrix
        diagonal = V.diagonal(dim1=-2, dim2=-1)
        outer = torch.einsum("...i,...j->...ij", diagonal, diagonal)
        return self.df.view((*self._batch_shape, 1, 1)) * (V.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape: Any = torch.Size()) -> Any:
        p = self._event_shape[-1]
        factor = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        i, j = torch.tril_indices(p, p, offset=-1)
        factor[..., i, j] = torch.randn(
            torch.Size(sample_shape) + self._batch_shape + (int(p * (p - 1) / 2),),
            dtype=factor.dtype,
            device=factor.device,
        )
        root = self._unbroadcasted_scale_tril @ factor
        return root @ root.mT

    def rsample(self, sample_shape: Any = torch.Size(), max_try_correction: Any = None) -> Any:
        """Matrices by Bartlett's decomposition; singular ones are drawn again, some times.

        Warns of singular samples, as PyTorch does, where none is.

        >>> import warnings
        >>> d = torch.distributions.Wishart(torch.tensor(5.0), torch.eye(2))
        >>> with warnings.catch_warnings(action="ignore"):
        ...     d.rsample((3,)).shape
        torch.Size([3, 2, 2])
        """
        if max_try_correction is None:
            max_try_correction = 3 if self._batch_dims else 10
        sample_shape = torch.Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        # PyTorch takes what passes its first check for singular: the samples of a seed, and the
        # warning, are those of the second draw
        again = self._any_of_batch(self.support.check(sample))
        if not again.any():
            return sample
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(max_try_correction):
            drawn = self._bartlett_sampling(again[again].shape)
            sample[again] = drawn
            still = again.clone()
            still[again] = self._any_of_batch(~self.support.check(drawn))
            again = still
            if not again.any():
                break
        return sample

    def _any_of_batch(self, checked: Any) -> Any:
        return checked.amax(self._batch_dims) if self._batch_dims else checked

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        half_log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        solved = torch.cholesky_solve(value, self._unbroadcasted_scale_tril)
        return (
            -nu * (p * _log_2 / 2 + half_log_det)
            - torch.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
            - solved.diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2
        )

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        half_log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return (
            (p + 1) * (p * _log_2 / 2 + half_log_det)
            + torch.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p)
            + nu * p / 2
        )

    @property
    def _natural_params(self) -> tuple:
        p = self._event_shape[-1]
        return -self.precision_matrix / 2, (self.df - p - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._event_shape[-1]
        a = y + (p + 1) / 2
        return a * (-torch.linalg.slogdet(-2 * x).logabsdet + _log_2 * p) + torch.mvlgamma(a, p=p)
