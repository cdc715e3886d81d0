"""What is loaded on its first use, so that `import tapegrad` stays quick.

Files of operators that few programs need are not imported by `tapegrad.ops`: `FUNCTIONS` says which
top-level names they have, and a mixin of `tapegrad.methods` names a method with `method`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
    "tapegrad.func.batch": "vmap",
    "tapegrad.interchange": "from_torch to_torch",
    "tapegrad.ops.activation": "celu celu_ selu selu_",
    "tapegrad.ops.affine_map": "affine_grid_generator",
    "tapegrad.ops.along_reduced": "index_reduce",
    "tapegrad.ops.bessel": "i0 i0_",
    "tapegrad.ops.bilinear_form": "bilinear",
    "tapegrad.ops.bins": "histogram histogramdd",
    "tapegrad.ops.both_ends": "aminmax",
    "tapegrad.ops.calculus": "cumulative_trapezoid gradient trapezoid trapz",
    "tapegrad.ops.chain": "chain_matmul",
    "tapegrad.ops.channel_norm": "batch_norm group_norm instance_norm native_batch_norm",
    "tapegrad.ops.constant_pad": "constant_pad_nd",
    "tapegrad.ops.conv": "conv1d conv2d conv3d convolution",
    "tapegrad.ops.conv_transposed": "conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
    "tapegrad.ops.correlation": "corrcoef cov",
    "tapegrad.ops.definite": "cholesky cholesky_inverse cholesky_solve",
    "tapegrad.ops.determinant": "det logdet slogdet",
    "tapegrad.ops.distance": "cosine_similarity dist pairwise_distance",
    "tapegrad.ops.dropping": (
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout "
        "feature_alpha_dropout_ feature_dropout feature_dropout_"
    ),
    "tapegrad.ops.embedding_sum": "embedding_bag",
    "tapegrad.ops.embedding_table": "embedding embedding_renorm_",
    "tapegrad.ops.grid": "block_diag cartesian_prod combinations meshgrid",
    "tapegrad.ops.grid_sampling": "grid_sampler grid_sampler_2d grid_sampler_3d",
    "tapegrad.ops.incomplete": "igamma igamma_ igammac igammac_ mvlgamma",
    "tapegrad.ops.inversion": "inverse",
    "tapegrad.ops.leaf": "detach detach_",
    "tapegrad.ops.lu_factors": "lu lu_unpack",
    "tapegrad.ops.lu_system": "lu_solve",
    "tapegrad.ops.magnitude": "nuclear_norm",
    "tapegrad.ops.matrix_function": "matrix_exp matrix_power",
    "tapegrad.ops.middle": "median nanmedian",
    "tapegrad.ops.native": ("detach_copy native_dropout native_group_norm unsafe_split_with_sizes"),
    "tapegrad.ops.normalization": "layer_norm native_layer_norm rms_norm",
    "tapegrad.ops.numbered_loss": (
        "binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss kl_div "
        "margin_ranking_loss poisson_nll_loss triplet_margin_loss"
    ),
    "tapegrad.ops.old_norm": "frobenius_norm norm_except_dim",
    "tapegrad.ops.orthogonal": "qr",
    "tapegrad.ops.pair": "cdist pdist",
    "tapegrad.ops.place": "unravel_index",
    "tapegrad.ops.pool_adaptive": "adaptive_avg_pool1d adaptive_max_pool1d",
    "tapegrad.ops.pool_average": "avg_pool1d",
    "tapegrad.ops.pool_line": "max_pool1d max_pool1d_with_indices",
    "tapegrad.ops.pool_maximum": "max_pool2d max_pool3d",
    "tapegrad.ops.pseudoinverse": "pinverse",
    "tapegrad.ops.random_count": "binomial poisson",
    "tapegrad.ops.random_slope": "rrelu rrelu_",
    "tapegrad.ops.rank": "nanquantile quantile",
    "tapegrad.ops.recurrent": "gru lstm rnn_relu rnn_tanh",
    "tapegrad.ops.recurrent_cell": "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell",
    "tapegrad.ops.reflection": "geqrf orgqr ormqr",
    "tapegrad.ops.removed": "eig lstsq matrix_rank solve symeig",
    "tapegrad.ops.resynthesis": "istft",
    "tapegrad.ops.searching": "bucketize isin searchsorted",
    "tapegrad.ops.sequence_loss": "ctc_loss",
    "tapegrad.ops.shuffle": "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
    "tapegrad.ops.singular": "svd",
    "tapegrad.ops.sketch": "pca_lowrank svd_lowrank",
    "tapegrad.ops.spectrogram": "stft",
    "tapegrad.ops.stride": "as_strided_",
    "tapegrad.ops.tally": "bincount histc",
    "tapegrad.ops.triangle_indices": "tril_indices triu_indices",
    "tapegrad.ops.triangular_system": "triangular_solve",
    "tapegrad.ops.vandermonde": "vander",
    "tapegrad.ops.vector_product": "cross",
    "tapegrad.ops.window": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    ),
    "tapegrad.serialization": "load save",
    "tapegrad.switch": (
        "get_deterministic_debug_mode get_num_interop_threads has_lapack has_mkl has_openmp "
        "has_spectral set_deterministic_debug_mode set_flush_denormal "
        "set_num_interop_threads sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt "
        "sym_sum"
    ),
}
"""For each file, the names of `torch` that it has. Sorted by file."""

KERNELS: dict[str, str] = {
    "tapegrad.arrays.attention": "attend attend_back",
    "tapegrad.arrays.bessel": "airy_ai bessel_k0 bessel_k0e bessel_k1 bessel_k1e",
    "tapegrad.arrays.convolution": "convolve convolve_transposed convolve_weights",
    "tapegrad.arrays.decomposition": "least_squares reflectors triangular_factor",
    "tapegrad.arrays.edge": "pad_constant pad_edges unpad_edges",
    "tapegrad.arrays.embedding": "spread_rows",
    "tapegrad.arrays.factor": (
        "cholesky_factor definite_solution invert ldl_packed ldl_solution lu_packed lu_solution "
        "permutation_matrix solution solve_again solve_systems triangular_solution"
    ),
    "tapegrad.arrays.fourier": "fourier fourier_half fourier_real",
    "tapegrad.arrays.gelu": "gelu gelu_back",
    "tapegrad.arrays.gru": "gru gru_back",
    "tapegrad.arrays.logistic": "sigmoid",
    "tapegrad.arrays.lstm": "lstm lstm_back",
    "tapegrad.arrays.matrix_function": "cofactor_change cofactors determinants matrix_exponential",
    "tapegrad.arrays.pair": "pair_distances pull_distances push_distances",
    "tapegrad.arrays.points": "blend_points match_points spread_points",
    "tapegrad.arrays.pointwise": "pointwise",
    "tapegrad.arrays.polynomial": "polynomial",
    "tapegrad.arrays.pooling": "put_places shifted_maximum take_places window_maximum",
    "tapegrad.arrays.recurrence": "rnn rnn_back",
    "tapegrad.arrays.resampling": "resample",
    "tapegrad.arrays.running": "other_products running_product_back running_product_push",
    "tapegrad.arrays.search": "members places_in tally tally_evenly",
    "tapegrad.arrays.sliding": "read_blocks sum_blocks",
    "tapegrad.arrays.softmax": "log_softmax_along log_softmax_back softmax_along softmax_back",
    "tapegrad.arrays.standardize": (
        "standardize_rows standardize_rows_back standardize_rows_weight_back sum_rows"
    ),
    "tapegrad.arrays.standardize_channel": (
        "channel_moments scale_channels standardize_channels standardize_channels_back "
        "standardize_channels_weight_back standardize_given_weight_back sum_channels"
    ),
}
"""For each file, the kernels of the CPU's namespace (`tapegrad.arrays.numpy`) that it has."""

