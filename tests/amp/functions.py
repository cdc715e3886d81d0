"""A call of each function that autocast runs in another precision, and the dtypes of the results.

`c` casts what it is given to the dtype of the arguments. Beside each call: the dtypes of PyTorch's
results on the CPU in a block of bfloat16, for arguments of float32 and of bfloat16.
"""

BF, F32, C64 = "bfloat16", "float32", "complex64"


def calls(torch):
    """(name, call, dtype of the result for float32, for bfloat16), of tapegrad or of PyTorch."""
    F = torch.nn.functional
    torch.manual_seed(0)
    a = torch.randn(4, 4)
    definite = a @ a.T + 4 * torch.eye(4)
    lines, images, volumes = (
        torch.randn(2, 3, 8),
        torch.randn(2, 3, 8, 8),
        torch.randn(2, 3, 4, 8, 8),
    )
    kernels = torch.randn(3, 3, 3, 3)
    classes = torch.tensor([0, 1, 2, 3])
    labels = classes.repeat(4, 1)
    signs = a.sign()
    shares = a.sigmoid()
    peaks = F.max_pool2d(images, 2, return_indices=True)
    peaks_3d = F.max_pool3d(volumes, 2, return_indices=True)
    ones = torch.ones(2, 2, dtype=torch.long)
    lengths = torch.tensor([5, 5])

    lower = {
        "addbmm": lambda c: torch.addbmm(c(a[:3, :3]), c(lines), c(lines).mT),
        "addmm": lambda c: torch.addmm(c(a), c(a), c(a)),
        "baddbmm": lambda c: torch.baddbmm(c(a[:3, :3]), c(lines), c(lines).mT),
        "bmm": lambda c: torch.bmm(c(lines), c(lines).mT),
        "conv1d": lambda c: F.conv1d(c(lines), c(kernels[0])),
        "conv2d": lambda c: F.conv2d(c(images), c(kernels), c(a[0, :3])),
        "conv3d": lambda c: F.conv3d(c(volumes), c(kernels[None])),
        "conv_tbc": lambda c: torch.conv_tbc(c(lines.permute(2, 0, 1)), c(kernels[0]), c(a[0, :3])),
        "conv_transpose1d": lambda c: F.conv_transpose1d(c(lines), c(kernels[0])),
        "conv_transpose2d": lambda c: F.conv_transpose2d(c(images), c(kernels)),
        "conv_transpose3d": lambda c: F.conv_transpose3d(c(volumes), c(kernels[:, None])),
        "linear": lambda c: F.linear(c(a), c(a), c(a[0])),
        "matmul": lambda c: torch.matmul(c(lines), c(lines).mT),
        "matmul of vectors": lambda c: c(a[0]) @ c(a[0]),
        "mm": lambda c: torch.mm(c(a), c(a)),
        "prelu": lambda c: F.prelu(c(lines), c(a[0, :3])),
        "scaled_dot_product_attention": lambda c: F.scaled_dot_product_attention(*[c(lines)] * 3),
        "vecdot": lambda c: torch.linalg.vecdot(c(a), c(a)),
        # not in the table: made of what is
        "einsum": lambda c: torch.einsum("ij,jk->ik", c(a), c(a)),
        "einsum of vectors": lambda c: torch.einsum("i,i->", c(a[0]), c(a[0])),
        "tensordot": lambda c: torch.tensordot(c(a), c(a), 1),
        "multi_dot": lambda c: torch.linalg.multi_dot([c(a), c(a), c(a)]),
        "inner": lambda c: torch.inner(c(a), c(a)),
        "matrix_power": lambda c: torch.linalg.matrix_power(c(a), 3),
        "affine_grid": lambda c: F.affine_grid(c(a[None, :2, :3]), (1, 1, 4, 4), False),
    }

    float32 = {
        "adaptive_avg_pool3d": lambda c: F.adaptive_avg_pool3d(c(volumes), 2),
        "adaptive_max_pool3d": lambda c: F.adaptive_max_pool3d(c(volumes), 2),
        "avg_pool3d": lambda c: F.avg_pool3d(c(volumes), 2),
        "binary_cross_entropy": lambda c: F.binary_cross_entropy(c(shares), c(shares)),
        "binary_cross_entropy_with_logits": lambda c: F.binary_cross_entropy_with_logits(
            c(a), c(shares)
        ),
        "cdist": lambda c: torch.cdist(c(a), c(a)),
        "cholesky": lambda c: torch.linalg.cholesky(c(definite)),
        "cholesky_ex": lambda c: torch.linalg.cholesky_ex(c(definite))[0],
        "cholesky_inverse": lambda c: torch.cholesky_inverse(c(definite)),
        "cholesky_solve": lambda c: torch.cholesky_solve(c(a), c(definite)),
        "cond": lambda c: torch.linalg.cond(c(a)),
        "cosine_embedding_loss": lambda c: F.cosine_embedding_loss(c(a), c(a), c(signs[0])),
        "cross_entropy": lambda c: F.cross_entropy(c(a), classes),
        "cross_entropy of shares": lambda c: F.cross_entropy(c(a), c(shares)),
        "ctc_loss": lambda c: F.ctc_loss(c(lines.permute(2, 0, 1)[:5]), ones, lengths, lengths - 3),
        "eigh": lambda c: torch.linalg.eigh(c(definite))[0],
        "eigvalsh": lambda c: torch.linalg.eigvalsh(c(definite)),
        "fractional_max_pool2d": lambda c: F.fractional_max_pool2d(c(images), 2, 4),
        "fractional_max_pool3d": lambda c: F.fractional_max_pool3d(c(volumes), 2, 2),
        "geqrf": lambda c: torch.geqrf(c(a))[0],
        "grid_sampler": lambda c: F.grid_sample(
            c(images), c(images[:, :2].permute(0, 2, 3, 1)), align_corners=False
        ),
        "hfft": lambda c: torch.fft.hfft(c(a)),
        "hinge_embedding_loss": lambda c: F.hinge_embedding_loss(c(a), c(signs)),
        "householder_product": lambda c: torch.linalg.householder_product(c(a), c(a[0])),
        "huber_loss": lambda c: F.huber_loss(c(a), c(a)),
        "inv": lambda c: torch.linalg.inv(c(a)),
        "inv_ex": lambda c: torch.linalg.inv_ex(c(a))[0],
        "inverse": lambda c: torch.inverse(c(a)),
        "irfft": lambda c: torch.fft.irfft(c(a)),
        "irfft2": lambda c: torch.fft.irfft2(c(a)),
        "irfftn": lambda c: torch.fft.irfftn(c(a)),
        "kl_div": lambda c: F.kl_div(c(a), c(shares), reduction="sum"),
        "l1_loss": lambda c: F.l1_loss(c(a), c(a)),
        "lstsq": lambda c: torch.linalg.lstsq(c(a), c(a))[0],
        "lu_solve": lambda c: torch.lu_solve(c(a), c(a), classes.int() + 1),
        "margin_ranking_loss": lambda c: F.margin_ranking_loss(c(a), c(a), c(signs)),
        "matrix_rank": lambda c: torch.linalg.matrix_rank(c(a)).float(),
        "max_pool3d": lambda c: F.max_pool3d(c(volumes), 2),
        "max_unpool1d": lambda c: F.max_unpool1d(c(lines), classes.repeat(2, 3, 2), 2),
        "max_unpool2d": lambda c: F.max_unpool2d(c(peaks[0]), peaks[1], 2),
        "max_unpool3d": lambda c: F.max_unpool3d(c(peaks_3d[0]), peaks_3d[1], 2),
        "mse_loss": lambda c: F.mse_loss(c(a), c(a)),
        "multi_margin_loss": lambda c: F.multi_margin_loss(c(a), classes),
        "multilabel_margin_loss": lambda c: F.multilabel_margin_loss(c(a), labels),
        "nanquantile": lambda c: torch.nanquantile(c(a), c(shares[0])),
        "nll_loss": lambda c: F.nll_loss(c(a), classes),
        "ormqr": lambda c: torch.ormqr(c(a), c(a[0]), c(a)),
        "pinverse": lambda c: torch.pinverse(c(a)),
        "poisson_nll_loss": lambda c: F.poisson_nll_loss(c(a), c(a)),
        "prod": lambda c: c(a).prod(),
        "qr": lambda c: torch.linalg.qr(c(a))[0],
        "quantile": lambda c: torch.quantile(c(a), 0.5),
        "reflection_pad1d": lambda c: F.pad(c(lines), (1, 1), "reflect"),
        "reflection_pad2d": lambda c: F.pad(c(images), (1, 1, 1, 1), "reflect"),
        "replication_pad1d": lambda c: F.pad(c(lines), (1, 1), "replicate"),
        "replication_pad2d": lambda c: F.pad(c(images), (1, 1, 1, 1), "replicate"),
        "replication_pad3d": lambda c: F.pad(c(volumes), (1,) * 6, "replicate"),
        "smooth_l1_loss": lambda c: F.smooth_l1_loss(c(a), c(a)),
        "soft_margin_loss": lambda c: F.soft_margin_loss(c(a), c(signs)),
        "solve": lambda c: torch.linalg.solve(c(a), c(a)),
        "svd": lambda c: torch.linalg.svd(c(a))[1],
        "svdvals": lambda c: torch.linalg.svdvals(c(a)),
        "tensorinv": lambda c: torch.linalg.tensorinv(c(a), 1),
        "tensorsolve": lambda c: torch.linalg.tensorsolve(c(a), c(a[0])),
        "trace": lambda c: torch.trace(c(a)),
        "triangular_solve": lambda c: torch.triangular_solve(c(a), c(a))[0],
        "triplet_margin_loss": lambda c: F.triplet_margin_loss(c(a), c(a), c(a)),
    }

    to_complex = {
        "eig": lambda c: torch.linalg.eig(c(a))[0],
        "eigvals": lambda c: torch.linalg.eigvals(c(a)),
        "fft": lambda c: torch.fft.fft(c(a)),
        "fft2": lambda c: torch.fft.fft2(c(a)),
        "fftn": lambda c: torch.fft.fftn(c(a)),
        "ifft": lambda c: torch.fft.ifft(c(a)),
        "ifft2": lambda c: torch.fft.ifft2(c(a)),
        "ifftn": lambda c: torch.fft.ifftn(c(a)),
        "ihfft": lambda c: torch.fft.ihfft(c(a)),
        "polar": lambda c: torch.polar(c(a), c(a)),
        "rfft": lambda c: torch.fft.rfft(c(a)),
        "rfft2": lambda c: torch.fft.rfft2(c(a)),
        "rfftn": lambda c: torch.fft.rfftn(c(a)),
        "stft": lambda c: torch.stft(c(a).flatten(), 8, window=torch.ones(8), return_complex=True),
        "view_as_complex": lambda c: torch.view_as_complex(c(a[:, :2].contiguous())),
    }

    as_given = {
        "adaptive_max_pool2d": lambda c: F.adaptive_max_pool2d(c(images), 2),
        "addmv": lambda c: torch.addmv(c(a[0]), c(a), c(a[0])),
        "avg_pool2d": lambda c: F.avg_pool2d(c(images), 2),
        "batch_norm": lambda c: F.batch_norm(c(images), None, None, training=True),
        "bilinear": lambda c: F.bilinear(c(a), c(a), c(a.repeat(2, 1, 1))),
        "cosine_similarity": lambda c: F.cosine_similarity(c(a), c(a)),
        "cumsum": lambda c: c(a).cumsum(0),
        "dot": lambda c: torch.dot(c(a[0]), c(a[0])),
        "einsum without sums": lambda c: torch.einsum("ij,ij->ij", c(a), c(a)),
        "exp": lambda c: c(a).exp(),
        "gaussian_nll_loss": lambda c: F.gaussian_nll_loss(c(a), c(a), c(a.exp())),
        "kron": lambda c: torch.kron(c(a), c(a)),
        "layer_norm": lambda c: F.layer_norm(c(a), (4,)),
        "log_softmax": lambda c: F.log_softmax(c(a), -1),
        "max_pool2d": lambda c: F.max_pool2d(c(images), 2),
        "multilabel_soft_margin_loss": lambda c: F.multilabel_soft_margin_loss(c(a), c(shares)),
        "mv": lambda c: torch.mv(c(a), c(a[0])),
        "norm": lambda c: torch.norm(c(a)),
        "outer": lambda c: torch.outer(c(a[0]), c(a[0])),
        "reflection_pad3d": lambda c: F.pad(c(volumes), (1,) * 6, "reflect"),
        "softmax": lambda c: F.softmax(c(a), -1),
        "sum": lambda c: c(a).sum(),
        "write in place": lambda c: c(a).clone().addmm_(c(a), c(a)),
    }

    return [
        *[(name, call, BF, BF) for name, call in lower.items()],
        *[(name, call, F32, F32) for name, call in float32.items()],
        *[(name, call, C64, C64) for name, call in to_complex.items()],
        *[(name, call, F32, BF) for name, call in as_given.items()],
    ]
