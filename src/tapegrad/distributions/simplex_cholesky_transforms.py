"""Transforms from unconstrained vectors and matrices to simplices and Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.elementwise_transforms import _OfOneKind
from tapegrad.distributions.transform import Transform, need_dims
from tapegrad.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from tapegrad.nn import functional as F


class SoftmaxTransform(_OfOneKind):
    """Vectors to the simplex: `y = exp(x) / sum(exp(x))`.

    It is not bijective: the inverse is `log y`, one of the vectors of the same y.

    Shape: (*, D) to (*, D).

    >>> torch.distributions.SoftmaxTransform()(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, True).values).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        """The shape itself.

        >>> torch.distributions.SoftmaxTransform().forward_shape((2, 3))
        (2, 3)
        """
        need_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(_OfOneKind):
    """Vectors of D numbers to the simplex of D + 1, by breaking pieces off a stick.

    The k-th number, shifted so that zeros give equal pieces, says by its sigmoid which part of
    what is left is broken off.

    Shape: (*, D) to (*, D + 1).
    Source: Betancourt, "Cruising the simplex", 2012; Stan's reference manual, "Unit simplex".

    >>> torch.distributions.StickBreakingTransform()(torch.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        part = _clipped_sigmoid(x - _log_pieces_left(x))
        left = (1 - part).cumprod(-1)
        return F.pad(part, [0, 1], value=1) * F.pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        broken = y[..., :-1]
        left = 1 - broken.cumsum(-1)
        left = torch.clamp(left, min=torch.finfo(y.dtype).tiny)  # what rounding made negative
        return broken.log() - left.log() + _log_pieces_left(broken)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of `log part'(x) + log left` of all pieces: the Jacobian is triangular.

        >>> f = torch.distributions.StickBreakingTransform()
        >>> f.log_abs_det_jacobian(torch.zeros(1), f(torch.zeros(1)))
        tensor(-1.3863)
        """
        x = x - _log_pieces_left(x)
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """One more number.

        >>> torch.distributions.StickBreakingTransform().forward_shape((2,))
        (3,)
        """
        need_dims(shape, 1)
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        """One number less.

        >>> torch.distributions.StickBreakingTransform().inverse_shape((3,))
        (2,)
        """
        need_dims(shape, 1)
        return (*shape[:-1], shape[-1] - 1)


def _log_pieces_left(x: Any) -> Any:
    """log of how many pieces follow each of the D: D, D - 1, ... 1."""
    n = x.shape[-1]
    return (n + 1 - x.new_ones(n).cumsum(-1)).log()


def _clipped_sigmoid(x: Any) -> Any:
    limits = torch.finfo(x.dtype)
    return torch.clamp(torch.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)


class LowerCholeskyTransform(_OfOneKind):
    """Square matrices to lower triangular ones with positive diagonals, by exp of the diagonal.

    Shape: (*, D, D) to (*, D, D).

    >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_OfOneKind):
    """Square matrices to positive definite ones: `L L'` of the lower Cholesky factor they give.

    Shape: (*, D, D) to (*, D, D).

    >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Vectors of D (D - 1) / 2 numbers to Cholesky factors of D x D correlation matrices.

    The numbers fill a strictly lower triangle; their tanh are canonical partial correlations,
    which break each row's length of one as sticks are broken.

    Shape: (*, D (D - 1) / 2) to (*, D, D).
    Source: Lewandowski, Kurowicka, Joe, "Generating random correlation matrices based on vines and
    extended onion method", 2009; Stan's reference manual, "Cholesky factors of correlation
    matrices".

    >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)  # of the row's length, behind each element
        r = r + torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = F.pad((1 - torch.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2  # atanh

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """What the sticks had left, and the slopes of tanh.

        >>> f = torch.distributions.CorrCholeskyTransform()
        >>> f.log_abs_det_jacobian(torch.zeros(1), f(torch.zeros(1)))
        tensor(-0.)
        """
        left = 1 - (y * y).cumsum(dim=-1)
        stick = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        slopes = -2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return stick + slopes

    def forward_shape(self, shape: Any) -> Any:
        """From D (D - 1) / 2 numbers to D x D.

        >>> torch.distributions.CorrCholeskyTransform().forward_shape((3,))
        (3, 3)
        """
        need_dims(shape, 1)
        n = shape[-1]
        size = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != n:
            raise errors.value_error(
                "Input is not a flattened lower-diagonal number",
                "A matrix of D rows has D * (D - 1) / 2 numbers below its diagonal.",
            )
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Any) -> Any:
        """From D x D to D (D - 1) / 2 numbers.

        >>> torch.distributions.CorrCholeskyTransform().inverse_shape((3, 3))
        (3,)
        """
        need_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise errors.value_error("Input is not square", "A correlation matrix is.")
        n = shape[-1]
        return (*shape[:-2], n * (n - 1) // 2)
