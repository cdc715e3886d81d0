"""Orthogonal weights: every matrix becomes one, by the exponential, Cayley's map or reflections."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import not_implemented, value_error
from tapegrad.linalg import householder_product, matrix_exp, solve
from tapegrad.nn.module import Module
from tapegrad.nn.utils.parametrize import register_parametrization
from tapegrad.operators.creation.zeros_eye import eye
from tapegrad.operators.random.rand_like import randn_like
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.tensors.tensor import Tensor

_MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """The map; with `use_trivialization`, around `base`, which moves when a value is assigned."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise value_error(
                "The householder parametrization does not support complex tensors.",
                'Use "matrix_exp" or "cayley".',
            )
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.trivialized = use_trivialization
        self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.shape[-2] < X.shape[-1]
        x = X.mT if wide else X
        n, k = x.shape[-2:]
        if self.orthogonal_map == "householder":
            lower = x.tril(-1)
            tau = 2.0 / (1.0 + (lower * lower).sum(-2))
            signs = x.diagonal(dim1=-2, dim2=-1).sign().detach().unsqueeze(-2)
            q = householder_product(lower, tau) * signs
        else:
            lower = x.tril()
            if n != k:
                lower = cat([lower, lower.new_zeros((*lower.shape[:-1], n - k))], -1)
            skew = lower - lower.mH
            if self.orthogonal_map == "matrix_exp":
                q = matrix_exp(skew)
            else:
                one = eye(n, dtype=skew.dtype, device=skew.device)
                q = solve(one - skew / 2, one + skew / 2)
            q = q[..., :k] if n != k else q
        if self.base is not None:
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise value_error(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor "
                f"of shape {Q.shape}.",
                "The weight keeps its shape.",
            )
        wide = Q.shape[-2] < Q.shape[-1]
        q = Q.mT if wide else Q
        n, k = q.shape[-2:]
        if self.trivialized:
            if n != k:
                wider = randn_like(q.new_empty((*q.shape[:-1], n - k)))
                self.base = _made_orthogonal(cat([q, wider], -1))
            else:
                self.base = q.clone() if _is_orthogonal(q) else _made_orthogonal(q)
            start = Q.new_zeros(Q.shape)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start
        if self.orthogonal_map != "householder":
            raise not_implemented(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False.",
                "With use_trivialization=True it is.",
            )
        reflections, tau = q.geqrf()
        diagonal = reflections.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal[tau == 0.0] *= -1
        return reflections.mT if wide else reflections


def _is_orthogonal(q: Tensor) -> bool:
    n = q.shape[-1]
    one = eye(n, dtype=q.dtype, device=q.device)
    eps = 10.0 * q.shape[-2] * _epsilon(q)
    return bool(((q.mH @ q - one).abs() <= eps).all())


def _epsilon(x: Tensor) -> float:
    from tapegrad.core.limits import finfo

    return finfo(x.dtype).eps


def _made_orthogonal(a: Tensor) -> Tensor:
    """The orthogonal factor of `a`, its signs such that the other has a positive diagonal."""
    reflections, tau = a.geqrf()
    signs = reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return householder_product(reflections, tau) * signs


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Have a weight orthogonal: its columns (or rows, the fewer) orthogonal and of length 1.

    `orthogonal_map` is "matrix_exp", the exponential of a skew-symmetric matrix A; "cayley",
    `(I + A/2) / (I - A/2)`; or "householder", a product of reflections. Unless given it is the
    first for square and complex weights, else the last.

    Source: Lezcano-Casado, Trivializations for gradient-based optimization on manifolds, 2019.

    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(4, 2))
    >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(2), atol=1e-5)
    True
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise value_error(
            f"Module '{module}' has no parameter or buffer with name '{name}'",
            f"It has {', '.join([*module._parameters, *module._buffers]) or 'none'}.",
        )
    if weight.ndim < 2:
        raise value_error(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.",
            "Only matrices are orthogonal.",
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in _MAPS:
        raise value_error(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}",
            "None chooses one.",
        )
    step = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, step, unsafe=True)
