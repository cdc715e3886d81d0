"""Calls of products, linear algebra and complex numbers, as in `calls.py`."""

from tests.laws.calls import Group, complex_numbers, definite, invertible, uniform

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
    torch.lu_unpack(*torch.linalg.lu_factor(a))
    torch.linalg.inv_ex(a)
    torch.linalg.solve_ex(a, b)
    torch.linalg.cholesky_ex(d)
    torch.linalg.tensorsolve(a.reshape(4, 6, 24), b[:, 0].reshape(4, 6))
    torch.ormqr(t, b[0, :6], b)
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
