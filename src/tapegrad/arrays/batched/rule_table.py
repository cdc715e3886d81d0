"""Batching rules, and kernels that need none, by file.

Written by `python -m tools.name_tables`.
"""

RULES: dict[str, str] = {
    "tapegrad.arrays.batched.conj_neg_view": "conj_view neg_view",
    "tapegrad.arrays.batched.conv": (
        "convolve convolve_transposed convolve_weights read_blocks sum_blocks"
    ),
    "tapegrad.arrays.batched.gather_scatter": (
        "add_along gather_along kth_index log_running_sum median_index mode_index pick put_along "
        "running_extremum scatter_along spread_rows take_along_axis top_indices unpick"
    ),
    "tapegrad.arrays.batched.getitem_setitem": (
        "add_at count read_at spread_mask take write_at write_mask write_part"
    ),
    "tapegrad.arrays.batched.like": (
        "asarray astype copied empty_like full_like ones_like zeros_like"
    ),
    "tapegrad.arrays.batched.linalg": (
        "cholesky_factor cofactor_change cofactors definite_solution determinants invert "
        "ldl_packed ldl_solution least_squares linalg lu_packed lu_solution matrix_exponential "
        "pair_distances permutation_matrix places_in pull_distances push_distances reflectors "
        "solution solve_again solve_systems triangular_factor triangular_solution"
    ),
    "tapegrad.arrays.batched.matmul": "attend attend_back matmul vecdot",
    "tapegrad.arrays.batched.norm": (
        "channel_moments scale_channels standardize_channels standardize_channels_back "
        "standardize_channels_weight_back standardize_given_weight_back standardize_rows "
        "standardize_rows_back standardize_rows_weight_back sum_channels sum_rows"
    ),
    "tapegrad.arrays.batched.pointwise": "members pointwise",
    "tapegrad.arrays.batched.pool_pad_interpolate": (
        "blend_points match_points pad_constant pad_edges put_places resample spread_points "
        "take_places unpad_edges window_maximum"
    ),
    "tapegrad.arrays.batched.reshape": (
        "broadcast_arrays broadcast_to concat expand_dims flip meshgrid moveaxis pad_diagonal "
        "pad_select pad_slice permute_dims repeat reshape roll squeeze stack strided sum_strided "
        "sum_windows tile unstack view_to windows write_diagonal"
    ),
    "tapegrad.arrays.batched.sum_sort": (
        "all any argmax argmin argsort count_nonzero cumulative_prod cumulative_sum fourier "
        "fourier_half fourier_real log_softmax_along log_softmax_back max mean min prod "
        "softmax_along softmax_back sort sum"
    ),
}
ELEMENTWISE = (
    "airy_ai bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 "
    "clip conj digamma dirichlet_slope erf erfc erfcx erfinv gammainc gammaincc gelu gelu_back i0 "
    "i0e i1 i1e lgamma log10 log_ndtr maximum minimum ndtri polygamma polynomial sigmoid "
    "standard_gamma_slope where zeta"
)
TRAILING = "as_pairs diagonal_view from_pairs matrix_transpose"
OPTIONAL = "other_products running_product_back running_product_push"
