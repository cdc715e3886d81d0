"""Names of operators and nodes in a profile: those of PyTorch's.

PyTorch's functions call each other, so that one call shows as several events, each inside the one
before: `aten::layer_norm`, `aten::native_layer_norm`. Operators here are whole; where PyTorch shows
more than one event, all its names are written down, outermost first.
"""

from math import prod

from tapegrad.autograd.operator_base import public_name
from tapegrad.core.annotations import Any, OperatorLike, Shape, Tensor

_MATRICES = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}
_POINTWISE = ("aten::mul", "aten::add")

# Functions that are one operator in PyTorch: what they are made of here is not counted.
WHOLE = frozenset(("aten::addbmm", "aten::addmv", "aten::addr", "aten::baddbmm"))


def flops_of(name: str, shapes: list) -> int:
    """How many operations a call of `name` takes; 0 where no formula is known.

    >>> from tapegrad.profiler.names import flops_of
    >>> flops_of("aten::mm", [[30, 40], [40, 5]])
    12000
    """
    if name in _POINTWISE:
        return prod(shapes[0]) if shapes else 0
    first = _MATRICES.get(name)
    if first is None or len(shapes) < first + 2 or not shapes[first + 1]:
        return 0
    return 2 * prod(shapes[first]) * shapes[first + 1][-1]


def _conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Any = None,
    stride: Shape = 1,
    padding: Shape = 0,
    dilation: Shape = 1,
    groups: int = 1,
) -> int:
    """Products and sums: two for each weight that an element of the output is made with."""
    if isinstance(padding, str) or input.ndim != 4:
        return 0
    n = 2 * input.shape[0] * weight.numel()
    for axis in (0, 1):
        step, pad, spread = (_of_axis(x, axis) for x in (stride, padding, dilation))
        window = spread * (weight.shape[2 + axis] - 1) + 1
        n *= (input.shape[2 + axis] + 2 * pad - window) // step + 1
    return n


def _of_axis(option: Any, axis: int) -> int:
    return option if isinstance(option, int) else option[axis if len(option) > 1 else 0]


COUNTED = {"aten::conv2d": _conv2d}  # by the arguments of the call


# By the number of arguments of the overload that calls mostly come to.
_NAMES = {
    2: "_euclidean_dist _prelu_kernel _unsafe_view adaptive_avg_pool1d adaptive_avg_pool2d "
    "adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d atan2 bernoulli bitwise_and "
    "bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bmm broadcast_to cat celu "
    "channel_shuffle cholesky cholesky_inverse clamp_max clamp_min clone complex contiguous "
    "copysign count_nonzero cummax cummin diag div dot dsplit eq expand_as fill flip floor_divide "
    "fmax fmin fmod gcd ge gelu glu gt hardshrink heaviside hsplit hypot igamma igammac index "
    "inner kron lcm ldexp le leaky_relu linalg_cholesky linalg_eigh linalg_eigvalsh "
    "linalg_householder_product linalg_inv_ex linalg_lu linalg_qr logaddexp logaddexp2 "
    "logcumsumexp logical_and logical_or logical_xor logit lt masked_select matmul maximum "
    "meshgrid minimum mm mul mv mvlgamma ne nextafter one_hot outer pdist permute pixel_shuffle "
    "pixel_unshuffle poisson polar polygamma pow prelu random reflection_pad1d reflection_pad2d "
    "reflection_pad3d remainder repeat replication_pad1d replication_pad2d replication_pad3d "
    "reshape softshrink special_xlog1py special_zeta squeeze stack take tile tril triu type_as "
    "unbind unsqueeze view view_as vsplit xlogy",
    3: "_linalg_eigh _log_softmax _safe_softmax _softmax _upsample_nearest_exact1d "
    "_upsample_nearest_exact2d _upsample_nearest_exact3d add affine_grid_generator all "
    "alpha_dropout amax amin any argmax argmin argsort bernoulli bincount cholesky_solve chunk "
    "clamp combinations constant_pad_nd copy cumprod cumsum cumulative_trapezoid dist dropout "
    "einsum expand exponential feature_alpha_dropout feature_dropout flatten geometric hardtanh "
    "index_select l1_loss lerp linalg_cholesky_ex linalg_cross linalg_ldl_factor_ex "
    "linalg_lu_factor_ex linalg_solve linalg_svd linear log_softmax logsumexp masked_fill "
    "masked_scatter max max_unpool2d min mode movedim mse_loss multilabel_margin_loss "
    "native_dropout roll rot90 rsub select soft_margin_loss softmax softplus sort split "
    "split_with_sizes sub swapaxes tensor_split threshold transpose trapezoid unflatten "
    "unsafe_split unsafe_split_with_sizes upsample_nearest1d upsample_nearest2d "
    "upsample_nearest3d where",
    4: "_fft_c2c _fft_c2r _fft_r2c _linalg_solve_ex _linalg_svd _unique2 _upsample_bicubic2d_aa "
    "_upsample_bilinear2d_aa _upsample_lanczos2d_aa addcdiv addcmul as_strided bilinear "
    "binary_cross_entropy cauchy cdist cosine_similarity cov diag_embed diagonal elu fft_fft "
    "fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 "
    "fft_irfftn fft_rfft fft_rfft2 fft_rfftn fractional_max_pool2d fractional_max_pool3d gather "
    "hinge_embedding_loss histc huber_loss index_copy index_fill index_put isin kl_div kthvalue "
    "linalg_ldl_solve linalg_lstsq linalg_pinv linalg_solve_ex log_normal lu_unpack mean "
    "nan_to_num nansum narrow narrow_copy norm normal pad prod put scatter scatter_add "
    "select_scatter smooth_l1_loss std sum tensor tensordot unfold uniform upsample_bicubic2d "
    "upsample_bilinear2d upsample_linear1d upsample_trilinear3d var",
    5: "addbmm addmm addmv addr allclose arange baddbmm binary_cross_entropy_with_logits "
    "cosine_embedding_loss diagonal_scatter diff embedding embedding_dense_backward eye "
    "grid_sampler grid_sampler_2d grid_sampler_3d im2col index_add isclose linalg_lu_solve "
    "linalg_norm linalg_solve_triangular linalg_vector_norm margin_ranking_loss max_unpool3d "
    "native_layer_norm nll_loss nll_loss2d nll_loss2d_forward nll_loss_forward nll_loss_nd ones "
    "ormqr pairwise_distance rand randn randperm slice to topk triangular_solve zeros",
    6: "_ctc_loss avg_pool1d col2im cross_entropy_loss empty empty_like full group_norm gru_cell "
    "index_reduce layer_norm lstm_cell max_pool1d max_pool2d max_pool2d_with_indices max_pool3d "
    "max_pool3d_with_indices multi_margin_loss new_empty new_ones new_zeros ones_like "
    "poisson_nll_loss rand_like randn_like rnn_relu_cell rnn_tanh_cell rrelu_with_noise "
    "scatter_reduce searchsorted slice_scatter zeros_like",
    7: "_scaled_dot_product_flash_attention_for_cpu _to_copy avg_pool2d avg_pool3d conv1d conv2d "
    "conv3d ctc_loss full_like linspace new_full randint randint_like",
    8: "_trilinear conv_transpose1d conv_transpose2d conv_transpose3d logspace native_batch_norm "
    "native_group_norm normal scaled_dot_product_attention triplet_margin_loss",
    9: "_batch_norm_impl_index batch_norm convolution embedding_bag gru instance_norm lstm "
    "rnn_relu rnn_tanh stft",
    13: "_convolution",
    16: "mkldnn_rnn_layer",
}
_N_ARGUMENTS = {name: n for n, names in _NAMES.items() for name in names.split()}

