"""Parametrisations that are often used: direction and length, largest singular value 1."""

from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.core.errors import not_implemented, value_error
from tapegrad.core.limits import finfo
from tapegrad.core.missing import refuses as _refuses
from tapegrad.nn import functional as F
from tapegrad.nn.modules.conv import _ConvTransposeNd
from tapegrad.nn.modules.module import Module
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
            q = lower.orgqr(tau) * signs
        else:
            lower = x.tril()
            if n != k:
                lower = cat([lower, lower.new_zeros((*lower.shape[:-1], n - k))], -1)
            skew = lower - lower.mH
            if self.orthogonal_map == "matrix_exp":
                q = skew.matrix_exp()
            else:
                from tapegrad import linalg  # on demand: it needs SciPy

                one = eye(n, dtype=skew.dtype, device=skew.device)
                q = linalg.solve(one - skew / 2, one + skew / 2)
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
    eps = 10.0 * q.shape[-2] * finfo(q.dtype).eps
    return bool(((q.mH @ q - one).abs() <= eps).all())


def _made_orthogonal(a: Tensor) -> Tensor:
    """The orthogonal factor of `a`, its signs such that the other has a positive diagonal."""
    reflections, tau = a.geqrf()
    signs = reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return reflections.orgqr(tau) * signs


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

    def rename(own: Any, state: dict, prefix: str, *_: Any) -> None:
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


__getattr__ = _refuses(__name__)
