"""What is loaded on its first use, so that `import tapegrad` stays quick.

`tapegrad.operators` does not import the operators that few programs need: `FUNCTIONS` says which
top-level names their files have.
"""

from __future__ import annotations

from importlib import import_module

from tapegrad.core import registration

FUNCTIONS: dict[str, str] = {
    "tapegrad.amp.autocast_mode": "autocast",
    "tapegrad.amp.older": (
        "get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled "
        "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_gpu_dtype"
    ),
    "tapegrad.amp.state": (
        "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
        "get_autocast_dtype is_autocast_cache_enabled is_autocast_enabled "
        "set_autocast_cache_enabled set_autocast_dtype set_autocast_enabled"
    ),
    "tapegrad.autograd.anomaly_mode": "is_anomaly_check_nan_enabled is_anomaly_enabled",
    "tapegrad.func.vmap": "vmap",
    "tapegrad.compat.interchange": "from_torch to_torch",
    "tapegrad.operators.pointwise.activation": "celu celu_ selu selu_",
    "tapegrad.operators.nn.affine_grid": "affine_grid_generator",
    "tapegrad.operators.indexing.index_reduce": "index_reduce",
    "tapegrad.operators.pointwise.special.bessel": "i0 i0_",
    "tapegrad.operators.nn.bilinear": "bilinear",
    "tapegrad.operators.reduction.histogram": "histogram histogramdd",
    "tapegrad.operators.reduction.aminmax": "aminmax",
    "tapegrad.operators.reduction.gradient_trapezoid": (
        "cumulative_trapezoid gradient trapezoid trapz"
    ),
    "tapegrad.operators.linalg.multi_dot_chain_matmul": "chain_matmul",
    "tapegrad.operators.nn.batch_group_norm": (
        "batch_norm group_norm instance_norm native_batch_norm"
    ),
    "tapegrad.operators.nn.pad_constant": "constant_pad_nd",
    "tapegrad.operators.nn.conv": "conv1d conv2d conv3d convolution",
    "tapegrad.operators.nn.conv_transpose": (
        "conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d"
    ),
    "tapegrad.operators.reduction.cov_corrcoef": "corrcoef cov",
    "tapegrad.operators.linalg.cholesky": "cholesky cholesky_inverse cholesky_solve",
    "tapegrad.operators.linalg.det_slogdet": "det logdet slogdet",
    "tapegrad.operators.nn.cosine_similarity_distance": "cosine_similarity dist pairwise_distance",
    "tapegrad.operators.nn.dropout": (
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout "
        "feature_alpha_dropout_ feature_dropout feature_dropout_"
    ),
    "tapegrad.operators.nn.embedding_bag": "embedding_bag",
    "tapegrad.operators.nn.embedding": "embedding embedding_renorm_",
    "tapegrad.operators.shape.meshgrid_block_diag": (
        "block_diag cartesian_prod combinations meshgrid"
    ),
    "tapegrad.operators.nn.grid_sample": "grid_sampler grid_sampler_2d grid_sampler_3d",
    "tapegrad.operators.pointwise.special.incomplete_gamma": (
        "igamma igamma_ igammac igammac_ mvlgamma"
    ),
    "tapegrad.operators.linalg.inv": "inverse",
    "tapegrad.operators.shape.detach": "detach detach_",
    "tapegrad.operators.linalg.lu": "lu lu_unpack",
    "tapegrad.operators.linalg.lu_solve": "lu_solve",
    "tapegrad.operators.linalg.matrix_norm": "nuclear_norm",
    "tapegrad.operators.linalg.matrix_exp_power": "matrix_exp matrix_power",
    "tapegrad.operators.reduction.median": "median nanmedian",
    "tapegrad.operators.nn.native": (
        "detach_copy native_dropout native_group_norm unsafe_split_with_sizes"
    ),
    "tapegrad.operators.nn.layer_norm": "layer_norm native_layer_norm rms_norm",
    "tapegrad.operators.nn.loss.legacy": (
        "binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss kl_div "
        "margin_ranking_loss poisson_nll_loss triplet_margin_loss"
    ),
    "tapegrad.operators.linalg.norm_except_dim": "frobenius_norm norm_except_dim",
    "tapegrad.operators.linalg.qr": "qr",
    "tapegrad.operators.linalg.cdist": "cdist pdist",
    "tapegrad.operators.indexing.unravel_index": "unravel_index",
    "tapegrad.operators.nn.adaptive_pool": "adaptive_avg_pool1d adaptive_max_pool1d",
    "tapegrad.operators.nn.avg_pool": "avg_pool1d",
    "tapegrad.operators.nn.max_pool1d": "max_pool1d max_pool1d_with_indices",
    "tapegrad.operators.nn.max_pool": "max_pool2d max_pool3d",
    "tapegrad.operators.linalg.pinv_matrix_rank": "pinverse",
    "tapegrad.operators.random.binomial_poisson": "binomial poisson",
    "tapegrad.operators.pointwise.rrelu": "rrelu rrelu_",
    "tapegrad.operators.reduction.quantile": "nanquantile quantile",
    "tapegrad.operators.nn.rnn.rnn_lstm_gru": "gru lstm rnn_relu rnn_tanh",
    "tapegrad.operators.nn.rnn.cell": "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell",
    "tapegrad.operators.linalg.geqrf_ormqr": "geqrf orgqr ormqr",
    "tapegrad.operators.linalg.removed": "eig lstsq matrix_rank solve symeig",
    "tapegrad.operators.fft.istft": "istft",
    "tapegrad.operators.reduction.searchsorted_isin": "bucketize isin searchsorted",
    "tapegrad.operators.nn.loss.ctc": "ctc_loss",
    "tapegrad.operators.nn.pixel_shuffle": (
        "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle"
    ),
    "tapegrad.operators.linalg.svd": "svd",
    "tapegrad.operators.linalg.svd_lowrank": "pca_lowrank svd_lowrank",
    "tapegrad.operators.fft.stft": "stft",
    "tapegrad.operators.shape.as_strided": "as_strided_",
    "tapegrad.operators.reduction.bincount_histc": "bincount histc",
    "tapegrad.operators.shape.tril_indices": "tril_indices triu_indices",
    "tapegrad.operators.linalg.triangular_solve": "triangular_solve",
    "tapegrad.operators.creation.vander": "vander",
    "tapegrad.operators.linalg.cross_vecdot": "cross",
    "tapegrad.operators.creation.window": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    ),
    "tapegrad.serialization": "load save",
    "tapegrad.settings_symbolic": (
        "get_deterministic_debug_mode get_num_interop_threads has_lapack has_mkl has_openmp "
        "has_spectral set_deterministic_debug_mode set_flush_denormal "
        "set_num_interop_threads sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt "
        "sym_sum"
    ),
}
"""For each file, the names of `torch` that it has. Sorted by file."""