TENSOR_KERNELS: dict[str, str] = {
    "tapegrad.arrays.tensor_linalg_extension": "linalg",
    "tapegrad.arrays.tensor_pooling": (
        "blend_points match_points put_places resample spread_points take_places"
    ),
    "tapegrad.ops.activation": "gelu_back",
    "tapegrad.ops.attention": "attend_back",
    "tapegrad.ops.channel_standard": (
        "scale_channels standardize_channels_back standardize_channels_weight_back "
        "standardize_given_weight_back sum_channels"
    ),
    "tapegrad.ops.constant_pad": "pad_constant",
    "tapegrad.ops.convolve": "convolve convolve_transposed convolve_weights",
    "tapegrad.ops.definite": "definite_solution",
    "tapegrad.ops.determinant": "cofactor_change cofactors",
    "tapegrad.ops.edge_pad": "pad_edges unpad_edges",
    "tapegrad.ops.embedding_table": "spread_rows",
    "tapegrad.ops.fourier": "fourier fourier_half fourier_real",
    "tapegrad.ops.inversion": "invert",
    "tapegrad.ops.layer_gru": "gru_back",
    "tapegrad.ops.layer_lstm": "lstm_back",
    "tapegrad.ops.layer_rnn": "rnn_back",
    "tapegrad.ops.least_squares": "least_squares",
    "tapegrad.ops.logistic": "sigmoid",
    "tapegrad.ops.lu_factors": "permutation_matrix",
    "tapegrad.ops.lu_system": "lu_solution",
    "tapegrad.ops.matrix_function": "matrix_exponential",
    "tapegrad.ops.normalization": "standardize_rows_back standardize_rows_weight_back sum_rows",
    "tapegrad.ops.pair": "pair_distances pull_distances push_distances",
    "tapegrad.ops.sliding": "read_blocks sum_blocks",
    "tapegrad.ops.solving": "solution solve_again",
    "tapegrad.ops.triangular_system": "triangular_solution",
}
"""For each file, the operators of the Tensor namespace (`tapegrad.namespace`) that it has."""


_INDEX: dict[int, dict[str, str]] = {}


def found(table: dict[str, str], name: str) -> Any:
    """What a file of `table` has under `name`; None if the table does not list it."""
    index = _INDEX.get(id(table))
    if index is None:
        index = {name: file for file, names in table.items() for name in names.split()}
        _INDEX[id(table)] = index
    file = index.get(name)
    return None if file is None else getattr(import_module(file), name)


def function_names() -> set[str]:
    """All names of `torch` that are loaded on their first use."""
    return {name for names in FUNCTIONS.values() for name in names.split()}


class method:
    """A method of tensors that is the function `name` of `file`, imported when first asked for.

    It then takes the place of this descriptor, and costs what any other method costs.
    """

    __slots__ = ("file", "name", "own_name", "owner")

    def __init__(self, file: str, name: str):
        self.file = file
        self.name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner = owner
        self.own_name = name

    def __get__(self, tensor: Any, owner: type) -> Any:
        found = getattr(import_module(self.file), self.name)
        setattr(self.owner, self.own_name, found)
        return found if tensor is None else found.__get__(tensor, owner)


def load_operators() -> None:
    """Import every file of `tapegrad.ops`, so that the registry of operators is whole."""
    from pkgutil import iter_modules

    from tapegrad import ops

    for each in iter_modules(ops.__path__):
        import_module(f"tapegrad.ops.{each.name}")
