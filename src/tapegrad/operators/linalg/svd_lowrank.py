"""Low-rank approximations from the image of random vectors: svd_lowrank, pca_lowrank."""

from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.overridable import overridable

__torch__ = "pca_lowrank svd_lowrank"


def _basis(x: Tensor, q: int, niter: int) -> Any:
    """Orthonormal columns (..., m, q) that nearly span the image of x (..., m, n).

    Source: Halko, Martinsson and Tropp, Finding Structure with Randomness (2011), algorithm 4.4.
    """
    from tapegrad.operators.linalg.qr import linalg_qr
    from tapegrad.operators.random.rand_randint_randperm import randn

    adjoint = x.mH
    dtype = x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else None
    vectors = randn(x.shape[-1], q, dtype=dtype, device=x.device)
    basis = linalg_qr(x @ vectors).Q
    for _ in range(niter):
        basis = linalg_qr(adjoint @ basis).Q
        basis = linalg_qr(x @ basis).Q
    return basis


@overridable
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Any = None) -> tuple:
    """A singular value decomposition of low rank, by random vectors: A - M ~ U diag(S) V^H.

    Args:
        A: (..., m, n).
        q: how many singular values; somewhat more than the rank wanted.
        niter: how often to multiply with A A^H, so that small values fall off faster.
        M: a mean of the rows of A, broadcast to its shape, or None.

    Returns:
        (U, S, V) of shapes (..., m, q), (..., q), (..., n, q), where q is at most m and n. The
        random vectors are drawn from the default generator.

    Source: Halko, Martinsson and Tropp, Finding Structure with Randomness (2011), algorithm 5.1.

    >>> A = torch.ones(5, 1) * torch.tensor([[1.0, 2.0]])
    >>> torch.svd_lowrank(A, q=1)[1]
    tensor([5.])
    """
    from tapegrad.operators.linalg.svd import linalg_svd

    q = 6 if q is None else q
    niter = 2 if niter is None else niter
    m, n = A.shape[-2:]
    if M is not None:
        A = A - M.expand(A.shape)
    x = A.mH if m < n else A
    basis = _basis(x, q, niter)
    u, s, vh = linalg_svd(basis.mH @ x, full_matrices=False)
    u, v = basis @ u, vh.mH
    return (v, s, u) if m < n else (u, s, v)


@overridable
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple:
    """Principal components of low rank, by random vectors.

    Args:
        A: (..., m, n), m observations of n variables.
        q: how many; min(6, m, n) by default.
        center: subtract the mean of each column first.

    Returns:
        (U, S, V): the columns of V (..., n, q) are the principal directions, and S^2 / (m - 1) the
        variances along them.

    Raises: ValueError for a negative `q` or `niter`, or a `q` above min(m, n).

    >>> A = torch.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> torch.pca_lowrank(A, q=1)[1]
    tensor([2.])
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(-2, True)
    return svd_lowrank(A, q, niter)
