"""Operators on tensors of 8-bit floating-point numbers: most are refused, as in PyTorch.

Such numbers are kept, moved, compared for equality and converted. Of arithmetic there are
products, which compute in float32 and round once.
"""

import numpy as np

from tapegrad.core.annotations import Any, OperatorLike
from tapegrad.core.dtype import FLOAT8, float8_e5m2, float8_e8m0fnu, of
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.errors import not_implemented

_MOVES = frozenset(
    """
    clone concat_along constant_pad copy_slice copy_slices drop_masked eq fill_slices
    fill_slices_with fill_with_number fill_with_one flip_axes index_at isnan join_parts
    look_up masked_elements ne pad_diagonal pad_select pad_slice patch_diagonal patch_index
    patch_part pick_places replace replace_by_number replace_by_one replace_by_zeros roll_axes
    select_slices
    stack_along take_places take_slices tile_by to_copy to_meta unsafe_view any_axes all_axes where
    write_at
    """.split()
)
_OF: dict[Dtype, tuple] = {  # kernels of PyTorch for one type or the other
    **dict.fromkeys(FLOAT8[:4], ("abs",)),
    float8_e5m2: ("abs", "isfinite", "isinf"),
    float8_e8m0fnu: ("isfinite",),
}
_PRODUCTS = frozenset("add_matrix_product matrix_product mul times_number".split())

_KERNELS = {
    **dict.fromkeys(
        "acos asin atan ceil cos erf erfc erfinv exp expm1 floor i0 lgamma log log10 log1p log2 "
        "round sin sqrt tan tanh trunc".split(),
        "{}_vml_cpu",
    ),
    **dict.fromkeys("digamma exp2 isfinite isinf nan_to_num pow".split(), "{}"),
    **dict.fromkeys("add sub add_scaled sub_scaled plus_number minus_number subtract_from "
                    "number_minus rsub_scaled".split(), "add_stub"),
    **dict.fromkeys("sum_all sum_axes mean_all mean_axes sum_numbers".split(), "sum_cpu"),
    **dict.fromkeys("sort_along order_along".split(), "sorting_kernel_method_name"),
    "batched_product": "bmm", "fill_masked": "masked_fill", "fill_masked_with": "masked_fill",
    "deg2rad": "mul_cpu_reduced_float", "rad2deg": "mul_cpu_reduced_float",
    "times_number": "mul_cpu_reduced_float", "gelu": "GeluKernelImpl", "sgn": "sign_cpu",
    "layer_standardize": "LayerNormKernelImpl", "largest_of_all": "max_all",
    "smallest_of_all": "min_all", "largest": "max_all", "smallest": "min_all",
    "log_softmax_along": "log_softmax_kernel_impl", "softmax_along": "softmax_kernel_impl",
    "add_matrix_product": "addmm_impl_cpu_", "matrix_product": "addmm_impl_cpu_",
    "lower_triangle": "tril", "upper_triangle": "triu", "matrix_vector": "addmv_impl_cpu",
    "relu": "clamp_min_scalar_cpu", "square": "pow", "squared_error": "mse_cpu",
    "sigmoid": "sigmoid_cpu_reduced_float", "vector_dot": "dot", "over_number": "div_cpu",
    "clamp_to_tensors": "clamp_cpu", "clamp": "clamp_scalar_cpu",
    "clamp_max": "clamp_max_scalar_cpu",
    "clamp_min": "clamp_min_scalar_cpu",
}  # fmt: skip


def computes_float8(op: OperatorLike, arrays: list, dtype: Any) -> bool:
    """Whether a call on numbers of 8 bits computes in float32, or moves them as they are.

    Raises: NotImplementedError where PyTorch has no kernel for such numbers.
    """
    name = op.name
    kind = of(dtype)
    if op.view or name in _MOVES or name in _OF.get(kind, ""):
        return False
    if name in _PRODUCTS and (kind is not float8_e8m0fnu or name == "mul"):
        if name != "mul" or all([isinstance(x, np.ndarray) and x.ndim for x in arrays]):
            return True
        name = "times_number"
    kernel = _KERNELS.get(name, "{}_cpu").format(name)
    raise not_implemented(
        f"\"{kernel}\" not implemented for '{kind.scalar_name}'",
        "Hardly anything computes with 8 bits: convert first, for example with .to(torch.float32).",
    )
