"""Sums of rows, as gradients of biases are: `xp.sum` over the first axes where it is called alone.

Threads share the columns. Programs have loops of their own.
"""

from math import prod

from tapegrad.compiler.c_backend.templates.call import (
    Call,
    Instance,
    is_row_major,
    require,
    template,
)
from tapegrad.core.annotations import Any


@template("xp.sum")
def sum_of_rows(at: Instance) -> Call:
    (x,), axis = at.args, at.kwargs.get("axis")
    axes: Any = (axis,) if type(axis) is int else axis
    shape = at.shape(x)
    require(at.kwargs.get("dtype") is None and type(axes) is tuple)
    require(axes == tuple(range(len(axes))) and 0 < len(axes) < len(shape))
    t, rows, n = at.real(x), prod(shape[: len(axes)]), prod(shape[len(axes) :])
    require(is_row_major(shape, at.of(x).strides, at.dtype(x).itemsize))
    return at.call(f"tg_sum_rows_{t}", [x, rows, n, n], work=rows * n)
