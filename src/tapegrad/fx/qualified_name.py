"""The names by which generated code and printed graphs call functions and types."""

import functools
import types
import typing
from typing import Any

from tapegrad.core.missing import torch_name

_OF_C_NN = frozenset(
    "avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear one_hot "
    "scaled_dot_product_attention softplus softshrink".split()
)
"""Functions of `torch.nn.functional` that PyTorch has in `torch._C._nn`."""

_OF_TORCH = frozenset(
    "adaptive_avg_pool1d avg_pool1d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity hardshrink "
    "native_channel_shuffle pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ "
    "rrelu_ selu_ threshold_".split()
)
"""Functions of `torch.nn.functional` that are those of `torch`."""

_OF_FUNCTIONAL = frozenset(
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod "
    "cdist chain_matmul einsum lu meshgrid norm split stft tensordot unique unique_consecutive "
    "unravel_index".split()
)
"""Functions of `torch` that PyTorch has in `torch.functional`."""

_names: dict[int, tuple[Any, str]] = {}


def _get_qualified_name(func: Any) -> str:
    """The dotted name of a function or class, PyTorch's for what is PyTorch's.

    >>> from tapegrad.fx.node import _get_qualified_name
    >>> _get_qualified_name(torch.nn.functional.gelu)
    'torch._C._nn.gelu'
    >>> _get_qualified_name(getattr)
    'getattr'
    """
    import builtins

    name = getattr(func, "__name__", None)
    if name is not None and getattr(builtins, name, None) is func:
        return name
    known = _names.get(id(func))
    if known is None or known[0] is not func:
        known = _names[id(func)] = func, _find_name(func)
    return known[1]


def _find_name(func: Any) -> str:
    import tapegrad as torch

    module = getattr(func, "__module__", None) or ""
    name = func.__name__
    if module.startswith("torch._ops."):  # an operator of `torch.ops`
        return f"torch.ops.{func}"
    if name == "<lambda>":
        name = getattr(func, "__qualname__", name)
    if module.partition(".")[0] in ("tapegrad", "torch"):
        for owner in torch.Tensor.__mro__:
            if vars(owner).get(name) is func and not isinstance(func, type):
                return f"torch.Tensor.{name}"
        functional = torch.nn.functional
        if vars(functional).get(name, None) is func and name not in _OF_TORCH:
            return f"torch._C._nn.{name}" if name in _OF_C_NN else f"torch.nn.functional.{name}"
        if name == "log_sigmoid":
            return "torch._C._nn.log_sigmoid"
        if getattr(torch, name, None) is func:
            return f"torch.functional.{name}" if name in _OF_FUNCTIONAL else f"torch.{name}"
        for home in ("linalg", "fft", "special"):
            plain = name.removeprefix(f"{home}_")
            if getattr(getattr(torch, home), plain, None) is func or plain != name:
                return f"torch._C._{home}.{home}_{plain}"
        if getattr(torch.nn.init, name, None) is func:
            return f"torch.nn.init.{name}"
    return f"{torch_name(module)}.{name}"


@functools.cache
def reachable(name: str) -> bool:
    """Whether generated code, which has `torch`, finds something by a dotted name."""
    import tapegrad as torch

    first, *path = name.split(".")
    value: Any = torch
    for part in path:
        value = getattr(value, part, None)
    return first == "torch" and value is not None


def _type_repr(obj: Any) -> str:
    """How an annotation is printed."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return _class_name(obj)
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj).replace("tapegrad.tensors.tensor.Tensor", "torch.Tensor")


def _class_name(kind: type) -> str:
    import tapegrad as torch

    module = torch_name(kind.__module__)
    if module.startswith("torch.") and getattr(torch, kind.__qualname__, None) is kind:
        module = "torch"
    return f"{module}.{kind.__qualname__}"


def generic_parts(annotation: Any) -> tuple[Any, tuple] | None:
    """The origin and the arguments of `list[int]` and the like; None for a plain class."""
    arguments = typing.get_args(annotation)
    return (typing.get_origin(annotation), arguments) if arguments else None
