"""PyTorch's names of tapegrad's own operators: which overload of which packet each one is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import tapegrad
from tapegrad.autograd.operator_base import public_name
from tapegrad.core.annotations import Any, OperatorLike
from tapegrad.dispatch.backward_op import DECLARED
from tapegrad.dispatch.op import REGISTRY
from tapegrad.library.aten_functions import FUNCTIONS
from tapegrad.library.aten_schemas import table
from tapegrad.library.overload import OpOverload, OpOverloadPacket
from tapegrad.operators.loading import load_operators
from tapegrad.profiler.names import titles_of

# Overloads, and PyTorch's names of the operators that they are of; ours follows after a colon where
# it is another one. The others are the overload "default" of what a profile calls them.
_BY_OVERLOAD = {
    "correction": "std:deviation var:variance",
    "decimals": "round:round_decimals",
    "default": (
        "_linalg_eigh:eigh _linalg_eigh:eigvalsh _linalg_solve_ex:linear_system "
        "_linalg_svd:singular_values _linalg_svd:svd _log_softmax:log_softmax_along "
        "_scaled_dot_product_flash_attention_for_cpu:attention _softmax:softmax_along "
        "_cdist_forward:all_distances _to_copy:to_copy grid_sampler_2d grid_sampler_3d "
        "index_put:add_at "
        "linalg_vector_norm:norm_along max:largest_of_all min:smallest_of_all "
        "native_batch_norm:batch_standardize native_batch_norm:channel_standardize "
        "native_group_norm:group_standardize native_layer_norm:layer_standardize "
        "nll_loss2d_forward:pick_places nll_loss_forward:pick_classes select_backward:pad_select "
        "slice_backward:pad_slice"
    ),
    "dim": (
        "all:all_axes any:any_axes max:largest_along mean:mean_axes median:median_along "
        "min:smallest_along nanmedian:median_of_numbers_along squeeze:squeeze_axis"
    ),
    "dim_int": "prod:product_along",
    "dim_IntList": "count_nonzero:count_axes sum:sum_axes",
    "dims": "squeeze:squeeze_axes",
    "float_Tensor": "normal:normal_of_std",
    "int": "select:select_index transpose:swap_axes unbind:unbind_axis",
    "int_Scalar": "index_fill:fill_slices",
    "int_Tensor": "index_fill:fill_slices_with",
    "other_scalar": "special_xlog1py:x_log1p_number special_zeta:zeta_from_number",
    "p": "bernoulli:bernoulli_fill",
    "Scalar": (
        "copysign:with_sign_of_number fmod:fmod_number lerp:lerp_number masked_fill:fill_masked "
        "pow:power_of_number remainder:remainder_number rsub:rsub_scaled rsub:subtract_from"
    ),
    "Scalar_Other": "xlogy:x_log_number",
    "Scalar_Self": "xlogy:number_log_y",
    "Scalar_Tensor": "remainder:remainder_of_number",
    "self": "where",
    "self_scalar": "special_xlog1py:number_log1p_y special_zeta:zeta_of_number",
    "src": "scatter:scatter_values",
    "Tensor": (
        "add add:add_scaled add:plus_number bernoulli:bernoulli_tensor_fill bitwise_and "
        "bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clamp:clamp_to_tensors "
        "clamp_max:at_most clamp_min:at_least copysign div div:over_number eq fmod "
        "frexp:mantissa_and_exponent ge gt index:index_at index:index_mask ldexp le "
        "lerp:lerp_tensor lt masked_fill:fill_masked_with mul mul:times_number ne remainder "
        "slice:slice_axis split:split_equal sub sub:minus_number sub:sub_scaled "
        "unsafe_split:split_untracked xlogy"
    ),
    "Tensor_float": "normal:normal_of_mean",
    "Tensor_mode": "div:div_rounded",
    "Tensor_Scalar": "pow",
    "Tensor_Tensor": "isin:members normal:normal_of_both pow:power",
    "two": (
        "scatter_reduce:scatter_extremum scatter_reduce:scatter_product "
        "scatter_reduce:scatter_total"
    ),
    "value": "scatter:scatter_number",
}
_OVERLOADS = {
    ours or name: f"{name}.{overload}"
    for overload, names in _BY_OVERLOAD.items()
    for name, _, ours in (each.partition(":") for each in names.split())
}
_WITH_NUMBERS = frozenset("eq ne lt le gt ge".split())  # PyTorch has an overload for these


@cache
def operator_names() -> frozenset[str]:
    """The packets that calls of tapegrad's operators, and rules of theirs, are of."""
    load_operators()
    found = {_backward_name(rule.node) for rule in DECLARED}
    for op in REGISTRY.values():
        found.add((_name_of(op) or "").partition(".")[0])
    return frozenset(found - {""})


def _backward_name(node: str) -> str:
    """The operator of a backward pass whose own node is called `node`; "" if it is of none.

    >>> from tapegrad.library.aten import _backward_name
    >>> _backward_name("ThresholdBackwardBackward0"), _backward_name("MulBackward0")
    ('threshold_backward', '')
    """
    words, _, last = node.partition("Backward")
    if "Backward" not in last:
        return ""
    name = f"{public_name('', words)}_backward{'_data' if last.startswith('Data') else ''}"
    hidden = name.endswith("softmax_backward_data") or name.startswith("prelu")
    return f"_{name}" if hidden else name


def _name_of(op: OperatorLike) -> str | None:
    """The overload that an operator is, None for one that PyTorch has not."""
    backward = _backward_name(op.node_name)
    if backward:
        return f"{backward}.default"
    name = _OVERLOADS.get(op.name)
    if name is None:
        title = titles_of(op.name, op)[0]
        home, _, public = title.partition("::")
        name = f"{public}.default" if home == "aten" else None
    return name


def names() -> set[str]:
    """The names of all operators."""
    return set(table())


@cache
def packet_named(name: str) -> OpOverloadPacket | None:
    """The operator of that name, None where there is none."""
    overloads = table().get(name)
    return OpOverloadPacket(name, tuple(overloads)) if overloads else None


def function_named(name: str) -> Callable[..., Any] | None:
    """The function that an operator is: `linalg_inv` is `torch.linalg.inv`."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    for prefix in ("linalg", "fft", "special"):
        if name.startswith(f"{prefix}_"):
            found = getattr(getattr(tapegrad, prefix), name.removeprefix(f"{prefix}_"), None)
            if callable(found):
                return found
    for home in (tapegrad, tapegrad.nn.functional, tapegrad.Tensor):
        found = getattr(home, name, None)
        if callable(found) and not isinstance(found, type):
            return found
    return None


@cache
def overload_named(name: str) -> OpOverload:
    """The overload of a full name, `aten.add.Tensor`; of `tapegrad` there is each that is asked."""
    namespace, _, rest = name.partition(".")
    packet, _, overload = rest.partition(".")
    found = packet_named(packet) if namespace == "aten" else None
    if found is None or overload not in found.overloads():
        found = OpOverloadPacket(packet, (overload,), namespace)
    return getattr(found, overload)


def overload_of(op: OperatorLike, inputs: tuple) -> OpOverload | None:
    """The overload that a call of an operator is, None where PyTorch has no such operator."""
    name = _name_of(op)
    if name is None:
        return None
    if op.name in _WITH_NUMBERS and not hasattr(inputs[1], "_array"):
        name = f"{op.name}.Scalar"
    return overload_named(f"aten.{name}")
