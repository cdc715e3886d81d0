"""Kernels of NumPy arrays, by file.

Written by `python -m tools.name_tables`.
"""

KERNELS: dict[str, str] = {
    "tapegrad.arrays.numpy.as_strided": (
        "as_pairs copied diagonal_view from_pairs pad_diagonal pad_select pad_slice strided "
        "sum_strided sum_windows view_to windows write_diagonal"
    ),
    "tapegrad.arrays.numpy.attention": "attend attend_back",
    "tapegrad.arrays.numpy.batch_group_norm": (
        "channel_moments scale_channels standardize_channels standardize_channels_back "
        "standardize_channels_weight_back standardize_given_weight_back sum_channels"
    ),
    "tapegrad.arrays.numpy.cdist_pdist": "pair_distances pull_distances push_distances",
    "tapegrad.arrays.numpy.cholesky_lu_solve": (
        "cholesky_factor definite_solution invert ldl_packed ldl_solution lu_packed lu_solution "
        "permutation_matrix solution solve_again solve_systems triangular_solution"
    ),
    "tapegrad.arrays.numpy.conj_neg_view": "conj_view neg_view",
    "tapegrad.arrays.numpy.conv": (
        "convolve convolve_transposed convolve_weights read_blocks sum_blocks"
    ),
    "tapegrad.arrays.numpy.cumsum_cumprod": (
        "log_running_sum other_products running_extremum running_product_back running_product_push"
    ),
    "tapegrad.arrays.numpy.embedding": "spread_rows",
    "tapegrad.arrays.numpy.erf_gamma": (
        "airy_ai bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 "
        "digamma erf erfc erfcx erfinv gammainc gammaincc i0 i0e i1 i1e lgamma log_ndtr ndtri "
        "polygamma zeta"
    ),
    "tapegrad.arrays.numpy.fft": "fourier fourier_half fourier_real",
    "tapegrad.arrays.numpy.gamma_dirichlet": "dirichlet_slope standard_gamma_slope",
    "tapegrad.arrays.numpy.gelu": "gelu gelu_back",
    "tapegrad.arrays.numpy.getitem_setitem": (
        "add_along add_at count gather_along read_at scatter_along spread_mask write_at write_mask "
        "write_part"
    ),
    "tapegrad.arrays.numpy.grid_sample": "blend_points match_points spread_points",
    "tapegrad.arrays.numpy.grouped_mm": "multiply_groups",
    "tapegrad.arrays.numpy.interpolate": "resample",
    "tapegrad.arrays.numpy.layer_norm": (
        "standardize_rows standardize_rows_back standardize_rows_weight_back sum_rows"
    ),
    "tapegrad.arrays.numpy.matrix_exp_det": (
        "cofactor_change cofactors determinants matrix_exponential"
    ),
    "tapegrad.arrays.numpy.max_pool": "put_places shifted_maximum take_places window_maximum",
    "tapegrad.arrays.numpy.nll_cross_entropy": "pick unpick",
    "tapegrad.arrays.numpy.pad": "pad_constant pad_edges unpad_edges",
    "tapegrad.arrays.numpy.pointwise": "pointwise",
    "tapegrad.arrays.numpy.polynomial": "polynomial",
    "tapegrad.arrays.numpy.qr_lstsq": "least_squares reflectors triangular_factor",
    "tapegrad.arrays.numpy.rnn": "gru gru_back lstm lstm_back rnn rnn_back",
    "tapegrad.arrays.numpy.searchsorted_bincount": "members places_in tally tally_evenly",
    "tapegrad.arrays.numpy.sigmoid_logit_xlogy": "sigmoid",
    "tapegrad.arrays.numpy.softmax": (
        "log_softmax_along log_softmax_back softmax_along softmax_back"
    ),
    "tapegrad.arrays.numpy.sort_topk": "kth_index median_index mode_index put_along top_indices",
    "tapegrad.arrays.numpy.where_clamp": "clip maximum minimum where",
}