# Of operators that have fewer arguments where no axis is given.
_OF_ALL = {
    **dict.fromkeys("largest_of_all smallest_of_all squeeze_all".split(), 1),
    **dict.fromkeys("mean_all product_all sum_all".split(), 2),
}

# Where tensors stand between other arguments.
_APART = (
    "group_norm index_add index_copy index_fill layer_norm native_layer_norm scatter scatter_add"
)
_PLACES: dict[str, tuple] = {"gather": (0, 2), "index_select": (0, 2)}
_PLACES |= dict.fromkeys(_APART.split(), (0, 2, 3))

# Where the tensors behind so many others are a list, whose shape is `[]`.
_LISTS = "block_diag broadcast_tensors cartesian_prod cat einsum meshgrid stack"
_BEFORE_LIST = {**dict.fromkeys(_LISTS.split(), 0), "index": 1, "index_put": 1}


def takes_list(name: str) -> bool:
    """Whether the event `name` is of an operator whose tensors are one list."""
    return _BEFORE_LIST.get(name.removeprefix("aten::")) == 0


def n_of_operator(name: str) -> int:
    """The number of arguments of an operator of ours that has its own, else 0."""
    return _OF_ALL.get(name, 0)


def arranged(name: str, shapes: list, n: int = 0) -> list:
    """The shapes of a call of `name` at their places, `[]` at all others.

    `n` is the number of arguments, where that is known better than by the name.

    >>> from tapegrad.profiler.names import arranged
    >>> arranged("aten::addmm", [[2], [4, 3], [3, 2]])
    [[2], [4, 3], [3, 2], [], []]
    >>> arranged("aten::gather", [[4, 4], [4, 1]])
    [[4, 4], [], [4, 1], []]
    """
    public = name.removeprefix("aten::").removesuffix("_")
    n = n or (4 if name == "aten::normal_" else _N_ARGUMENTS.get(public, 0)) or len(shapes)
    shapes = shapes[: _BEFORE_LIST.get(public, n)]
    places = _PLACES.get(public)
    if places is None or len(shapes) > len(places):
        return (shapes + [[] for _ in range(n)])[:n]
    found: list = [[] for _ in range(n)]
    for place, shape in zip(places, shapes, strict=False):
        found[place] = shape
    return found


