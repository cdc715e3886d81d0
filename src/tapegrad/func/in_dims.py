"""The dimensions that `vmap` maps over: matched with the trees of arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.core import errors
from tapegrad.core.tensor_base import TensorBase
from tapegrad.func.pytree import LEAF, Branch, flatten, text


def name_of(func: Callable) -> str:
    """The name of a function in errors."""
    return getattr(func, "__name__", None) or repr(func)


def mapped_arguments(func: Callable, in_dims: Any, args: tuple) -> tuple[list, list, Any, int]:
    """The dimension of each leaf of the arguments, the leaves, their structure, the size."""
    start = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise errors.value_error(
            f"{start}expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}.",
            "Write a tuple with a number or None for each argument.",
        )
    if not args:
        raise errors.value_error(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, "
            "or you are trying to vmap over a function with no inputs. The latter is "
            "unsupported.",
            "Pass at least one tensor by place.",
        )
    leaves, structure = flatten(args)
    dims = _matched(start, "in_dims", in_dims, "inputs", structure)
    sizes = []
    for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
        dims[i] = _checked(start, x, dim)
        if dim is not None:
            sizes.append(x.shape[dims[i]])
    return dims, leaves, structure, batch_size(sizes)


def _matched(start: str, name: str, given: Any, whose: str, structure: Any) -> list:
    """A dimension for each tensor of a tree, from a number or tree of numbers called `name`."""
    dims = spread_over(given, structure)
    if dims is None:
        raise errors.value_error(
            f"{start}{name} is not compatible with the structure of `{whose}`. {name} has "
            f"structure {text(flatten(given)[1])} but {whose} has structure {text(structure)}.",
            "A number stands for everything below it.",
        )
    return dims


def _checked(start: str, x: Any, dim: Any) -> Any:
    """A dimension counted from the front, checked against its argument."""
    if not isinstance(dim, int):
        if dim is None:
            return None
        raise errors.value_error(
            f"{start}Got in_dim={dim} for an input but in_dim must be either an integer "
            "dimension or None.",
            "None says that the input is the same for each member.",
        )
    if not isinstance(x, TensorBase):
        raise errors.value_error(
            f"{start}Got in_dim={dim} for an input but the input is of type {type(x)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim",
            "Write in_dims as a tuple, with None for it.",
        )
    if isinstance(dim, bool):
        raise errors.type_error(
            "size(): argument 'dim' (position 1) must be int, not bool",
            "Number the dimension: 0 is the first.",
        )
    ndim = x.ndim
    if not -ndim <= dim < ndim:
        raise errors.value_error(
            f"{start}Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}.",
            "in_dims names the dimension of each argument that is mapped over.",
        )
    return dim % ndim


def batch_size(sizes: list) -> int:
    """The one size of all mapped dimensions."""
    if not sizes:
        raise errors.value_error(
            "vmap: Expected at least one Tensor to vmap over", "in_dims has None for all arguments."
        )
    if len(set(sizes)) > 1:
        raise errors.value_error(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got "
            f"sizes {sizes} for the mapped dimension",
            "A batch has as many members in each argument.",
        )
    return sizes[0]


def spread_over(prefix: Any, structure: Any) -> list | None:
    """A leaf of `prefix` for each leaf of a structure that it is the beginning of."""
    if structure is LEAF:
        return [prefix] if flatten(prefix)[1] is LEAF else None
    if flatten(prefix)[1] is LEAF:
        return [prefix] * len(_leaves_of(structure))
    own = flatten(prefix)[1]
    kind = type(prefix)
    if kind is not structure.kind or len(own.below) != len(structure.below):
        return None
    if own.keys is not None:
        if set(own.keys) != set(structure.keys):
            return None
        entries = [prefix[key] for key in structure.keys]
    else:
        entries = list(prefix)
    found: list[Any] = []
    for entry, below in zip(entries, structure.below, strict=True):
        part = spread_over(entry, below)
        if part is None:
            return None
        found += part
    return found


def _leaves_of(structure: Any) -> list:
    if not isinstance(structure, Branch):
        return [structure]
    return [leaf for each in structure.below for leaf in _leaves_of(each)]


# --- results ---


def places_of(func: Callable, out_dims: Any, structure: Any) -> list:
    """The dimension of each result, as it was given."""
    start = f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): "
    if structure is LEAF and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    dims = _matched(start, "out_dims", out_dims, "outputs", structure)
    for dim in dims:
        if dim is not None and not isinstance(dim, int):
            raise errors.value_error(
                f"{start[:-12]}: `out_dims` must be an int, None or a python collection of "
                "ints representing where in the outputs the vmapped dimension should appear.",
                "Write a number for each result.",
            )
    return dims
