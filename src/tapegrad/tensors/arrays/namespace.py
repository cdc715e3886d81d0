"""The Tensor namespace: the array standard's names for tensors.

Rules run on it when a derivative is itself differentiated, and array-API libraries find it through
`Tensor.__array_namespace__`. Every name here is an operator under its standard name and arguments,
or a kernel that rules use beyond the standard; the families are files of their own in `arrays/`.
"""

from tapegrad.core.lazy import found
from tapegrad.tensors.arrays.creation import *
from tapegrad.tensors.arrays.indexing import *
from tapegrad.tensors.arrays.matmul import *
from tapegrad.tensors.arrays.pointwise import *
from tapegrad.tensors.arrays.reduction import *
from tapegrad.tensors.arrays.shape import *

TENSOR_KERNELS: dict[str, str] = {
    "tapegrad.tensors.arrays.linalg": "linalg",
    "tapegrad.tensors.arrays.pooling": (
        "blend_points match_points put_places resample spread_points take_places"
    ),
    "tapegrad.operators.pointwise.activation": "gelu_back",
    "tapegrad.operators.nn.attention": "attend_back",
    "tapegrad.operators.nn.batch_group_norm_rules": (
        "scale_channels standardize_channels_back standardize_channels_weight_back "
        "standardize_given_weight_back sum_channels"
    ),
    "tapegrad.operators.nn.pad_constant": "pad_constant",
    "tapegrad.operators.nn.conv_rules": "convolve convolve_transposed convolve_weights",
    "tapegrad.operators.linalg.cholesky": "definite_solution",
    "tapegrad.operators.linalg.det_slogdet": "cofactor_change cofactors",
    "tapegrad.operators.nn.pad_reflect": "pad_edges unpad_edges",
    "tapegrad.operators.nn.embedding": "spread_rows",
    "tapegrad.operators.fft.fft_rules": "fourier fourier_half fourier_real",
    "tapegrad.operators.linalg.inv": "invert",
    "tapegrad.operators.nn.rnn.gru": "gru_back",
    "tapegrad.operators.nn.rnn.lstm": "lstm_back",
    "tapegrad.operators.nn.rnn.rnn_tanh_relu": "rnn_back",
    "tapegrad.operators.linalg.lstsq": "least_squares",
    "tapegrad.operators.pointwise.sigmoid_logit": "sigmoid",
    "tapegrad.operators.linalg.lu": "permutation_matrix",
    "tapegrad.operators.linalg.lu_solve": "lu_solution",
    "tapegrad.operators.linalg.matrix_exp_power": "matrix_exponential",
    "tapegrad.operators.nn.layer_norm": (
        "standardize_rows_back standardize_rows_weight_back sum_rows"
    ),
    "tapegrad.operators.linalg.cdist": "pair_distances pull_distances push_distances",
    "tapegrad.operators.nn.unfold_fold": "read_blocks sum_blocks",
    "tapegrad.operators.linalg.solve": "solution solve_again",
    "tapegrad.operators.linalg.triangular_solve": "triangular_solution",
}
"""For each file, the operators of `tapegrad.tensors.arrays.namespace` that it has."""


def __getattr__(name: str):
    """A kernel of a file that is loaded on its first use."""
    kernel = found(TENSOR_KERNELS, name)
    if kernel is None:
        raise AttributeError(f"the namespace {__name__} has no {name}")
    globals()[name] = kernel
    return kernel
