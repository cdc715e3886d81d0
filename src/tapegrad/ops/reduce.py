"""Reductions: sum, mean and what is built on them."""

from __future__ import annotations

from typing import Any

from tapegrad.call import finish
from tapegrad.op import linear
from tapegrad.shape import axes_of


def spread(xp: Any, g: Any, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> Any:
    """The cotangent of a reduction over `axis`, repeated along it."""
    if not keepdims and axis:
        kept = tuple(1 if i in axis else n for i, n in enumerate(shape))
        g = xp.reshape(g, kept)
    return xp.broadcast_to(g, shape)


@linear(node="SumBackward0")
def sum_all(xp, x):
    """The sum of all elements."""
    return xp.sum(x)


sum_all.vjp(x=lambda xp, g, x_like: xp.broadcast_to(g, x_like.shape))


@linear(node="SumBackward1")
def sum_axes(xp, x, *, axis, keepdims):
    """The sum over `axis`."""
    return xp.sum(x, axis=axis, keepdims=keepdims)


sum_axes.vjp(x=lambda xp, g, x_like, axis, keepdims: spread(xp, g, x_like.shape, axis, keepdims))


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None):
    """The sum of all elements, or over `dim`.

    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0)
    tensor([4., 6.])
    """
    if dtype is not None:
        input = input.to(dtype)
    if dim is None and not keepdim:
        return finish("sum", sum_all(input), out)
    axis = axes_of(dim, input.ndim)
    return finish("sum", sum_axes(input, axis=axis, keepdims=keepdim), out)
