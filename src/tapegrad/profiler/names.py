"""What a profile calls operators and nodes: the names that PyTorch's profile has.

PyTorch's functions call each other, so that one call shows as several events, each inside the one
before: `aten::layer_norm`, `aten::native_layer_norm`. Operators here are whole; where PyTorch shows
more than one event, all its names are written down, outermost first.
"""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.operator_base import public_name

_NODES = {"AccumulateGrad": "torch::autograd::AccumulateGrad"}
_titles: dict[str, tuple[str, ...]] = {}  # of operators, made as they are met

# By the names of our operators; the others are called as their node, MulBackward0: mul.
_EVENTS = {
    "attention": "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu",
    "batch_standardize": "batch_norm _batch_norm_impl_index native_batch_norm",
    "batched_product": "bmm",
    "channel_standardize": "batch_norm _batch_norm_impl_index native_batch_norm",
    "alignment_loss": "_ctc_loss",
    "clone": "clone copy_",
    "columns_to_image": "col2im",
    "convolution": "convolution _convolution",
    "count_axes": "count_nonzero",
    "determinant": "_linalg_det",
    "eigh": "linalg_eigh _linalg_eigh",
    "eigvals": "linalg_eigvals",
    "eigvalsh": "linalg_eigvalsh _linalg_eigh",
    "euclidean_distances": "_euclidean_dist",
    "fourier": "_fft_c2c",
    "fourier_from_real": "_fft_r2c",
    "fourier_to_real": "_fft_c2r",
    "grid_sampler_2d": "grid_sampler grid_sampler_2d",
    "grid_sampler_3d": "grid_sampler grid_sampler_3d",
    "group_standardize": "group_norm native_group_norm",
    "gru_layer": "gru_cell",
    "image_to_columns": "im2col",
    "indefinite_factors": "linalg_ldl_factor_ex",
    "indefinite_system": "linalg_ldl_solve",
    "layer_standardize": "layer_norm native_layer_norm",
    "linear_system": "linalg_solve_ex _linalg_solve_ex",
    "log_determinant": "_linalg_slogdet",
    "log_softmax_along": "log_softmax _log_softmax",
    "members": "isin",
    "norm_along": "norm linalg_vector_norm",
    "pick_classes": "nll_loss_nd nll_loss nll_loss_forward",
    "pick_places": "nll_loss_nd nll_loss2d nll_loss2d_forward",
    "places_in": "searchsorted",
    "prelu_kernel": "_prelu_kernel",
    "relu": "relu clamp_min",
    "rnn_layer": "rnn_tanh_cell",
    "softmax_along": "softmax _softmax",
    "softmax_or_zero": "_safe_softmax",
    "spread_looked_up": "embedding_dense_backward",
    "stack_along": "stack cat",
    "svd": "linalg_svd _linalg_svd",
    "to_copy": "to _to_copy copy_",
    "transpose_matrix": "t transpose",
    "trilinear": "_trilinear",
    "unsafe_view": "_unsafe_view",
    "xlog1py": "special_xlog1py",
    **{
        f"upsample_{way}": f"_upsample_{way}"
        for way in (
            "bicubic2d_aa",
            "bilinear2d_aa",
            "lanczos2d_aa",
            "nearest_exact1d",
            "nearest_exact2d",
            "nearest_exact3d",
        )
    },
    **{
        name: "special_" + name
        for name in (
            "airy_ai",
            "bessel_j0",
            "bessel_j1",
            "bessel_y0",
            "bessel_y1",
            "modified_bessel_i0",
            "modified_bessel_i1",
            "modified_bessel_k0",
            "modified_bessel_k1",
            "scaled_modified_bessel_k0",
            "scaled_modified_bessel_k1",
            "spherical_bessel_j0",
        )
    },
}

# Operators that PyTorch has not, or has under no one name.
_OUR_OWN = frozenset(
    "blend_points chunked_cross_entropy circular_pad cofactors edge_unpad match_points "
    "orthogonal_polynomial pick_class primal_view put_places resample spread_points sum_pattern "
    "take_places unpick_class".split()
)


def titles_of(name: str, op: Any) -> tuple[str, ...]:
    """What a profile calls the events of an operator called `name`, outermost first."""
    titles = _titles.get(name)
    if titles is None:
        titles = _titles[name] = _new_titles(name, op)
    return titles


def _new_titles(name: str, op: Any) -> tuple[str, ...]:
    if name in _OUR_OWN:
        return ("tapegrad::" + name,)
    if name.endswith("_"):
        return ("aten::" + name,)
    words = _EVENTS.get(name) or public_name(name, op.node_name)
    return tuple("aten::" + word for word in words.split())


def title_of(name: str, op: Any) -> str:
    """What a profile calls an operator: the outermost name.

    >>> from tapegrad.profiler.names import title_of
    >>> title_of("relu", torch.relu.op)
    'aten::relu'
    """
    return titles_of(name, op)[0]


def node_title(name: str) -> str:
    """What a profile calls a node."""
    return _NODES.get(name, name)