_NODES = {"AccumulateGrad": "torch::autograd::AccumulateGrad"}
_titles: dict[str, tuple[str, ...]] = {}  # of operators, made as they are met

# By the names of our operators; the others are called as their node, MulBackward0: mul.
_RENAMED = (  # event:operator
    "_ctc_loss:alignment_loss _euclidean_dist:euclidean_distances _fft_c2c:fourier "
    "_fft_c2r:fourier_to_real _fft_r2c:fourier_from_real _linalg_det:determinant "
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams:"
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams "
    "_linalg_slogdet:log_determinant _prelu_kernel:prelu_kernel "
    "_prelu_kernel_backward:prelu_input_backward _prelu_kernel_backward:prelu_weight_backward "
    "_safe_softmax:softmax_or_zero _standard_gamma:_standard_gamma "
    "_standard_gamma_grad:_standard_gamma_grad _trilinear:trilinear _unique2:_unique2 "
    "_unsafe_view:unsafe_view _upsample_bicubic2d_aa:upsample_bicubic2d_aa "
    "_upsample_bilinear2d_aa:upsample_bilinear2d_aa _upsample_lanczos2d_aa:upsample_lanczos2d_aa "
    "_upsample_nearest_exact1d:upsample_nearest_exact1d "
    "_upsample_nearest_exact2d:upsample_nearest_exact2d "
    "_upsample_nearest_exact3d:upsample_nearest_exact3d bmm:batched_product "
    "col2im:columns_to_image count_nonzero:count_axes embedding_dense_backward:spread_looked_up "
    "gru_cell:gru_layer im2col:image_to_columns isin:members linalg_eigvals:eigvals "
    "linalg_ldl_factor_ex:indefinite_factors linalg_ldl_solve:indefinite_system "
    "rnn_tanh_cell:rnn_layer searchsorted:places_in special_xlog1py:number_log1p_y "
    "special_xlog1py:x_log1p_number special_xlog1py:xlog1py"
)
_EVENTS = {
    "_neg_view": "_neg_view",
    "reshape_alias": "_reshape_alias",
    "attention": "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu",
    "batch_standardize": "batch_norm _batch_norm_impl_index native_batch_norm",
    "channel_standardize": "batch_norm _batch_norm_impl_index native_batch_norm",
    "clone": "clone copy_",
    "conj": "_conj",
    "conj_physical": "conj_physical _conj_physical",
    "convolution": "convolution _convolution",
    "eigh": "linalg_eigh _linalg_eigh",
    "eigvalsh": "linalg_eigvalsh _linalg_eigh",
    "grid_sampler_2d": "grid_sampler grid_sampler_2d",
    "grid_sampler_3d": "grid_sampler grid_sampler_3d",
    "group_standardize": "group_norm native_group_norm",
    "layer_standardize": "layer_norm native_layer_norm",
    "linear_system": "linalg_solve_ex _linalg_solve_ex",
    "log_softmax_along": "log_softmax _log_softmax",
    "norm_along": "norm linalg_vector_norm",
    "pick_classes": "nll_loss_nd nll_loss nll_loss_forward",
    "pick_places": "nll_loss_nd nll_loss2d nll_loss2d_forward",
    "relu": "relu clamp_min",
    "softmax_along": "softmax _softmax",
    "stack_along": "stack cat",
    "svd": "linalg_svd _linalg_svd",
    "to_copy": "to _to_copy copy_",
    "transpose_matrix": "t transpose",
    **dict(each.split(":")[::-1] for each in _RENAMED.split()),
    **{
        name: "special_" + name
        for name in (
            "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 "
            "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 "
            "scaled_modified_bessel_k1 spherical_bessel_j0"
        ).split()
    },
}

# Operators that PyTorch has not, or has under no one name.
_OUR_OWN = frozenset(
    "blend_points chunked_cross_entropy circular_pad cofactors edge_unpad match_points "
    "no_formula orthogonal_polynomial pick_class primal_view put_places resample spread_points "
    "sum_pattern take_places unpick_class".split()
)


def titles_of(name: str, op: OperatorLike) -> tuple[str, ...]:
    """What a profile calls the events of an operator called `name`, outermost first."""
    titles = _titles.get(name)
    if titles is None:
        titles = _titles[name] = _new_titles(name, op)
    return titles


def _new_titles(name: str, op: OperatorLike) -> tuple[str, ...]:
    if name in _OUR_OWN:
        return ("tapegrad::" + name,)
    if name.endswith("_"):
        return ("aten::" + name,)
    words = _EVENTS.get(name) or public_name(name, op.node_name)
    return tuple("aten::" + word for word in words.split())


def title_of(name: str, op: OperatorLike) -> str:
    """What a profile calls an operator: the outermost name.

    >>> from tapegrad.profiler.names import title_of
    >>> title_of("relu", torch.relu.op)
    'aten::relu'
    """
    return titles_of(name, op)[0]


def node_title(name: str) -> str:
    """What a profile calls a node."""
    return _NODES.get(name, name)
