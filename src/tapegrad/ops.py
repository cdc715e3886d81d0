"""The names that PyTorch's dispatcher has for operators: `torch.ops.aten.mm.default`.

    torch.ops.aten                    the names of all operators that tapegrad has
    torch.ops.aten.sum                an operator: PyTorch calls it a packet of overloads
    torch.ops.aten.sum.dim_IntList    one of its overloads: here an operator of its own, as a rule

A policy of selective checkpoints is told of operators by their overloads.
"""

from __future__ import annotations

from functools import cache

import tapegrad
from tapegrad.core import errors
from tapegrad.core.annotations import Any, OperatorLike
from tapegrad.core.missing import missing
from tapegrad.dispatch.op import REGISTRY
from tapegrad.lazy_names import load_operators
from tapegrad.profiler.names import titles_of

# By the names of our operators; the others are the overload "default" of what a profile calls them.
_OVERLOADS = {
    "add_at": "index_put.default",
    "all_axes": "all.dim",
    "any_axes": "any.dim",
    "at_least": "clamp_min.Tensor",
    "at_most": "clamp_max.Tensor",
    "bernoulli_fill": "bernoulli.p",
    "bernoulli_tensor_fill": "bernoulli.Tensor",
    "clamp_to_tensors": "clamp.Tensor",
    "count_axes": "count_nonzero.dim_IntList",
    "deviation": "std.correction",
    "div_rounded": "div.Tensor_mode",
    "fill_masked": "masked_fill.Scalar",
    "fill_masked_with": "masked_fill.Tensor",
    "fill_slices": "index_fill.int_Scalar",
    "fill_slices_with": "index_fill.int_Tensor",
    "index_at": "index.Tensor",
    "index_mask": "index.Tensor",
    "largest_along": "max.dim",
    "largest_of_all": "max.default",
    "lerp_number": "lerp.Scalar",
    "lerp_tensor": "lerp.Tensor",
    "linear_system": "_linalg_solve_ex.default",
    "mantissa_and_exponent": "frexp.Tensor",
    "mean_axes": "mean.dim",
    "median_along": "median.dim",
    "median_of_numbers_along": "nanmedian.dim",
    "members": "isin.Tensor_Tensor",
    "normal_of_both": "normal.Tensor_Tensor",
    "normal_of_mean": "normal.Tensor_float",
    "normal_of_std": "normal.float_Tensor",
    "number_log_y": "xlogy.Scalar_Self",
    "pad_select": "select_backward.default",
    "pad_slice": "slice_backward.default",
    "pow": "pow.Tensor_Scalar",
    "power": "pow.Tensor_Tensor",
    "power_of_number": "pow.Scalar",
    "product_along": "prod.dim_int",
    "remainder_of_number": "remainder.Scalar_Tensor",
    "round_decimals": "round.decimals",
    "scatter_extremum": "scatter_reduce.two",
    "scatter_number": "scatter.value",
    "scatter_product": "scatter_reduce.two",
    "scatter_total": "scatter_reduce.two",
    "scatter_values": "scatter.src",
    "select_index": "select.int",
    "slice_axis": "slice.Tensor",
    "smallest_along": "min.dim",
    "smallest_of_all": "min.default",
    "split_equal": "split.Tensor",
    "split_untracked": "unsafe_split.Tensor",
    "squeeze_axes": "squeeze.dims",
    "squeeze_axis": "squeeze.dim",
    "sum_axes": "sum.dim_IntList",
    "swap_axes": "transpose.int",
    "unbind_axis": "unbind.int",
    "variance": "var.correction",
    "where": "where.self",
    "with_sign_of_number": "copysign.Scalar",
    "x_log_number": "xlogy.Scalar_Other",
    # what PyTorch's public function comes to, of the names that a profile has for it
    "attention": "_scaled_dot_product_flash_attention_for_cpu.default",
    "batch_standardize": "native_batch_norm.default",
    "channel_standardize": "native_batch_norm.default",
    "eigh": "_linalg_eigh.default",
    "eigvalsh": "_linalg_eigh.default",
    "grid_sampler_2d": "grid_sampler_2d.default",
    "grid_sampler_3d": "grid_sampler_3d.default",
    "group_standardize": "native_group_norm.default",
    "layer_standardize": "native_layer_norm.default",
    "log_softmax_along": "_log_softmax.default",
    "norm_along": "linalg_vector_norm.default",
    "pick_classes": "nll_loss_forward.default",
    "pick_places": "nll_loss2d_forward.default",
    "singular_values": "_linalg_svd.default",
    "softmax_along": "_softmax.default",
    "svd": "_linalg_svd.default",
    "to_copy": "_to_copy.default",
    **dict.fromkeys(["plus_number", "add_scaled"], "add.Tensor"),
    **dict.fromkeys(["minus_number", "sub_scaled"], "sub.Tensor"),
    **dict.fromkeys(["subtract_from", "rsub_scaled"], "rsub.Scalar"),
    **{f"{way}_number": f"{name}.Tensor" for way, name in (("times", "mul"), ("over", "div"))},
    **{
        name: name + ".Tensor"
        for name in (
            "add sub mul div eq ne lt le gt ge fmod remainder copysign ldexp xlogy bitwise_and "
            "bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
        ).split()
    },
    **{f"{name}_number": f"{name}.Scalar" for name in ("fmod", "remainder")},
}
_WITH_NUMBERS = frozenset("eq ne lt le gt ge".split())  # PyTorch has an overload for these

