"""Calls of public operators with typical inputs, as text: the same for tapegrad and for PyTorch.

A `Group` has inputs, made anew for each call, and the calls on them. In a call `torch` and `F` are
the library and its `nn.functional`. Inputs given by keyword require grad if they are floating;
those under `constants` do not. `layer_calls.py` has the calls of layers and losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Group:
    """Inputs and the calls on them. Inputs are functions of a random generator."""

    def __init__(self, name: str, calls: str, constants: dict | None = None, **inputs: Callable):
        self.name = name
        self.calls = [line.strip() for line in calls.strip().splitlines()]
        self.inputs = inputs
        self.constants = constants or {}

    def arrays(self) -> dict[str, np.ndarray]:
        """The inputs and constants by name, the same at each call."""
        rng = np.random.default_rng(0)
        return {name: make(rng) for name, make in {**self.inputs, **self.constants}.items()}

    def tensors(self, torch: Any) -> dict[str, Any]:
        """The inputs and constants as tensors of a library."""
        tensors = {name: torch.from_numpy(array) for name, array in self.arrays().items()}
        for name in self.inputs:
            if tensors[name].dtype.is_floating_point or tensors[name].dtype.is_complex:
                tensors[name].requires_grad_()
        return tensors


def uniform(*shape: int, low: float = 0.1, high: float = 0.9) -> Callable:
    """float32 numbers, by default within (0, 1): in the domain of nearly every function."""
    return lambda rng: rng.uniform(low, high, shape).astype(np.float32)


def integers(*shape: int, high: int) -> Callable:
    """int64 numbers from 0 up to but without high."""
    return lambda rng: rng.integers(0, high, shape)


def mask(*shape: int) -> Callable:
    """True and False."""
    return lambda rng: rng.integers(0, 2, shape).astype(bool)


def complex_numbers(*shape: int) -> Callable:
    """complex64 numbers."""
    return lambda rng: (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


def invertible(*shape: int) -> Callable:
    """Square matrices far from singular ones, the determinant of which is not too large."""
    return lambda rng: (rng.uniform(-0.3, 0.3, shape) + 2 * np.eye(shape[-1])).astype(np.float32)


def definite(*shape: int) -> Callable:
    """Symmetric positive definite matrices."""

    def make(rng: Any) -> np.ndarray:
        x = rng.uniform(-1, 1, shape)
        return (x @ x.mT + np.eye(shape[-1])).astype(np.float32)

    return make


ONE = Group(
    "one tensor",
    """
    x + 1
    x - 1
    2 - x
    x * 2
    x / 2
    2 / x
    x**2
    x**3
    x**0.5
    x**1.5
    2**x
    -x
    x.abs()
    x.reciprocal()
    x.sqrt()
    x.rsqrt()
    x.square()
    x.exp()
    x.exp2()
    x.expm1()
    x.log()
    x.log2()
    x.log10()
    x.log1p()
    x.sin()
    x.cos()
    x.tan()
    x.asin()
    x.acos()
    x.atan()
    x.sinh()
    x.cosh()
    x.tanh()
    x.asinh()
    (x + 1).acosh()
    x.atanh()
    x.sigmoid()
    x.logit()
    x.logit(1e-6)
    x.erf()
    x.erfc()
    x.erfinv()
    x.lgamma()
    x.digamma()
    x.polygamma(1)
    x.mvlgamma(1)
    x.i0()
    torch.special.i0e(x)
    torch.special.i1(x)
    torch.special.i1e(x)
    torch.special.ndtr(x)
    torch.special.ndtri(x)
    torch.special.log_ndtr(x)
    torch.special.entr(x)
    torch.special.erfcx(x)
    x.sinc()
    x.floor()
    x.ceil()
    x.round()
    x.trunc()
    x.frac()
    x.sign()
    x.sgn()
    x.deg2rad()
    x.rad2deg()
    x.angle()
    x.clamp(0.2, 0.8)
    x.clamp(min=0.2)
    x.clamp(max=0.8)
    x.nan_to_num()
    x.remainder(0.3)
    x.fmod(0.3)
    x.double()
    x.clone()
    x.contiguous()
    x.sum()
    x.sum(0)
    x.sum(1, keepdim=True)
    x.nansum()
    x.nansum(1)
    x.mean()
    x.mean(1)
    x.nanmean()
    x.prod()
    x.prod(1)
    x.var()
    x.var(1)
    x.std()
    x.std(1)
    torch.var_mean(x, 1)
    torch.std_mean(x, 1)
    x.amax()
    x.amax(1)
    x.amin(1)
    x.aminmax(dim=1)
    x.max()
    x.min()
    x.max(1)
    x.min(0)
    x.median()
    x.median(1)
    x.nanmedian(1)
    x.mode(1)
    x.quantile(0.3, 1)
    x.norm()
    x.norm(dim=1)
    x.norm(1)
    x.norm(3)
    x.norm(3, dim=1)
    x.norm(float("inf"))
    torch.linalg.vector_norm(x, dim=1)
    torch.linalg.matrix_norm(x)
    torch.linalg.matrix_norm(x, "nuc")
    x.renorm(2, 0, 1.0)
    x.logsumexp(1)
    x.cumsum(1)
    x.cumprod(1)
    x.cummax(1)
    x.cummin(1)
    x.logcumsumexp(1)
    x.diff()
    x.diff(n=2)
    torch.trapezoid(x)
    torch.cumulative_trapezoid(x)
    torch.gradient(x)
    x.cov()
    x.corrcoef()
    x.trace()
    x.view(-1)
    x.reshape(48, 32)
    x.t()
    x.permute(1, 0)
    x.transpose(0, 1).contiguous()
    x.t().reshape(-1)
    x.unsqueeze(0)
    x.expand(3, 32, 48)
    x.repeat(2, 3)
    x.tile(2)
    x.repeat_interleave(2)
    x.repeat_interleave(2, 1)
    x.flip(0)
    x.roll(3, 1)
    x.rot90()
    x.split(10)
    x.chunk(4, 1)
    x.unbind()
    x.tensor_split(3)
    x.narrow(1, 2, 20)
    x.select(0, 3)
    x.diagonal()
    x.diag()
    x.diag_embed()
    x.view(-1).diag()
    x.tril()
    x.triu()
    x.unfold(1, 5, 2)
    x.as_strided((10, 10), (2, 3))
    x[3]
    x[:, 2:20]
    x[::2, ::3]
    x[None, ..., 0]
    x.sort(1)
    x.argsort(1)
    x.topk(5)
    x.kthvalue(3)
    x.msort()
    x.unfold(0, 4, 4).sum()
    torch.combinations(x[0, :8])
    torch.meshgrid(x[0], x[1], indexing="ij")
    torch.cartesian_prod(x[0, :5], x[1, :5])
    torch.block_diag(x, x)
    torch.stack([x, x])
    torch.cat([x, x], 1)
    torch.hstack([x, x])
    torch.atleast_3d(x)
    torch.einsum("ij->j", x)
    torch.dropout(x, 0.5, True)
    torch.histc(x.detach()) + x.sum()
    torch.fft.fft(x)
    torch.fft.ifft2(x)
    torch.fft.rfft(x)
    torch.fft.rfft2(x)
    torch.fft.hfft(x)
    torch.fft.ihfft(x)
    torch.fft.fftshift(x)
    torch.stft(x, 16, return_complex=True, window=torch.ones(16))
    """,
    x=uniform(32, 48),
)

TWO = Group(
    "two tensors",
    """
    x + y
    x - y
    x * y
    x / y
    x**y
    x * y[0]
    x / y[0]
    x + y[:, :1]
    x.add(y, alpha=2)
    x.sub(y, alpha=2)
    x.detach() * y
    x.detach() / y
    x.detach() ** y
    x.div(y, rounding_mode="floor")
    x.remainder(y)
    x.fmod(y)
    x.maximum(y)
    x.minimum(y)
    x.fmax(y)
    x.fmin(y)
    x.max(y)
    x.atan2(y)
    x.hypot(y)
    x.logaddexp(y)
    x.logaddexp2(y)
    x.xlogy(y)
    torch.special.xlog1py(x, y)
    torch.special.zeta(x.detach() + 2, y + 1)
    x.copysign(y)
    x.ldexp(y)
    x.float_power(y)
    x.lerp(y, 0.3)
    x.lerp(y, x)
    x.addcmul(x, y)
    x.addcmul(x, y, value=3)
    x.addcdiv(x, y)
    x.clamp(min=y)
    x.clamp(x * 0.5, y)
    torch.where(m, x, y)
    torch.where(m, x, 0.0)
    torch.where(x > y, x, y)
    x.masked_fill(m, 0.0)
    x.masked_select(m)
    x.masked_scatter(m, y)
    x[m]
    x.dist(y)
    x.dist(y, 3)
    x.clone().copy_(y)
    torch.cat([x, y])
    torch.stack([x, y], 1)
    torch.dstack([x, y])
    torch.column_stack([x, y])
    torch.kron(x[:4, :4], y)
    torch.linalg.vecdot(x, y)
    torch.linalg.cross(x[:, :3], y[:, :3])
    torch.complex(x, y)
    torch.polar(x, y)
    torch.cdist(x, y)
    torch.cdist(x, y, 1.0)
    torch.inner(x, y)
    torch.tensordot(x, y)
    torch.einsum("ij,kj->ik", x, y)
    torch.einsum("ij,ij->i", x, y)
    x.select_scatter(y[0], 0, 3)
    x.slice_scatter(y[:4], 0, 2, 6)
    x.diagonal_scatter(y[:, 0])
    x.clone().mul_(y)
    x.clone().add_(y)
    x.clone().exp_()
    x.clone().index_put_((torch.tensor([1, 2]),), y[:2])
    x.clone().fill_(2.0)
    torch.broadcast_tensors(x, y[0])
    """,
    x=uniform(32, 48),
    y=uniform(32, 48),
    constants={"m": mask(32, 48)},
)

INDEX = Group(
    "indices",
    """
    x[i]
    x[:, i]
    x[i, i]
    x[i, 2:9]
    x.index_select(0, i)
    x.gather(1, k)
    x.take(k)
    x.take_along_dim(k, 1)
    x.scatter(1, k, y)
    x.scatter(1, k, 2.0)
    x.scatter_add(1, k, y)
    x.scatter_reduce(1, k, y, "sum")
    x.scatter_reduce(1, k, y, "prod")
    x.scatter_reduce(1, k, y, "mean")
    x.scatter_reduce(1, k, y, "amax")
    x.index_add(0, i, y[:20])
    x.index_copy(0, i, y[:20])
    x.index_fill(0, i, 2.0)
    x.index_reduce(0, i, y[:20], "mean")
    x.index_reduce(0, i, y[:20], "prod")
    x.index_reduce(0, i, y[:20], "amax")
    x.index_put((i,), y[:20])
    x.index_put((i,), y[:20], accumulate=True)
    x.put(k, y)
    x.repeat_interleave(r, 0)
    """,
    x=uniform(32, 48),
    y=uniform(32, 48),
    constants={
        "i": integers(20, high=32),
        "k": integers(32, 48, high=48),
        "r": integers(32, high=3),
    },
)

PRODUCT = Group(
    "products",
    """
    a @ b
    a.detach() @ b
    a.mm(b)
    a.matmul(b)
    b.t() @ a.t()
    a.mv(b[:, 0])
    a[0].dot(a[1])
    a[0].vdot(a[1])
    a[0].outer(a[1])
    p.bmm(q)
    p @ q
    p @ b
    a @ q
    c.addmm(a, b)
    c.addmm(a, b, beta=2, alpha=3)
    c[:, 0].addmv(a, b[:, 0])
    c.addr(a[:, 0], b[0])
    c.addbmm(p, q)
    p.bmm(q).baddbmm(p, q)
    torch.einsum("nij,njk->nik", p, q)
    torch.einsum("nij,jk->nik", p, b)
    torch.tensordot(p, b, 1)
    torch.linalg.multi_dot([a, b, c.t()])
    torch.chain_matmul(a, b, c.t())
    F.linear(a, b.t())
    F.linear(p, b.t(), v)
    F.bilinear(a, a, w, v)
    """,
    a=uniform(24, 32),
    b=uniform(32, 16),
    c=uniform(24, 16),
    p=uniform(5, 24, 32),
    q=uniform(5, 32, 16),
    w=uniform(16, 32, 32),
    v=uniform(16),
)

LINALG = Group(
    "linear algebra",
    """
    torch.linalg.inv(a)
    torch.linalg.det(a)
    torch.linalg.slogdet(a)
    torch.logdet(d)
    torch.linalg.solve(a, b)
    torch.linalg.solve_triangular(a.tril(), b, upper=False)
    torch.linalg.cholesky(d)
    torch.cholesky_solve(b, d)
    torch.cholesky_inverse(d)
    torch.linalg.qr(t)
    torch.linalg.svd(t, full_matrices=False)
    torch.linalg.svdvals(t)
    torch.linalg.eigh(d)
    torch.linalg.eigvalsh(d)
    torch.linalg.eig(a)
    torch.linalg.eigvals(a)
    torch.linalg.pinv(t)
    torch.linalg.pinv(d, hermitian=True)
    torch.linalg.matrix_power(a, 3)
    torch.linalg.matrix_exp(u)
    torch.linalg.lstsq(t, b).solution
    torch.linalg.lu(a)
    torch.linalg.lu_factor(a)
    torch.lu_solve(b, *torch.linalg.lu_factor(a))
    torch.linalg.householder_product(t, b[0, :6])
    torch.linalg.norm(a)
    torch.linalg.norm(a, 2)
    torch.linalg.norm(a, 1)
    torch.linalg.cond(a)
    torch.linalg.vander(b[:, 0], N=5)
    torch.linalg.tensorinv(a.reshape(4, 6, 24))
    torch.triangular_solve(b, a)
    """,
    a=invertible(24, 24),
    d=definite(24, 24),
    b=uniform(24, 8),
    t=uniform(24, 6),
    u=uniform(24, 24, low=-0.1, high=0.1),
)

LARGE_LINALG = Group(
    "linear algebra of large matrices",
    """
    torch.linalg.inv(a)
    torch.linalg.det(a)
    torch.linalg.slogdet(a)
    torch.linalg.solve(a, b)
    torch.linalg.solve(a, b.t(), left=False)
    torch.linalg.cholesky(d)
    torch.linalg.eigh(d)
    torch.linalg.svd(a)
    torch.linalg.qr(a)
    torch.linalg.lu_factor(a)
    """,
    a=invertible(64, 64),
    d=definite(64, 64),
    b=uniform(64, 8),
)

COMPLEX = Group(
    "complex numbers",
    """
    z * w
    z / w
    z * 2
    z.exp()
    z.log()
    z.sqrt()
    z.sin()
    z.tanh()
    z.reciprocal()
    z.abs()
    z.angle()
    z.sgn()
    z.conj()
    z.conj() * w
    z.real
    z.imag
    z.sum()
    z.prod(1)
    z @ w.mT
    z.mH
    z.cumprod(1)
    z**2
    z**w
    torch.view_as_real(z)
    torch.fft.fft(z)
    torch.fft.irfft(z)
    torch.linalg.vector_norm(z)
    torch.linalg.inv(z[:, :32])
    """,
    z=complex_numbers(32, 48),
    w=complex_numbers(32, 48),
)