def function_names() -> set[str]:
    """All names of `torch` that are loaded on their first use."""
    return {name for names in FUNCTIONS.values() for name in names.split()}


def load_operators() -> None:
    """Import every file of `tapegrad.operators`, so that the registry of operators is whole."""
    from pkgutil import walk_packages

    from tapegrad import operators

    for each in walk_packages(operators.__path__, "tapegrad.operators."):
        import_module(each.name)


def fill_slots() -> None:
    """Register what lower floors ask of higher ones, each loaded when it is first asked for."""
    registration.AUTOCAST.register_module("tapegrad.amp.cast")
    registration.CUSTOM_FUNCTIONS.register_module("tapegrad.func.custom_function")
    registration.FRONT_DOOR.register_module("tapegrad")
    registration.NOTEBOOK.register_module("tapegrad.inspect.notebook")
    registration.OVERWRITES.register_module("tapegrad.operators.indexing.copy_fill")
    registration.PER_SAMPLE.register_module("tapegrad.func.per_sample")
    registration.RANDOMNESS.register_module("tapegrad.func.randomness")
    registration.TANGENT_VIEWS.register_module("tapegrad.operators.shape.forward_ad_views")
    registration.TENSOR_NAMESPACE.register_module("tapegrad.tensors.arrays.namespace")
    registration.TRANSFORM_STACK.register_module("tapegrad.func.transform_stack")
    registration.VJP_BATCH.register_module("tapegrad.func.vjp_batch")
