"""`associative_scan`: what is accumulated along a dimension, in logarithmically many steps.

Source: Blelloch, "Prefix sums and their applications" (1990).
"""

from collections.abc import Callable
from typing import Any

from tapegrad.core.errors import advised, runtime_error, value_error
from tapegrad.core.shape import axis_of
from tapegrad.func.vmap import vmap
from tapegrad.operators.shape.cat_stack import cat, stack
from tapegrad.operators.shape.flip_roll_rot90 import flip
from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import movedim
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten

__all__ = ["associative_scan"]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Tensor:
    """y[0] = x[0], y[i] = combine_fn(y[i - 1], x[i]) along `dim`, for an associative function.

    `combine_fn` is called, under `vmap`, for many pairs of neighbours together, about
    2 log2(n) times for n elements: the sums of neighbours are scanned, and give every second
    result; the others are one step from these. State space models (Mamba) are such a scan.

    Args:
        combine_fn: A function of two elements to one, all containers like `xs`.
        xs: A tensor, or a container of tensors, all as long along `dim`.
        reverse: Whether to accumulate from the end.
        combine_mode: "generic"; "pointwise", PyTorch's default, is for GPUs alone.

    Raises:
        ValueError: An argument is not of the kind above, or `xs` has no elements along `dim`.
        RuntimeError: `reverse` is no bool.

    >>> from tapegrad.compat.torch._higher_order_ops import associative_scan
    >>> x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    >>> associative_scan(torch.mul, x, 0, combine_mode="generic")
    tensor([ 1.,  2.,  6., 24.])
    """
    leaves, tree = tree_flatten(xs)
    dim = axis_of(dim, leaves[0].ndim)
    _check(combine_fn, leaves, dim, reverse, combine_mode)
    leaves = [movedim(x, dim, 0) for x in leaves]
    if reverse:
        leaves = [flip(x, (0,)) for x in leaves]
    found = _scan(_of_pairs(combine_fn, tree), leaves)
    if reverse:
        found = [flip(y, (0,)) for y in found]
    return tree_unflatten([movedim(y, 0, dim) for y in found], tree)


def _scan(combine: Callable[[list, list], list], xs: list) -> list:
    """The scan along the first dimension of each of `xs`."""
    n = xs[0].shape[0]
    if n < 2:
        return xs
    odd = _scan(combine, combine([x[:-1:2] for x in xs], [x[1::2] for x in xs]))
    even = [x[:1] for x in xs]
    if n > 2:
        rest = combine([y[: (n - 1) // 2] for y in odd], [x[2::2] for x in xs])
        even = [cat([x, y]) for x, y in zip(even, rest, strict=True)]
    return [_interleave(a, b) for a, b in zip(even, odd, strict=True)]


def _interleave(a: Tensor, b: Tensor) -> Tensor:
    """a[0], b[0], a[1], b[1], ...; `a` may be longer by one."""
    n = b.shape[0]
    pairs = stack([a[:n], b], 1).flatten(0, 1)
    return cat([pairs, a[n:]]) if a.shape[0] > n else pairs


def _of_pairs(combine_fn: Callable, tree: TreeSpec) -> Callable[[list, list], list]:
    """`combine_fn` for all pairs of two lists of leaves."""
    batched = vmap(combine_fn)

    def combine(a: list, b: list) -> list:
        found = tree_leaves(batched(tree_unflatten(a, tree), tree_unflatten(b, tree)))
        if len(found) != len(a):
            text = (
                f"Combine_fn received wrong number of arguments, expected {2 * len(a)}, "
                f"but got {len(a) + len(found)}"
            )
            raise advised(AssertionError(text), "Return what it is given two of.")
        return found

    return combine


def _check(combine_fn: Any, leaves: list, dim: int, reverse: Any, combine_mode: Any) -> None:
    if not callable(combine_fn):
        raise value_error(
            f"Combine_fn must be a callable, but got {combine_fn}",
            "It is a function of two elements.",
        )
    if not isinstance(reverse, bool):
        raise runtime_error(
            f"Reverse must be a bool, but got {type(reverse)}", "Pass True or False."
        )
    if combine_mode not in ("pointwise", "generic"):
        raise value_error(
            f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}",
            "Pass combine_mode='generic'.",
        )
    if combine_mode == "pointwise":
        raise value_error(
            "For combine_mode='pointwise', all input tensors need to be on CUDA or XPU",
            "Pass combine_mode='generic'.",
        )
    if any(x.ndim <= dim or not x.shape[dim] for x in leaves):
        raise value_error(
            "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0",
            "There has to be an element.",
        )
    sizes = [x.shape[dim] for x in leaves]
    if len(set(sizes)) > 1:
        raise value_error(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension",
            "Cut them to one length.",
        )
