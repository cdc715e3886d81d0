"""Functions of `torch` that are loaded on their first use, by file.

Written by `python -m tools.name_tables`.
"""

FUNCTIONS: dict[str, str] = {
    "tapegrad.amp.autocast_mode": "autocast",
    "tapegrad.amp.autocast_state": (
        "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
        "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype "
        "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
        "set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled "
        "set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype"
    ),
    "tapegrad.amp.grad_scaler": "GradScaler",
    "tapegrad.autograd.anomaly_mode": "is_anomaly_check_nan_enabled is_anomaly_enabled",
    "tapegrad.compat.checks": (
        "_assert _assert_async _assert_scalar _assert_tensor_metadata _check _check_index "
        "_check_is_size _check_not_implemented _check_tensor_all _check_tensor_all_with "
        "_check_type _check_value _check_with _is_all_true _is_any_true"
    ),
    "tapegrad.compat.interchange": "from_torch to_torch",
    "tapegrad.compat.native_functions": (
        "_conj_physical _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo "
        "_log_softmax _log_softmax_backward_data _shape_as_tensor _softmax _softmax_backward_data "
        "compiled_with_cxx11_abi"
    ),
    "tapegrad.compat.streams": "Event Stream get_device_module",
    "tapegrad.compat.torch._C.dispatch_keys": "DispatchKey DispatchKeySet",
    "tapegrad.compat.torch._higher_order_ops.cond": "cond",
    "tapegrad.compat.torch._higher_order_ops.while_loop": "while_loop",
    "tapegrad.compiler.compile": "compile",
    "tapegrad.compiler.decorators": "_disable_dynamo",
    "tapegrad.core.named_dtype": (
        "bits16 bits1x8 bits2x4 bits4x2 bits8 int1 int2 int3 int4 int5 int6 int7 qint32 qint8 "
        "quint2x4 quint4x2 quint8 uint1 uint2 uint3 uint4 uint5 uint6 uint7"
    ),
    "tapegrad.core.torch_function": "DisableTorchFunction DisableTorchFunctionSubclass",
    "tapegrad.cuda": "AcceleratorError OutOfMemoryError",
    "tapegrad.func.vmap": "vmap",
    "tapegrad.futures.future": "Future",
    "tapegrad.jit._script": "ScriptModule",
    "tapegrad.jit.types": (
        "AnyType BoolType ComplexType DeviceObjType DictType FloatType IntType ListType NoneType "
        "NumberType OptionalType StringType TensorType TupleType Type"
    ),
    "tapegrad.library.tag": "Tag",
    "tapegrad.operators.conversion.q_scale_int_repr": (
        "dequantize int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points "
        "q_scale q_zero_point"
    ),
    "tapegrad.operators.conversion.sparse_indices_values": (
        "ccol_indices_copy col_indices_copy crow_indices_copy indices_copy row_indices_copy "
        "values_copy"
    ),
    "tapegrad.operators.creation.from_file": "from_file",
    "tapegrad.operators.creation.linspace_logspace": "linspace logspace",
    "tapegrad.operators.creation.typed_storage": (
        "BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage "
        "ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage LongStorage "
        "ShortStorage Storage StorageBase TypedStorage UntypedStorage"
    ),
    "tapegrad.operators.creation.vander": "vander",
    "tapegrad.operators.creation.window": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    ),
    "tapegrad.operators.fft.istft": "istft",
    "tapegrad.operators.fft.stft": "stft",
    "tapegrad.operators.indexing.index_reduce": "index_reduce",
    "tapegrad.operators.indexing.segment_reduce": "_segment_reduce segment_reduce",
    "tapegrad.operators.indexing.unravel_index": "unravel_index",
    "tapegrad.operators.linalg.addmm_addmv_addr_addbmm": (
        "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_"
    ),
    "tapegrad.operators.linalg.cdist_pdist": "cdist pdist",
    "tapegrad.operators.linalg.cholesky": "cholesky cholesky_inverse cholesky_solve",
    "tapegrad.operators.linalg.cross_vecdot": "cross",
    "tapegrad.operators.linalg.det_slogdet": "det logdet slogdet",
    "tapegrad.operators.linalg.einsum_tensordot_kron": "einsum kron tensordot trace",
    "tapegrad.operators.linalg.geqrf_ormqr": "geqrf orgqr ormqr",
    "tapegrad.operators.linalg.grouped_mm": "_grouped_mm _int_mm",
    "tapegrad.operators.linalg.inv": "inverse",
    "tapegrad.operators.linalg.lu_factor": "lu lu_unpack",
    "tapegrad.operators.linalg.lu_solve": "lu_solve",
    "tapegrad.operators.linalg.matrix_exp_power": "matrix_exp matrix_power",
    "tapegrad.operators.linalg.matrix_norm": "nuclear_norm",
    "tapegrad.operators.linalg.multi_dot_chain_matmul": "chain_matmul",
    "tapegrad.operators.linalg.norm_except_dim": "frobenius_norm norm_except_dim",
    "tapegrad.operators.linalg.pinv_matrix_rank": "pinverse",
    "tapegrad.operators.linalg.qr": "qr",
    "tapegrad.operators.linalg.removed": "eig lstsq matrix_rank solve symeig",
    "tapegrad.operators.linalg.svd": "svd",
    "tapegrad.operators.linalg.svd_lowrank": "pca_lowrank svd_lowrank",
    "tapegrad.operators.linalg.triangular_solve": "triangular_solve",
    "tapegrad.operators.nn.adaptive_pool": "adaptive_avg_pool1d adaptive_max_pool1d",
    "tapegrad.operators.nn.affine_grid": "affine_grid_generator",
    "tapegrad.operators.nn.avg_pool": "avg_pool1d",
    "tapegrad.operators.nn.batch_group_norm": (
        "batch_norm group_norm instance_norm native_batch_norm"
    ),
    "tapegrad.operators.nn.bilinear": "bilinear",
    "tapegrad.operators.nn.conv": "conv1d conv2d conv3d convolution",
    "tapegrad.operators.nn.conv_transpose": (
        "conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d"
    ),
    "tapegrad.operators.nn.cosine_similarity_distance": "cosine_similarity dist pairwise_distance",
    "tapegrad.operators.nn.dropout": (
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout "
        "feature_alpha_dropout_ feature_dropout feature_dropout_"
    ),
    "tapegrad.operators.nn.embedding": "embedding embedding_renorm_",
    "tapegrad.operators.nn.embedding_bag": "embedding_bag",
    "tapegrad.operators.nn.grid_sample": "grid_sampler grid_sampler_2d grid_sampler_3d",
    "tapegrad.operators.nn.layer_norm": "layer_norm native_layer_norm rms_norm",
    "tapegrad.operators.nn.loss.ctc": "ctc_loss",
    "tapegrad.operators.nn.loss.legacy": (
        "binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss kl_div "
        "margin_ranking_loss poisson_nll_loss triplet_margin_loss"
    ),
    "tapegrad.operators.nn.max_pool": "max_pool1d max_pool1d_with_indices max_pool2d max_pool3d",
    "tapegrad.operators.nn.native": (
        "detach_copy native_dropout native_group_norm unsafe_split_with_sizes"
    ),
    "tapegrad.operators.nn.pad": "constant_pad_nd",
    "tapegrad.operators.nn.pixel_shuffle": (
        "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle"
    ),
    "tapegrad.operators.nn.rnn.cell": "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell",
    "tapegrad.operators.nn.rnn.rnn_lstm_gru": "gru lstm rnn_relu rnn_tanh",
    "tapegrad.operators.pointwise.complex_polar": "complex polar",
    "tapegrad.operators.pointwise.elu": "celu celu_ selu selu_",
    "tapegrad.operators.pointwise.fake_quantize": (
        "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine"
    ),
    "tapegrad.operators.pointwise.foreach": (
        "_foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_ _foreach_add _foreach_add_ "
        "_foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ _foreach_asin "
        "_foreach_asin_ _foreach_atan _foreach_atan_ _foreach_ceil _foreach_ceil_ "
        "_foreach_clamp_max _foreach_clamp_max_ _foreach_clamp_min _foreach_clamp_min_ "
        "_foreach_clone _foreach_copy_ _foreach_cos _foreach_cos_ _foreach_cosh _foreach_cosh_ "
        "_foreach_div _foreach_div_ _foreach_erf _foreach_erf_ _foreach_erfc _foreach_erfc_ "
        "_foreach_exp _foreach_exp_ _foreach_expm1 _foreach_expm1_ _foreach_floor _foreach_floor_ "
        "_foreach_frac _foreach_frac_ _foreach_lerp _foreach_lerp_ _foreach_lgamma "
        "_foreach_lgamma_ _foreach_log _foreach_log10 _foreach_log10_ _foreach_log1p "
        "_foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_log_ _foreach_max _foreach_maximum "
        "_foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mm _foreach_mul "
        "_foreach_mul_ _foreach_neg _foreach_neg_ _foreach_norm _foreach_pow _foreach_pow_ "
        "_foreach_powsum _foreach_reciprocal _foreach_reciprocal_ _foreach_round _foreach_round_ "
        "_foreach_rsqrt _foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_ _foreach_sign "
        "_foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt "
        "_foreach_sqrt_ _foreach_sub _foreach_sub_ _foreach_tan _foreach_tan_ _foreach_tanh "
        "_foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_"
    ),
    "tapegrad.operators.pointwise.frexp_nextafter_heaviside": (
        "frexp gcd gcd_ heaviside isneginf isposinf isreal lcm lcm_ ldexp ldexp_ nextafter signbit"
    ),
    "tapegrad.operators.pointwise.real_imag_conj_angle": "_conj _neg_view",
    "tapegrad.operators.pointwise.rrelu": "rrelu rrelu_",
    "tapegrad.operators.pointwise.special.bessel": "i0 i0_",
    "tapegrad.operators.pointwise.special.incomplete_gamma": (
        "igamma igamma_ igammac igammac_ mvlgamma"
    ),
    "tapegrad.operators.random.binomial_poisson": "binomial poisson",
    "tapegrad.operators.random.gamma_dirichlet": (
        "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad"
    ),
    "tapegrad.operators.random.multinomial": "multinomial",
    "tapegrad.operators.reduction.aminmax": "aminmax",
    "tapegrad.operators.reduction.bincount_histc": "bincount histc",
    "tapegrad.operators.reduction.cov_corrcoef": "corrcoef cov",
    "tapegrad.operators.reduction.cumulative": (
        "cummax cummin cumprod cumprod_ cumsum cumsum_ diff logcumsumexp"
    ),
    "tapegrad.operators.reduction.gradient_trapezoid": (
        "cumulative_trapezoid gradient trapezoid trapz"
    ),
    "tapegrad.operators.reduction.hash_tensor": "hash_tensor",
    "tapegrad.operators.reduction.histogram": "histogram histogramdd",
    "tapegrad.operators.reduction.kthvalue_mode": "kthvalue mode",
    "tapegrad.operators.reduction.median": "median nanmedian",
    "tapegrad.operators.reduction.quantile": "nanquantile quantile",
    "tapegrad.operators.reduction.searchsorted_bucketize_isin": "bucketize isin searchsorted",
    "tapegrad.operators.reduction.unique": "unique unique_consecutive",
    "tapegrad.operators.shape.as_strided": "as_strided_",
    "tapegrad.operators.shape.detach": "detach detach_",
    "tapegrad.operators.shape.meshgrid_combinations_block_diag": (
        "block_diag cartesian_prod combinations meshgrid"
    ),
    "tapegrad.operators.shape.repeat_tile": "repeat_interleave tile",
    "tapegrad.operators.shape.slice_scatter": (
        "as_strided_scatter diagonal_scatter select_scatter slice_scatter"
    ),
    "tapegrad.operators.shape.tensor_split": "dsplit hsplit tensor_split vsplit",
    "tapegrad.operators.shape.tril_indices": "tril_indices triu_indices",
    "tapegrad.operators.shape.view_copy": (
        "alias_copy as_strided_copy diagonal_copy expand_copy permute_copy select_copy slice_copy "
        "split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy "
        "unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy"
    ),
    "tapegrad.serialization": "load save",
    "tapegrad.serialization.file_reader": "PyTorchFileReader",
    "tapegrad.settings": (
        "get_deterministic_debug_mode get_num_interop_threads has_lapack has_mkl has_openmp "
        "has_spectral is_warn_always_enabled set_deterministic_debug_mode set_flush_denormal "
        "set_num_interop_threads set_warn_always"
    ),
    "tapegrad.sparse.compressed_creation": (
        "sparse_compressed_tensor sparse_csc_tensor sparse_csr_tensor"
    ),
    "tapegrad.sparse.creation": "sparse_coo_tensor",
    "tapegrad.sparse.matmul": "dsmm hspmm smm spmm sspaddmm",
    "tapegrad.symbolic_numbers": (
        "SymBool SymFloat SymInt sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum"
    ),
}
