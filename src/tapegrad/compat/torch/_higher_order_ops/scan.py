"""`scan`: a loop that carries a state along a dimension, and stacks what each step gives."""

from collections.abc import Callable
from typing import Any

from tapegrad.compat.torch._higher_order_ops.body import check_alike, compute, uncaptured
from tapegrad.core.errors import runtime_error
from tapegrad.core.shape import axis_of
from tapegrad.operators.shape.cat_stack import stack
from tapegrad.operators.shape.split_chunk_unbind import unbind
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

__all__ = ["scan"]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """`carry, y = combine_fn(carry, x)` for each `x` along `dim` of `xs`: the last carry, all `y`.

    A recurrent network is a scan. With `reverse=True` it begins at the end of `xs`; each `y`
    still stands where its `x` does: along `dim`, or first where `y` has too few dimensions.

    Args:
        combine_fn: A function of carry and x to the next carry, like `init`, and tensors y.
        init: The first carry: a tensor, or a container of tensors.
        xs: A tensor, or a container of tensors, all as long along `dim`.

    Raises:
        RuntimeError: An argument is not of the kind above, or `xs` has no elements along `dim`.
        UncapturedHigherOrderOpError: A step gives a carry of another shape or dtype, writes into
            what it is given, or gives it back as it is.

    >>> from tapegrad.compat.torch._higher_order_ops import scan
    >>> scan(lambda s, x: (s + x, s * x), torch.tensor(1.0), torch.tensor([1.0, 2.0, 3.0]))
    (tensor(7.), tensor([ 1.,  4., 12.]))
    """
    leaves, tree = tree_flatten(xs)
    if not leaves:
        return init, []
    dim = axis_of(dim, leaves[0].ndim)
    carried, form = tree_flatten(init)
    _check(combine_fn, carried, leaves, dim, reverse)
    steps = list(zip(*[unbind(x, dim) for x in leaves], strict=True))
    carry, given, ys = init, carried, []
    for x in reversed(steps) if reverse else steps:
        operands = (tree_unflatten(given, form), tree_unflatten(x, tree))
        found = compute("torch.scan", combine_fn, operands)
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise uncaptured(
                "torch.scan: improper combine_fn number of returns",
                "Return a tuple (next_carry, y); y may be an empty tuple.",
            )
        carry, y = found
        given = tree_leaves(carry)
        check_alike("init", "carry", carried, given)
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, tree_map(lambda *y: stack(y, dim if dim <= y[0].ndim else 0), *ys)


def _check(combine_fn: Any, carried: list, leaves: list, dim: int, reverse: Any) -> None:
    if not callable(combine_fn):
        raise runtime_error(
            f"Combine_fn must be a callable, but got {combine_fn}",
            "It is a function of carry and x.",
        )
    if not isinstance(reverse, bool):
        raise runtime_error(
            f"Reverse must be a bool, but got {type(reverse)}", "Pass True or False."
        )
    if not carried:
        raise runtime_error("scan() operator requires init leaves.", "Use map without a carry.")
    for x in carried:
        if not isinstance(x, Tensor):
            raise runtime_error(
                f"All init leaves must be a Tensor but got {x}", "Pass torch.tensor(x)."
            )
    if any(x.ndim <= dim or not x.shape[dim] for x in leaves):
        raise runtime_error(
            "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0",
            "There has to be a step.",
        )
    if len({x.shape[dim] for x in leaves}) > 1:
        raise runtime_error(
            f"All xs leaves must have as many steps, but got {[x.shape[dim] for x in leaves]}",
            "Cut them to one length.",
        )
