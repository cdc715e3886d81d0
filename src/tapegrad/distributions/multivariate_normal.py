"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(matrix: Any, vector: Any) -> Any:
    """Matrices (*, n, m) times vectors (*, m)."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Any, bx: Any) -> Any:
    """`x' (L L')^-1 x` of lower triangular matrices (*, n, n) and vectors (*, n)."""
    if bL.dim() == 2:  # one matrix: all vectors are columns of one system
        columns = bx.reshape(-1, bx.shape[-1]).mT
        solved = torch.linalg.solve_triangular(bL, columns, upper=False)
        return solved.pow(2).sum(-2).reshape(bx.shape[:-1])
    solved = torch.linalg.solve_triangular(bL, bx.unsqueeze(-1), upper=False)
    return solved.pow(2).sum((-2, -1))


def _precision_to_scale_tril(P: Any) -> Any:
    """The Cholesky factor of the inverse: with P = U U', U upper triangular, it is inv(U)'."""
    upper = torch.flip(torch.linalg.cholesky(torch.flip(P, (-2, -1))), (-2, -1))
    identity = torch.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    return torch.linalg.solve_triangular(upper.mT, identity, upper=False)


class MultivariateNormal(Distribution):
    """Normal vectors of a mean and a covariance.

    Args:
        loc: (*, n), the mean.
        covariance_matrix: (*, n, n), positive definite.
        precision_matrix: (*, n, n), in its place the inverse.
        scale_tril: (*, n, n), in its place the lower Cholesky factor, which is the quickest.

    Raises: ValueError unless exactly one of the three is given, of enough dimensions.

    >>> d = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    >>> d.log_prob(torch.zeros(2)), d.entropy(), d.rsample((3,)).shape
    (tensor(-1.8379), tensor(2.8379), torch.Size([3, 2]))
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise errors.value_error(
                "loc must be at least one-dimensional.", "Its last dimension is the event."
            )
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise errors.value_error(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified.",
                "The others are computed from it.",
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            word = "scale_tril matrix" if name == "scale_tril" else name
            raise errors.value_error(
                f"{word} must be at least two-dimensional, with optional leading batch dimensions",
                "A vector of standard deviations: torch.diag_embed(std) is its scale_tril.",
            )
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MultivariateNormal, _instance)
        batch_shape = torch.Size(batch_shape)
        n = self.event_shape
        new.loc = self.loc.expand(batch_shape + n)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(batch_shape + n + n))
        return self._finish(MultivariateNormal, new, batch_shape, n)

    def _expanded_matrix(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance, (*, n, n)."""
        return self._expanded_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance, (*, n, n)."""
        factor = self._unbroadcasted_scale_tril
        return self._expanded_matrix(torch.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance, (*, n, n)."""
        return self._expanded_matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Any:
        """loc."""
        return self.loc

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        squared = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squared.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        noise = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def _half_log_det(self) -> Any:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        normalizer = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (normalizer + distance) - self._half_log_det()

    def entropy(self) -> Any:
        n = self._event_shape[0]
        entropy = 0.5 * n * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
