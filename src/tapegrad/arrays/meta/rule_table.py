"""Rules of shapes for the meta device, by file.

Written by `python -m tools.name_tables`.
"""

META_RULES: dict[str, str] = {
    "tapegrad.arrays.meta.creation": (
        "arange asarray astype broadcast_to concat conj conj_view copied empty empty_like eye flip "
        "full full_like imag linspace meshgrid neg_view ones ones_like pad_diagonal pad_select "
        "pad_slice ravel real repeat reshape roll stack strided sum_strided sum_windows tile tril "
        "triu write_diagonal zeros zeros_like"
    ),
    "tapegrad.arrays.meta.factors": (
        "cholesky_factor definite_solution invert ldl_packed ldl_solution lu_packed lu_solution "
        "permutation_matrix solve_again solve_systems"
    ),
    "tapegrad.arrays.meta.indexing": (
        "add_along add_at argwhere compress count extract flatnonzero gather_along nonzero pick "
        "read_at scatter_along spread_mask spread_rows take take_along_axis tally unique "
        "unique_all unique_counts unique_inverse unique_values unpick write_at write_mask "
        "write_part"
    ),
    "tapegrad.arrays.meta.linalg": (
        "attend attend_back cofactors determinants last_diagonal linalg_eig linalg_eigh "
        "linalg_eigvals linalg_eigvalsh linalg_qr linalg_slogdet linalg_solve linalg_svd "
        "linalg_svdvals matmul matrix_exponential multiply_groups pair_distances solution "
        "tensordot triangular_solution vecdot"
    ),
    "tapegrad.arrays.meta.nn": (
        "channel_moments convolve convolve_transposed convolve_weights log_softmax_along "
        "log_softmax_back pad_constant pad_edges put_places read_blocks resample scale_channels "
        "shifted_maximum softmax_along softmax_back standardize_channels standardize_channels_back "
        "standardize_channels_weight_back standardize_given_weight_back standardize_rows "
        "standardize_rows_back standardize_rows_weight_back sum_blocks sum_channels sum_rows "
        "take_places unpad_edges window_maximum"
    ),
    "tapegrad.arrays.meta.pointwise": "pointwise",
    "tapegrad.arrays.meta.reduction": (
        "all any argmax argmin argsort count_nonzero cumulative_prod cumulative_sum fourier "
        "fourier_half fourier_real kth_index log_running_sum max mean median_index members min "
        "mode_index places_in prod put_along running_extremum sort sum tally_evenly top_indices"
    ),
    "tapegrad.arrays.meta.rnn": "gru gru_back lstm lstm_back rnn rnn_back",
}
