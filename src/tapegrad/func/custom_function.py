"""Custom functions inside `vmap`: their own rule, or their methods on batched tensors.

innermost is vmap          the function's `vmap` gets the batches, one level further out; what it
                           does with them is recorded, pushed and mapped as anything else is
it is differentiated       its `vmap` computes the result; `backward` and `jvp` run on batched
inside vmap                tensors, as operators do
"""

from typing import Any, NamedTuple

from tapegrad.autograd.mode import MODE, TRANSFORMS, Mode
from tapegrad.core import errors
from tapegrad.core.annotations import LevelLike, ModeLike, Tensor
from tapegrad.core.tensor_base import TensorBase
from tapegrad.func.level import axis_of_batch, enter, is_inside, leave
from tapegrad.func.vmap_mode import Mapping, is_mapped
from tapegrad.utils._pytree.tree import tree_flatten as flatten
from tapegrad.utils._pytree.tree import tree_unflatten as unflatten

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a function's `vmap` is told of the batch."""

    batch_size: int
    randomness: str


def mapping_of(mode: ModeLike, args: tuple) -> Mapping | None:
    """The innermost level of `vmap` that one of the arguments is mapped in."""
    leaves, _ = flatten(args)
    while isinstance(mode, Mode):
        if isinstance(mode, Mapping) and any(_is_mapped(x, mode.level) for x in leaves):
            return mode
        mode = mode.under
    return None


def _is_mapped(x: object, level: LevelLike) -> bool:
    return isinstance(x, TensorBase) and is_mapped(x._array, level)


def own_rule(function: Any, separate: bool) -> bool:
    """Whether a function has a `vmap` of its own; raises if it does not go with vmap at all."""
    from tapegrad.autograd.function import Function

    if not separate:
        raise errors.runtime_error(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            f"jacrev, ...), it must override the setup_context staticmethod. {_MORE}",
            "Write forward(*args) and setup_context(ctx, inputs, output).",
        )
    own = function.vmap is not Function.vmap
    name = function.__name__
    if own and function.generate_vmap_rule:
        raise errors.runtime_error(
            f"You tried to vmap over {name}, but it has both generate_vmap_rule=True and an "
            "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            f"overridden vmap staticmethod to avoid ambiguity. {_MORE}",
            "One of the two.",
        )
    if not own and not function.generate_vmap_rule:
        raise errors.runtime_error(
            f"You tried to vmap over {name}, but it does not have vmap support. Please "
            "override and implement the vmap staticmethod or set generate_vmap_rule=True. "
            f"{_MORE}",
            "generate_vmap_rule = True will do where its methods are made of tensor operators.",
        )
    return own


def is_innermost(mapping: Mapping) -> bool:
    """Whether no transform has begun since this level of `vmap` did."""
    return mapping.level.transforms is TRANSFORMS.get()


def mapped(function: Any, args: tuple, mapping: Mapping) -> Any:
    """What the function's own `vmap` gives for batched arguments."""
    level = mapping.level

    def outside(x: Tensor) -> Any:
        if isinstance(x, TensorBase) and is_inside(x._array, level):
            batch = leave(x, axis=axis_of_batch(x._array, level), level=level)
            return batch if is_mapped(x._array, level) else batch[0]
        return x

    token = MODE.set(_less(MODE.get(), mapping))
    before = TRANSFORMS.set(level.transforms[0] if level.transforms else None)
    try:
        leaves, structure = flatten(args)
        given = unflatten([outside(x) for x in leaves], structure)
        dims = [axis_of_batch(x._array, level) if _is_mapped(x, level) else None for x in leaves]
        info = VmapInfo(level.size, level.randomness)
        return _inside(function.vmap(info, unflatten(dims, structure), *given), level)
    finally:
        TRANSFORMS.reset(before)
        MODE.reset(token)


def _less(mode: ModeLike, mapping: Mapping) -> Any:
    """`mode` less one level of `vmap`."""
    return mode.under if _level(mode) is mapping.level else mode.over(_less(mode.under, mapping))


def _level(mode: ModeLike) -> Any:
    return mode.level if isinstance(mode, Mapping) else None


def _inside(found: object, level: LevelLike) -> Any:
    """Results of a function's `vmap` as tensors of the level."""
    if not (isinstance(found, tuple) and len(found) == 2):
        raise errors.runtime_error(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            f"pytree structure compatible with the output. Got a {type(found)} instead",
            "Return (output, out_dims).",
        )
    output, out_dims = found
    leaves, structure = flatten(output)
    dims, own = flatten(out_dims)
    if own.is_leaf():
        dims = dims * len(leaves)
    elif own != structure:
        raise errors.runtime_error(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, "
            f"out_dims) tuple. Expected out_dims={out_dims} to be compatible with the "
            f"structure of `output`. out_dims has structure {own} but output has "
            f"structure {structure}. {_MORE}",
            "Give a number or None for each result.",
        )
    return unflatten(
        [_entered(x, dim, level) for x, dim in zip(leaves, dims, strict=True)], structure
    )


def _entered(x: Tensor, dim: int | None, level: LevelLike) -> Any:
    if dim is None or not isinstance(x, TensorBase):
        return x
    if not isinstance(dim, int):
        raise errors.type_error(
            f"out_dims of a vmap staticmethod are numbers or None, not {dim!r}",
            "Say which dimension of the result is the batch.",
        )
    return enter(x, axis=dim % len(x._array.shape), level=level)
