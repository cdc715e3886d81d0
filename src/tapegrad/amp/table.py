"""Which functions a block of autocast runs in which precision, as PyTorch does on the CPU.

Functions that are not here run in the dtype of their arguments. The names are those of PyTorch's
functions; `fft` stands for `torch.fft.fft`, `inv` for `torch.linalg.inv`, and so on.
"""

from __future__ import annotations

LOWER = """
    addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
    conv_transpose3d linear lstm matmul mm prelu rnn_relu rnn_tanh scaled_dot_product_attention
    vecdot
"""
"""Products: in the dtype of the block, bfloat16 unless it says otherwise."""

FLOAT32 = """
    adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy
    binary_cross_entropy_with_logits cdist cholesky cholesky_ex cholesky_inverse cholesky_solve cond
    cosine_embedding_loss cross_entropy ctc_loss eig eigh eigvals eigvalsh fft fft2 fftn
    fractional_max_pool2d fractional_max_pool3d geqrf grid_sampler grid_sampler_2d grid_sampler_3d
    hfft hinge_embedding_loss householder_product huber_loss ifft ifft2 ifftn ihfft inv inv_ex
    inverse irfft irfft2 irfftn kl_div l1_loss lstsq lu_solve margin_ranking_loss matrix_rank
    max_pool3d max_unpool2d max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss
    nanquantile nll_loss orgqr ormqr pinverse poisson_nll_loss polar prod qr quantile
    reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d rfft
    rfft2 rfftn smooth_l1_loss soft_margin_loss solve stft svd svdvals tensorinv tensorsolve trace
    triangular_solve triplet_margin_loss view_as_complex
"""
"""Sums of many numbers, and what needs every digit: in float32, for arguments of 16 bits."""

WIDEST = "cat index_copy stack"
"""Several tensors into one: in the widest dtype among them."""

PRECISION: dict[str, str] = {
    **dict.fromkeys(LOWER.split(), "lower"),
    **dict.fromkeys(FLOAT32.split(), "float32"),
    **dict.fromkeys(WIDEST.split(), "widest"),
}
"""For each function, what its arguments are cast to: "lower", "float32", "widest"."""
