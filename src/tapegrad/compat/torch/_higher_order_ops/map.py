"""`map`: a function of each part of a tensor, one after another."""

from collections.abc import Callable
from typing import Any

from tapegrad.compat.torch._higher_order_ops.body import compute
from tapegrad.core.errors import runtime_error
from tapegrad.operators.shape.cat_stack import stack
from tapegrad.operators.shape.split_chunk_unbind import unbind
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["map"]


def map(f: Callable, xs: Any, *args: Any) -> Any:
    """`f(x, *args)` of each `x` along the first dimension of `xs`, stacked.

    `torch.vmap` computes them together, which takes less time and more memory.

    Args:
        f: A function to tensors or None, alone or in containers.
        xs: A tensor, or a container of tensors, all as long along the first dimension.
        args: What `f` is given besides, as it is.

    Raises:
        RuntimeError: `xs` has something else in it, no elements, or tensors of several lengths.
        UncapturedHigherOrderOpError: `f` writes into what it is given, or gives it back.

    >>> from tapegrad.compat.torch._higher_order_ops import map
    >>> map(lambda x, y: x @ y, torch.eye(2), torch.tensor([3.0, 4.0]))
    tensor([3., 4.])
    """
    leaves, tree = tree_flatten(xs)
    if not all(isinstance(x, Tensor) for x in leaves):
        raise runtime_error(
            f"Mapped xs can only consist of tensors. Got xs {leaves}.",
            "Pass what is the same for each part after xs.",
        )
    shapes = [x.shape for x in leaves]
    if not shapes[0][0]:
        raise runtime_error(
            "Leading dimensions of mapped xs cannot be 0.", "There has to be a part."
        )
    if any(shape[0] != shapes[0][0] for shape in shapes):
        raise runtime_error(
            f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.",
            "Cut them to one length.",
        )
    parts = [tree_unflatten(x, tree) for x in zip(*[unbind(x) for x in leaves], strict=True)]
    ys = [compute("torch.map", f, (x, *args), Tensor | None) for x in parts]
    return tree_map(lambda *y: None if y[0] is None else stack(y), *ys)
