"""Calls of operators as `__torch_dispatch__` is told of them: an overload and its arguments.

Tensors come first, by place, as the operator takes them. Options follow by place where the table
here says how PyTorch has them, by the operator's own names otherwise. Called with arguments of the
form that it was handed over with, the overload runs the very operator again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tapegrad.autograd.operator_base import public_name
from tapegrad.core.annotations import Any, OperatorLike
from tapegrad.core.registration import DISPATCH_CLASSES
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.torch_dispatch import tensors_of
from tapegrad.dispatch.apply import apply
from tapegrad.library.aten import overload_named, overload_of
from tapegrad.library.overload import HANDED, OpOverload

# Options that PyTorch takes by place, in its order; `*`: as a list; after `=` the default, which is
# left out at the end; `!`: an option of ours that PyTorch has not; `->`: by keyword.
_PLACED = {
    name: tuple(options.split())
    for names, options in {
        "view_shape reshape_alias unsafe_view expand_to": "shape*",
        "sum_axes mean_axes all_axes any_axes largest smallest logsumexp_axes": (
            "axis* keepdims=False"
        ),
        "largest_along smallest_along argmax_along argmin_along median_along product_along "
        "mode_along": "axis keepdims=False",
        "largest_of_all smallest_of_all": "axis! keepdims!",
        "running_sum running_product log_running_sum running_largest running_smallest": "axis",
        "softmax_along log_softmax_along": "axis half=False",
        "softmax_backward_data log_softmax_backward_data": "axis",
        "permute_axes squeeze_axes flip_axes": "axes*",
        "swap_axes": "a b",
        "insert_axis squeeze_axis": "axis",
        "unbind_axis": "axis=0",
        "concat_along stack_along": "axis=0",
        "select_index": "axis index",
        "slice_axis": "axis start stop step=1",
        "pad_select": "shape* axis index",
        "pad_slice": "shape* axis start stop step",
        "split_equal": "size axis=0",
        "split_by_sizes": "sizes* axis=0",
        "matrix_product": "flipped!",
        "add_matrix_product": "beta->=1 alpha->=1 flipped!",
        "add_products add_matrix_vector add_outer add_sum_of_products": "beta->=1 alpha->=1",
        "add_scaled sub_scaled": "alpha->=1",
        "addcmul addcdiv": "value->=1",
        "plus_number minus_number times_number over_number": "number",
        "clone": "order!",
        "convolution": "stride* padding* dilation* transposed output_padding* groups",
        "leaky_relu": "negative_slope=0.01",
        "hardtanh_between": "low=-1.0 high=1.0",
        "threshold_above": "threshold value",
        "lower_triangle upper_triangle": "k=0",
        "tile_by": "repeats*",
        "elu_scaled": "alpha=1.0 scale=1 input_scale=1",
        "lerp_number": "weight",
        "to_copy": "dtype->",
        "fill_with_number replace_by_number": "value",
    }.items()
    for name in names.split()
}
_LISTED = frozenset(("concat_along", "stack_along"))  # their tensors are one list


class Call(NamedTuple):
    """A call as it is handed over, and what the overload does when it is called."""

    overload: OpOverload
    args: tuple
    kwargs: dict[str, Any]
    run: Callable[[tuple, dict], Any]  # NotImplemented for arguments of another form

    def hand_to(self, handler: Callable, types: tuple = ()) -> Any:
        """What `handler`, a `__torch_dispatch__`, gives for the call."""
        token = HANDED.set(self)
        try:
            return handler(self.overload, types, self.args, self.kwargs)
        finally:
            HANDED.reset(token)


def call_of(op: OperatorLike, inputs: tuple, params: dict) -> Call:
    """A call of an operator as it is handed over."""
    args, kwargs = _written(op, inputs, params)

    def run(given: tuple, named: dict) -> Any:
        found = _read(op, inputs, params, given, named)
        if found is None:
            return NotImplemented
        if tensors_of(found[0]):
            return DISPATCH_CLASSES().with_classes(apply, (op, *found), {})
        return apply(op, *found)

    return Call(_overload_for(op, inputs), args, kwargs, run)


def _overload_for(op: OperatorLike, inputs: tuple) -> OpOverload:
    first = inputs[0] if inputs else None
    if op.name == "matrix_product" and isinstance(first, TensorBase) and len(first.shape) > 2:
        return overload_named("aten.bmm.default")
    found = overload_of(op, inputs)
    if found is None:  # PyTorch has no such operator
        return overload_named(f"tapegrad.{public_name(op.name, op.node_name)}.default")
    return found


def _written(op: OperatorLike, inputs: tuple, params: dict) -> tuple[tuple, dict[str, Any]]:
    """Arguments by place and by keyword."""
    args: list[Any] = [list(inputs)] if op.name in _LISTED else list(inputs)
    spec = _PLACED.get(op.name)
    if spec is None:
        return tuple(args), dict(params)
    kwargs: dict[str, Any] = {}
    left_out = 0
    for option in spec:
        name, how, default = _parts(option)
        if how == "!":
            continue
        value = params.get(name, False)  # `half`, which is never asked for here
        is_default = default != "" and str(value) == default
        if how == "->":
            if not is_default:
                kwargs[name] = value
            continue
        if how == "*" and value is not None:
            value = list(value) if isinstance(value, tuple | list) else [value]
        args.append(value)
        left_out = left_out + 1 if is_default and op.name not in ("softmax_along",) else 0
        if name == "half":
            left_out = 0
    return tuple(args[: len(args) - left_out]), kwargs


def _parts(option: str) -> tuple[str, str, str]:
    """Name, kind and default of an option."""
    option, _, default = option.partition("=")
    for how in ("*", "!", "->"):
        if option.endswith(how):
            return option.removesuffix(how), how, default
    return option, "", default


def _read(
    op: OperatorLike, inputs: tuple, params: dict, given: tuple, named: dict
) -> tuple[tuple, dict] | None:
    """Inputs and options of a call of the form in which this one was handed over.

    None if it has another form: more or fewer arguments, other keywords.
    """
    args, kwargs = _written(op, inputs, params)
    if len(given) != len(args) or named.keys() != kwargs.keys():
        return None
    n = 1 if op.name in _LISTED else len(inputs)
    found = tuple(given[0]) if op.name in _LISTED else given[:n]
    options = dict(params)
    spec = [_parts(option) for option in _PLACED.get(op.name, ())]
    placed = [(name, how) for name, how, _ in spec if how in ("", "*")]
    for (name, how), value, before in zip(placed, given[n:], args[n:], strict=False):
        if name not in params or _same(value, before):
            continue
        options[name] = tuple(value) if how == "*" else value
    for name, value in named.items():
        if not _same(value, kwargs[name]):
            options[name] = value
    return found, options


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    return not isinstance(a, TensorBase) and not isinstance(b, TensorBase) and bool(a == b)


def other_call(name: str, inputs: tuple, run: Callable[[], Any], made: Any = None) -> Call:
    """A call that writes into its first input, or that made the tensor `made`."""
    args = inputs
    if made is not None:
        sized = name in ("empty", "ones", "zeros", "rand", "randn", "full")
        args = ([*made.shape],) if sized else (made,)
        name = name if sized else "lift_fresh"

    def again(given: tuple, named: dict) -> Any:
        same = len(given) == len(args) and not named
        if not same or not all(map(_same, given, args)):
            return NotImplemented
        return run()

    return Call(overload_named(f"aten.{name}.default"), args, {}, again)
