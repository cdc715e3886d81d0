"""The namespace of batched arrays: the array standard's names and our kernels, for a whole batch.

Each name is a function that shifts axes, aligns dimensions or folds the batch into another axis,
and calls the function of the same name below. Families are files of this folder. A name without a
rule of its own runs once for each member of the batch, and says so: `loop.py`.
"""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.batched.array import Batched, Level
from tapegrad.arrays.numpy import namespace as _numpy
from tapegrad.core.annotations import Array

_CREATION = "arange empty eye full linspace ones zeros"
_DTYPES = (
    "bool complex64 complex128 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "e inf nan newaxis pi finfo iinfo isdtype"
)
_POINTWISE = (
    "abs acos acosh add airy_ai asin asinh atan atan2 atanh bessel_j0 bessel_j1 bessel_k0 "
    "bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 bitwise_and bitwise_invert "
    "bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos "
    "cosh digamma divide equal erf erfc erfcx erfinv exp exp2 expm1 floor floor_divide fmax fmin "
    "fmod frexp gammainc gammaincc gcd gelu gelu_back greater greater_equal hypot i0 i0e i1 i1e "
    "imag isfinite isinf isnan lcm ldexp less less_equal lgamma log log10 log1p log2 log_ndtr "
    "logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply ndtri "
    "negative nextafter not_equal polygamma polynomial positive pow real reciprocal remainder "
    "round sigmoid sign signbit sin sinh sqrt square subtract tan tanh trunc where zeta"
)
_TRAILING = "as_pairs diagonal_view from_pairs matrix_transpose tril triu"
_FILES = {
    "gather_scatter": (
        "add_along gather_along kth_index log_running_sum median_index mode_index "
        "put_along running_extremum scatter_along take_along_axis top_indices"
    ),
    "attention": "attend attend_back",
    "nll_cross_entropy": "pick unpick",
    "conv": "convolve convolve_transposed convolve_weights read_blocks sum_blocks",
    "embedding": "spread_rows",
    "getitem_setitem": ("add_at count read_at spread_mask take write_at write_mask write_part"),
    "like": "asarray astype copied empty_like full_like ones_like zeros_like",
    "linalg": (
        "cholesky_factor cofactor_change cofactors definite_solution determinants invert "
        "ldl_packed ldl_solution least_squares linalg lu_packed lu_solution matrix_exponential "
        "pair_distances permutation_matrix places_in pull_distances push_distances reflectors "
        "solution solve_again solve_systems triangular_factor triangular_solution"
    ),
    "norm": (
        "channel_moments scale_channels standardize_channels standardize_channels_back "
        "standardize_channels_weight_back standardize_given_weight_back standardize_rows "
        "standardize_rows_back standardize_rows_weight_back sum_channels sum_rows"
    ),
    "pointwise": "members pointwise",
    "pool_pad_interpolate": (
        "blend_points match_points pad_constant pad_edges put_places resample spread_points "
        "take_places unpad_edges window_maximum"
    ),
    "matmul": "matmul vecdot",
    "sum_sort": (
        "all any argmax argmin argsort count_nonzero cumulative_prod cumulative_sum fourier "
        "fourier_half fourier_real log_softmax_along log_softmax_back max mean min prod "
        "softmax_along softmax_back sort sum"
    ),
    "reshape": (
        "broadcast_arrays broadcast_to concat expand_dims flip meshgrid moveaxis pad_diagonal "
        "pad_select pad_slice permute_dims repeat reshape roll squeeze stack strided sum_strided "
        "sum_windows tile unstack view_to windows write_diagonal"
    ),
}
"""For each file of this folder, the names it has."""

_GENERAL = "other_products running_product_back running_product_push"
"""Kernels that operators do without: what they do instead is quicker than a loop."""

_INDEX = {name: file for file, names in _FILES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """The function of a name, made or imported when first asked for."""
    if name.startswith("__") or name in _GENERAL.split():
        raise AttributeError(f"the namespace of batched arrays has no {name}")
    if name in _INDEX:
        from importlib import import_module

        found = getattr(import_module(f"{__package__}.{_INDEX[name]}"), name)
    elif name in _POINTWISE.split():
        found = _pointwise(name)
    elif name in _CREATION.split() or name in _DTYPES.split():
        found = getattr(_numpy, name)
    elif name in _TRAILING.split():
        found = _trailing(name)
    elif name == "bfloat16":
        from tapegrad.core.dtype import bfloat16

        found = bfloat16.numpy
    elif name == "float16":
        from tapegrad.core.dtype import float16

        found = float16.numpy
    else:
        from tapegrad.arrays.batched.per_sample import looped

        getattr(_numpy, name)  # an error for what no namespace has
        found = looped(name)
    globals()[name] = found
    return found


def _pointwise(name: str) -> Any:
    from tapegrad.arrays.batched.array import pointwise, top_level
    from tapegrad.arrays.namespaces import namespace_of

    plain = getattr(_numpy, name)

    def function(*arrays: Any, **params: Any) -> Any:
        if top_level(arrays) is None:
            return plain(*arrays, **params)

        def below(*values: Any, **params: Any) -> Any:
            xp = namespace_of(values)
            return (plain if xp is _numpy else getattr(xp, name))(*values, **params)

        return pointwise(below, arrays, params)

    function.__name__ = name
    return function


def _trailing(name: str) -> Any:
    """A function of one array that acts on its last axes, or on none."""

    def function(x: Array, *args: Any, **params: Any) -> Any:
        if type(x) is not Batched:
            return getattr(_numpy, name)(x, *args, **params)
        from tapegrad.arrays.batched.array import closed
        from tapegrad.arrays.namespaces import namespace_of

        below = getattr(namespace_of((x.value,)), name)
        return closed(x.level, below(x.value, *args, **params), x.mapped)

    function.__name__ = name
    return function


__all__ = ["Batched", "Level"]
