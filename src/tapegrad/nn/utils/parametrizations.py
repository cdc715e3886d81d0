"""Parametrisations that are often used: direction and length, largest singular value 1."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.nn import functional as F
from tapegrad.nn.module import Module
from tapegrad.nn.transposed_convolution import _ConvTransposeNd
from tapegrad.nn.utils.parametrize import register_parametrization
from tapegrad.tensors.tensor import Tensor


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


def norm_except(weight: Tensor, axis: int) -> Tensor:
    """The 2-norm over all axes but one, which stays as 1 else; over all axes with `axis=-1`."""
    from tapegrad.linalg import vector_norm

    if axis == -1:
        return vector_norm(weight)
    others = [i for i in range(weight.ndim) if i != axis % weight.ndim]
    return vector_norm(weight, 2, others, keepdim=True) if others else weight.abs()


def weight_norm(module: Module, name: str = "weight", dim: int = 0) -> Module:
    """Have a weight computed from its length and its direction: `g * v / |v|`.

    The lengths are those of the slices along `dim`; with None there is one.

    Source: Salimans and Kingma, Weight normalization, 2016, eq. 2.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(20, 40))
    >>> layer.parametrizations.weight.original0.shape
    torch.Size([40, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(own: Any, state: Any, prefix: str, *_: Any) -> None:
        # States of `torch.nn.utils.weight_norm`, which came before.
        for i, end in enumerate(("g", "v")):
            old = f"{prefix}{name}_{end}"
            if old in state:
                state[f"{prefix}parametrizations.{name}.original{i}"] = state.pop(old)

    module.register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        n = weight.ndim
        if not -n <= dim < n:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % n
        self.eps = eps
        if n > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            n_rows, n_columns = matrix.shape
            u = matrix.new_empty(n_rows).normal_(0, 1)
            v = matrix.new_empty(n_columns).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.detach().movedim(self.dim, 0).flatten(1)

    def _iterate(self, matrix: Tensor, n: int) -> None:
        """n steps of the power method on u and v, the singular vectors."""
        with no_grad():
            for _ in range(n):
                self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.t().conj().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        if self.training:
            self._iterate(self._matrix(weight), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        matrix = weight.movedim(self.dim, 0).flatten(1)
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Have a weight divided by its largest singular value, as the power method estimates it.

    The weight is seen as a matrix with rows along `dim`. In training each reading is followed by
    `n_power_iterations` steps of the method.

    Source: Miyato et al., Spectral normalization for generative adversarial networks, 2018.

    >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(20, 40))
    >>> torch.allclose(torch.linalg.matrix_norm(layer.weight, 2), torch.ones(()), atol=0.1)
    True
    """
    weight = getattr(module, name)
    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    steps = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, steps)


def __getattr__(name: str) -> Any:
    if name == "orthogonal":  # on demand: it needs linear algebra
        from tapegrad.nn.utils.orthogonal_map import orthogonal

        return orthogonal
    from tapegrad.core.missing import missing

    raise missing(__name__, name)
