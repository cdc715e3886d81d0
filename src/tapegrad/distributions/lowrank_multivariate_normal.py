"""Multivariate normal distributions with a covariance of low rank and a diagonal."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv
from tapegrad.distributions.utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(W: Any, D: Any) -> Any:
    """The Cholesky factor of the capacitance matrix `I + W' D^-1 W`, (*, m, m)."""
    m = W.size(-1)
    scaled = W.mT / D.unsqueeze(-2)
    K = torch.matmul(scaled, W).contiguous()
    K.view(-1, m * m)[:, :: m + 1] += 1
    return torch.linalg.cholesky(K)


def _batch_lowrank_logdet(W: Any, D: Any, capacitance_tril: Any) -> Any:
    """log det(W W' + D), by the matrix determinant lemma."""
    of_factor = 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return of_factor + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Any, D: Any, x: Any, capacitance_tril: Any) -> Any:
    """`x' (W W' + D)^-1 x`, by the Woodbury identity."""
    projected = _batch_mv(W.mT / D.unsqueeze(-2), x)
    whole = (x.pow(2) / D).sum(-1)
    return whole - _batch_mahalanobis(capacitance_tril, projected)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with the covariance `cov_factor cov_factor' + diag(cov_diag)`.

    Densities and samples cost O(n m^2) rather than O(n^3).

    Args:
        loc: (*, n), the mean.
        cov_factor: (*, n, m).
        cov_diag: (*, n), positive.

    Raises: ValueError for shapes that do not fit.

    >>> d = torch.distributions.LowRankMultivariateNormal(
    ...     torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2)
    ... )
    >>> d.covariance_matrix, d.log_prob(torch.zeros(2))
    (tensor([[2., 0.],
            [0., 1.]]), tensor(-2.1845))
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise errors.value_error(
                "loc must be at least one-dimensional.", "Its last dimension is the event."
            )
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise errors.value_error(
                "cov_factor must be at least two-dimensional, "
                "with optional leading batch dimensions",
                "Its shape is (*, n, m).",
            )
        if cov_factor.shape[-2:-1] != event_shape:
            raise errors.value_error(
                f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m",
                "It has a row for each element of loc.",
            )
        if cov_diag.shape[-1:] != event_shape:
            raise errors.value_error(
                f"cov_diag must be a batch of vectors with shape {event_shape}",
                "It has an element for each one of loc.",
            )
        column, diagonal = loc.unsqueeze(-1), cov_diag.unsqueeze(-1)
        try:
            column, self.cov_factor, diagonal = torch.broadcast_tensors(
                column, cov_factor, diagonal
            )
        except RuntimeError as error:
            raise errors.value_error(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}",
                "Their dimensions before the event broadcast.",
            ) from error
        self.loc, self.cov_diag = column[..., 0], diagonal[..., 0]
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(LowRankMultivariateNormal, _instance)
        batch_shape = torch.Size(batch_shape)
        n = self.event_shape
        new.loc = self.loc.expand(batch_shape + n)
        new.cov_diag = self.cov_diag.expand(batch_shape + n)
        new.cov_factor = self.cov_factor.expand(batch_shape + self.cov_factor.shape[-2:])
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril
        return self._finish(LowRankMultivariateNormal, new, batch_shape, n)

    @property
    def mean(self) -> Any:
        """loc."""
        return self.loc

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        squared = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return squared.expand(self._batch_shape + self._event_shape)

    def _expanded_matrix(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance, (*, n, n).

        With D the diagonal, it is `sqrt(D)` times that of `I + D^-1/2 W W' D^-1/2`.
        """
        n = self._event_shape[0]
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        K = torch.matmul(scaled, scaled.mT).contiguous()
        K.view(-1, n * n)[:, :: n + 1] += 1
        return self._expanded_matrix(root * torch.linalg.cholesky(K))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance, (*, n, n)."""
        factor = self._unbroadcasted_cov_factor
        diagonal = torch.diag_embed(self._unbroadcasted_cov_diag)
        return self._expanded_matrix(torch.matmul(factor, factor.mT) + diagonal)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance, by the Woodbury identity, (*, n, n)."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        A = torch.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        inverse = torch.diag_embed(diagonal.reciprocal())
        return self._expanded_matrix(inverse - torch.matmul(A.mT, A))

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        options: dict = {"dtype": self.loc.dtype, "device": self.loc.device}
        noise_w = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], **options)
        noise_d = _standard_normal(shape, **options)
        along = _batch_mv(self._unbroadcasted_cov_factor, noise_w)
        return self.loc + along + self._unbroadcasted_cov_diag.sqrt() * noise_d

    def _log_det(self) -> Any:
        return _batch_lowrank_logdet(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril
        )

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_lowrank_mahalanobis(
            self._unbroadcasted_cov_factor,
            self._unbroadcasted_cov_diag,
            value - self.loc,
            self._capacitance_tril,
        )
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> Any:
        n = self._event_shape[0]
        entropy = 0.5 * (n * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
