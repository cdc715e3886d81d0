"""The form in which PyTorch takes the arguments of an operator, for what is handed over.

A form lists the arguments in the order of the signature:

    $0 $1          inputs of tapegrad's operator by their number; $$ all of them as one list
    axis sizes*    options by their name; with a star as a list
    how:reduction  an option that is written otherwise there: WRITTEN says how
    :indices       what is made of inputs and options
    =False         what is always the same
    flipped!       an option that PyTorch has not

A form that names no input begins with all of them. Which arguments go by keyword, and which are
left out because they are the default, the signature says.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from tapegrad.core.annotations import Any, Callable, OperatorLike
from tapegrad.core.tensor_base import TensorBase
from tapegrad.library.aten_schemas import schema_of
from tapegrad.library.schema import Argument

_FORMS = {
    name: form
    for names, form in {
        "view_shape reshape_alias unsafe_view expand_to": "shape*",
        "sum_axes mean_axes largest smallest logsumexp_axes sum_numbers": "axis* keepdims",
        "largest_along smallest_along argmax_along argmin_along product_along median_along "
        "median_of_numbers_along": "axis keepdims",
        "mode_along": "axis:last keepdims",
        "largest_of_all smallest_of_all": "axis! keepdims!",
        "median_of_all": "axis!",
        "count_axes": "axis*",
        "running_sum running_product log_running_sum running_largest running_smallest": "axis",
        "softmax_along log_softmax_along": "axis =False",
        "softmax_backward_data log_softmax_backward_data": "$0 $1 axis :dtype",
        "permute_axes squeeze_axes flip_axes": "axes*",
        "swap_axes": "a b",
        "insert_axis squeeze_axis unbind_axis": "axis",
        "concat_along stack_along": "$$ axis",
        "select_index": "axis index",
        "slice_axis": "axis start stop step",
        "pad_select": "shape* axis index",
        "pad_slice": "shape* axis start stop step",
        "split_equal split_untracked": "size axis",
        "split_by_sizes split_by_sizes_untracked": "sizes* axis",
        "diagonal_axes embed_diagonal patch_diagonal": "offset a b",
        "windows": "axis size step",
        "roll_axes": "shifts* axes:or_empty",
        "tile_by": "repeats*",
        "matrix_product": "flipped!",
        "add_matrix_product": "beta alpha flipped!",
        "add_products add_matrix_vector add_outer add_sum_of_products": "beta alpha",
        "add_scaled sub_scaled": "alpha",
        "addcmul addcdiv": "value",
        "plus_number minus_number times_number over_number": "number",
        "power_of_number number_log_y number_log1p_y zeta_of_number": "$1 $0",
        "div_rounded": "rounding_mode",
        "round_decimals": "decimals",
        "nan_to_num": "nan posinf neginf",
        "lerp_number": "weight",
        "clone": "order!",
        "to_copy": "dtype",
        "fill_with_number replace_by_number": "value",
        # --- indices ---
        "gather_along select_slices": "$0 axis $1",
        "index_at": "$0 :indices",
        "index_mask": "$0 :mask",
        "scatter_values scatter_sum copy_slices fill_slices_with": "$0 axis $2 $1",
        "scatter_number fill_slices": "$0 axis $1 value",
        "add_slices": "$0 axis $2 $1 alpha",
        "write_at": "$0 :places $1 add",
        "write_mask": "$0 :last_mask $1",
        "scatter_masked": "$0 $2 $1",
        "scatter_total index_total": "$0 axis $2 $1 mean:mean_or_sum include",
        "scatter_product index_product": "$0 axis $2 $1 ='prod' include",
        "bincount": "minimum",
        "look_up": "padding by_frequency",
        # --- sorting and statistics ---
        "sort_along": "axis:last descending",
        "topk_along": "k axis:last largest",
        "kth_along": "k axis:last keepdims",
        "variance deviation": "axis:or_all correction keepdims",
        "norm_along vector_norm": "order:whole axis:or_all keepdims",
        "norm_of_difference own_distances": "order",
        "all_distances": "$0 $1 order =None",
        "histc": "bins low high",
        # --- nn ---
        "convolution": "stride* padding* dilation* transposed output_padding* groups",
        "leaky_relu": "negative_slope",
        "hardtanh_between": "low high",
        "threshold_above": "threshold value",
        "elu_scaled": "alpha scale input_scale",
        "celu_scaled": "alpha",
        "gelu": "approximate",
        "softplus_beta": "beta threshold",
        "hard_shrink soft_shrink": "lambd",
        "gated": "axis:last",
        "pick_classes pick_places": "$0 $1 $2 reduction:reduction ignore_index:ignored",
        "squared_error soft_margin bernoulli_nll logistic_nll": "reduction:reduction",
        "smooth_l1": "reduction:reduction beta",
        "huber": "reduction:reduction delta",
        "layer_standardize": "$0 :normalized $1 $2 eps",
        "group_standardize": "$0 $1 $2 :samples :channels :pixels groups eps",
        "attention": "$0 $1 $2 =0.0 causal :attn_mask scale:unless_usual",
        "constant_pad": "pad* value",
        "reflection_pad_1d reflection_pad_2d reflection_pad_3d replication_pad_1d "
        "replication_pad_2d replication_pad_3d": "padding*",
        "pixel_shuffle pixel_unshuffle": "factor",
        "channel_shuffle": "groups",
        "image_to_columns": "kernel_size* dilation* padding* stride* size!",
        # --- random numbers, which are drawn before ---
        "bernoulli_draw poisson_draw": "drawn!",
        # --- linalg, fft ---
        "lower_triangle upper_triangle": "k",
        "definite_factor definite_inverse": "upper",
        "triangular_system": "upper left unitriangular",
        "vector_product": "axis",
        "qr": "mode",
        "svd": "full",
        "fourier": "axes* scale:scaled forward",
        "fourier_from_real": "axes* scale:scaled half",
        "fourier_to_real": "axes* scale:scaled size",
    }.items()
    for name in names.split()
}


# --- what is written otherwise -------------------------------------------------------------------


def _indices(index: Any, axes: tuple) -> list[Any]:
    """An index tensor for each axis, None for those before that are whole."""
    each = [index] if len(axes) == 1 else [index[i] for i in range(len(axes))]
    found: list[Any] = [None] * (max(axes) + 1)
    for axis, one in zip(axes, each, strict=True):
        found[axis] = one
    return found


def _or_all(value: Any, inputs: tuple) -> list[int] | None:
    """Axes as a list, None where they are all."""
    axes = [value] if isinstance(value, int) else list(value)
    return None if len(axes) == len(inputs[0].shape) else axes


def _last(value: int, inputs: tuple) -> int:
    return -1 if value == len(inputs[0].shape) - 1 else value


def _pixels(inputs: tuple) -> int:
    return prod(inputs[0].shape[2:])


# By name: a function of the option, the inputs and all options.
WRITTEN: dict[str, Callable[[Any, tuple, dict], Any]] = {
    "attn_mask": lambda value, inputs, params: inputs[3] if len(inputs) > 3 else None,
    "channels": lambda value, inputs, params: inputs[0].shape[1],
    "dtype": lambda value, inputs, params: inputs[0].dtype,
    "ignored": lambda value, inputs, params: -100 if value is None else value,
    "indices": lambda value, inputs, params: _indices(inputs[1], params["axes"]),
    "last": lambda value, inputs, params: _last(value, inputs),
    "last_mask": lambda value, inputs, params: [inputs[2]],
    "mask": lambda value, inputs, params: [inputs[1]],
    "mean_or_sum": lambda value, inputs, params: "mean" if value else "sum",
    "normalized": lambda value, inputs, params: list(inputs[0].shape[-params["n_axes"] :]),
    "one_axis": lambda value, inputs, params: value if isinstance(value, int) else value[0],
    "or_all": lambda value, inputs, params: _or_all(value, inputs),
    "or_empty": lambda value, inputs, params: [] if value is None else list(value),
    "pixels": lambda value, inputs, params: _pixels(inputs),
    "places": lambda value, inputs, params: _indices(inputs[2], params["axes"]),
    "reduction": lambda value, inputs, params: ("none", "mean", "sum").index(value),
    "samples": lambda value, inputs, params: inputs[0].shape[0],
    "scaled": lambda value, inputs, params: {"none": 0, "root": 1}.get(value, 2),
    "whole": lambda value, inputs, params: int(value) if float(value).is_integer() else value,
    "unless_usual": lambda value, inputs, params: (
        None if value == inputs[0].shape[-1] ** -0.5 else value
    ),
}


# --- forms ---------------------------------------------------------------------------------------


class Part(NamedTuple):
    """One argument of a form."""

    input: int = -1  # the number of an input
    option: str = ""  # the name of an option
    how: str = ""  # "$$": all inputs; "*": a list; a name in WRITTEN; "=": `value`
    value: Any = None

    def written(self, inputs: tuple, params: dict) -> Any:
        """The argument of a call."""
        if self.input >= 0:
            return inputs[self.input]
        if self.how == "$$":
            return list(inputs)
        if self.how == "=":
            return self.value
        value = params.get(self.option)
        if self.how == "*":
            return list(value) if isinstance(value, tuple | list) else [value]
        if self.how:
            return WRITTEN[self.how](value, inputs, params)
        return value


_CONSTANTS = {"False": False, "None": None, "0.0": 0.0, "'prod'": "prod"}


def _part(token: str) -> Part:
    if token == "$$":
        return Part(how="$$")
    if token[0] == "$":
        return Part(input=int(token[1:]))
    if token[0] == "=":
        return Part(how="=", value=_CONSTANTS[token[1:]])
    if token[-1] == "*":
        return Part(option=token[:-1], how="*")
    name, _, how = token.partition(":")
    return Part(option=name, how=how)


class Form:
    """How the arguments of a call stand in PyTorch's signature."""

    def __init__(self, text: str, overload: str, n_inputs: int):
        parts = [_part(token) for token in text.split() if token[-1] != "!"]
        if "$" not in text:
            parts = [Part(input=i) for i in range(n_inputs)] + parts
        packet, _, name = overload.partition(".")
        schema = schema_of(packet, name)
        arguments = schema.arguments if schema is not None else []
        self.parts = parts
        self.arguments: list[Argument | None] = [*arguments, *[None] * len(parts)][: len(parts)]

    def written(self, inputs: tuple, params: dict) -> tuple[tuple, dict[str, Any]]:
        """Arguments by place and by keyword, less those that are the default."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        n = 0  # as many have to be given by place
        for part, argument in zip(self.parts, self.arguments, strict=True):
            value = part.written(inputs, params)
            usual = argument is not None and _is_default(argument, value)
            if argument is not None and argument.kwarg_only:
                if not usual:
                    kwargs[argument.name] = value
                continue
            args.append(value)
            if not usual:
                n = len(args)
        return tuple(args[:n]), kwargs

    def read(
        self, inputs: tuple, params: dict, args: tuple, kwargs: dict[str, Any]
    ) -> tuple[tuple, dict] | None:
        """Inputs and options of a call of this form; None where it has another one."""
        found, options, named = list(inputs), dict(params), dict(kwargs)
        place = 0
        for part, argument in zip(self.parts, self.arguments, strict=True):
            before = part.written(inputs, params)
            by_name = argument is not None and argument.name in named
            if place < len(args) and not (argument is not None and argument.kwarg_only):
                value = args[place]
                place += 1
            elif by_name and argument is not None:
                value = named.pop(argument.name)
            elif argument is not None and argument.has_default_value():
                value = argument.default_value
            else:
                return None
            if part.input >= 0:
                found[part.input] = value
            elif part.how == "$$":
                found = list(value)
            elif same(value, before):
                continue
            elif part.how in ("", "*") and part.option in params:
                options[part.option] = tuple(value) if part.how == "*" else value
            else:
                return None
        return None if named or place < len(args) else (tuple(found), options)


def same(a: Any, b: Any) -> bool:
    """Whether an argument is what it was: the very tensor, an equal number."""
    if a is b:
        return True
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return not isinstance(a, TensorBase) and not isinstance(b, TensorBase) and bool(a == b)


def _is_default(argument: Argument, value: Any) -> bool:
    if not argument.has_default_value() or isinstance(value, TensorBase):
        return False
    usual = argument.default_value
    if argument.schema_type.name == "Scalar" and not argument.kwarg_only:
        return type(value) is type(usual) and bool(value == usual)  # 1.0 is not 1
    return same(value, usual)


_known: dict[tuple[str, str, int], Form | None] = {}


def form_of(op: OperatorLike, overload: str, inputs: tuple, text: str = "") -> Form | None:
    """The form of a call of an operator; None for one whose options PyTorch does not have so."""
    text = text or _FORMS.get(op.name, "")
    if not text:
        return None
    key = (text, overload, len(inputs))
    if key not in _known:
        _known[key] = Form(text, overload, len(inputs))
    return _known[key]


def variant(op: OperatorLike, inputs: tuple, params: dict) -> tuple[str, str]:
    """The overload and the form of a call for which the options say which one it is."""
    if op.name in ("all_axes", "any_axes"):
        name = op.name[:3]
        axes = params["axis"]
        axes = (axes,) if isinstance(axes, int) else axes
        if len(axes) == len(inputs[0].shape) and not params.get("keepdims"):
            return f"{name}.default", "axis! keepdims!"
        if len(axes) == 1:
            return f"{name}.dim", "axis:one_axis keepdims"
        return f"{name}.dims", "axis* keepdims"
    return "", ""