# Kernels of other devices and PyTorch's own services: lists of operators to keep name them. No
# operator here is ever called so.
_ELSEWHERE = (
    "_efficient_attention_forward _flash_attention_forward _scaled_dot_product_cudnn_attention "
    "_scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention _scaled_mm"
)


class OpOverload:
    """One overload of an operator. It compares equal to itself alone, and may be called.

    >>> torch.ops.aten.mm.default
    <OpOverload(op='aten.mm', overload='default')>
    >>> torch.ops.aten.mm.default(torch.ones(1, 2), torch.ones(2, 1))
    tensor([[2.]])
    """

    __slots__ = ("_overloadname", "overloadpacket")

    def __init__(self, packet: OpOverloadPacket, name: str):
        self.overloadpacket = packet
        self._overloadname = name

    @property
    def namespace(self) -> str:
        """The collection it is of: "aten"."""
        return "aten"

    def name(self) -> str:
        """The name as it is registered: `aten::add.Tensor`."""
        name = self.overloadpacket._qualified_op_name
        return name if self._overloadname == "default" else f"{name}.{self._overloadname}"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An operator of PyTorch's with all its overloads that tapegrad knows.

    >>> torch.ops.aten.sum
    <OpOverloadPacket(op='aten.sum')>
    >>> torch.ops.aten.sum.overloads()
    ['default', 'dim_IntList']
    """

    def __init__(self, name: str, overloads: frozenset[str]):
        self.__name__ = name
        self._qualified_op_name = f"aten::{name}"
        self._overloads = {each: OpOverload(self, each) for each in sorted(overloads)}

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(self._overloads)

    def __getattr__(self, name: str) -> OpOverload:
        try:
            return self.__dict__["_overloads"][name]
        except KeyError:
            raise errors.advised(
                AttributeError(f"The underlying op of '{self}' has no overload name '{name}'"),
                f"tapegrad has {', '.join(self.overloads())}.",
            ) from None

    def __call__(self, *args: object, **kwargs: object) -> Any:
        try:
            function = getattr(tapegrad, self.__name__)
        except AttributeError:
            raise errors.not_implemented(
                f"torch.ops.{self} cannot be called in tapegrad",
                "It is the name of an operator that a public function uses: call that function.",
            ) from None
        return function(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


OpOverload.__module__ = OpOverloadPacket.__module__ = "torch._ops"


class _Namespace:
    """`torch.ops.aten`: operators by name, each found when it is first asked for."""

    name = "aten"

    def __getattr__(self, name: str) -> OpOverloadPacket:
        overloads = _known().get(name)
        if overloads is None:
            raise errors.advised(
                AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'"),
                "No operator of tapegrad is called so; dir(torch.ops.aten) lists them.",
            )
        packet = self.__dict__[name] = OpOverloadPacket(name, frozenset(overloads))
        return packet

    def __dir__(self) -> list[str]:
        return sorted(_known())


aten = _Namespace()


@cache
def _known() -> dict[str, set[str]]:
    """Of each operator the names of its overloads."""
    load_operators()
    found: dict[str, set[str]] = {name: {"default"} for name in _ELSEWHERE.split()}
    for op in REGISTRY.values():
        name = _name_of(op)
        if name is not None:
            packet, _, overload = name.partition(".")
            found.setdefault(packet, set()).add(overload)
    for name in _WITH_NUMBERS:
        found[name].add("Scalar")
    return found


def _name_of(op: OperatorLike) -> str | None:
    """The overload that an operator is, None for one that PyTorch has not."""
    name = _OVERLOADS.get(op.name)
    if name is None:
        title = titles_of(op.name, op)[0]
        home, _, public = title.partition("::")
        name = f"{public}.default" if home == "aten" else None
    return name


@cache
def _overload(name: str) -> OpOverload:
    packet, _, overload = name.partition(".")
    return getattr(getattr(aten, packet), overload)


def overload_of(op: OperatorLike, inputs: tuple) -> OpOverload | None:
    """The overload that a call of an operator is, None where PyTorch has no such operator."""
    name = _name_of(op)
    if name is None:
        return None
    if op.name in _WITH_NUMBERS and not hasattr(inputs[1], "_array"):
        name = f"{op.name}.Scalar"
    return _overload(name)


def __getattr__(name: str) -> object:
    """The error for a library of operators that tapegrad does not have."""
    raise missing(__name__, name)
