"""Kernels on tensors, by file.

Written by `python -m tools.name_tables`.
"""

TENSOR_KERNELS: dict[str, str] = {
    "tapegrad.operators.fft.fft": "fourier fourier_half fourier_real",
    "tapegrad.operators.linalg.cdist_pdist": "pair_distances pull_distances push_distances",
    "tapegrad.operators.linalg.cholesky": "definite_solution",
    "tapegrad.operators.linalg.det_slogdet": "cofactor_change cofactors",
    "tapegrad.operators.linalg.grouped_mm": "multiply_groups",
    "tapegrad.operators.linalg.inv": "invert",
    "tapegrad.operators.linalg.lstsq": "least_squares",
    "tapegrad.operators.linalg.lu_factor": "permutation_matrix",
    "tapegrad.operators.linalg.lu_solve": "lu_solution",
    "tapegrad.operators.linalg.matrix_exp_power": "matrix_exponential",
    "tapegrad.operators.linalg.solve": "solution solve_again",
    "tapegrad.operators.linalg.triangular_solve": "triangular_solution",
    "tapegrad.operators.nn.attention": "attend_back",
    "tapegrad.operators.nn.batch_group_norm": (
        "scale_channels standardize_channels_back standardize_channels_weight_back "
        "standardize_given_weight_back sum_channels"
    ),
    "tapegrad.operators.nn.conv_rules": "convolve convolve_transposed convolve_weights",
    "tapegrad.operators.nn.embedding": "spread_rows",
    "tapegrad.operators.nn.layer_norm": (
        "standardize_rows_back standardize_rows_weight_back sum_rows"
    ),
    "tapegrad.operators.nn.pad": "pad_constant pad_edges unpad_edges",
    "tapegrad.operators.nn.rnn.rnn_rules": "gru_back lstm_back rnn_back",
    "tapegrad.operators.nn.unfold_fold": "read_blocks sum_blocks",
    "tapegrad.operators.pointwise.gelu": "gelu_back",
    "tapegrad.operators.pointwise.sigmoid_logit_xlogy": "sigmoid",
    "tapegrad.operators.random.gamma_dirichlet": "standard_gamma_slope",
    "tapegrad.tensors.arrays.linalg": "linalg",
    "tapegrad.tensors.arrays.pooling": (
        "blend_points match_points put_places resample spread_points take_places"
    ),
}
