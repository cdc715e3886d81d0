"""Reductions, running sums and sorting of batched arrays: the axes shifted past the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.arrays.batched.array import Batched, closed
from tapegrad.arrays.batched.below import below, for_batch, plain, values_of
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Array


def shifted(axis: Any, ndim: int) -> Any:
    """Axes of a member as axes of the batch; None are all of them."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    if type(axis) is tuple or type(axis) is list:
        return tuple([a % ndim + 1 for a in axis]) if ndim else ()
    return axis % ndim + 1


def _reduction(name: str) -> Callable:
    """A function that goes over several axes at once."""

    def function(x: Array, /, *, axis: Any = None, keepdims: bool = False, **params: Any) -> Any:
        if type(x) is not Batched:
            return plain(name)(x, axis=axis, keepdims=keepdims, **params)
        if not x.mapped:
            out = below(name, x)(x.value, axis=axis, keepdims=keepdims, **params)
            return closed(x.level, out, False)
        axes = shifted(axis, len(x.shape)) if x.shape else ()
        if axes == ():
            return _over_nothing(name, x, params)
        return closed(
            x.level, below(name, x)(x.value, axis=axes, keepdims=keepdims, **params), True
        )

    function.__name__ = name
    return function


def _over_nothing(name: str, x: Array, params: dict) -> Any:
    """A reduction over no axis."""
    if name in ("all", "any"):
        return x != 0
    if name == "count_nonzero":
        return (x != 0).astype("int64")
    dtype = params.get("dtype")
    return x.astype(x.dtype if dtype is None else getattr(dtype, "numpy", dtype))


all = batching_rule(_reduction("all"))
any = batching_rule(_reduction("any"))
count_nonzero = batching_rule(_reduction("count_nonzero"))
max = batching_rule(_reduction("max"))
mean = batching_rule(_reduction("mean"))
min = batching_rule(_reduction("min"))
prod = batching_rule(_reduction("prod"))
sum = batching_rule(_reduction("sum"))


def _place(name: str) -> Callable:
    """argmax and argmin."""

    def function(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        if type(x) is not Batched:
            return plain(name)(x, axis=axis, keepdims=keepdims)
        if not x.mapped:
            return closed(x.level, below(name, x)(x.value, axis=axis, keepdims=keepdims), False)
        ndim = len(x.shape)
        if axis is None or not ndim:
            flat = x.value.reshape((x.value.shape[0], -1 if x.size else 0))
            out = below(name, x)(flat, axis=1)
            return closed(x.level, out.reshape((-1, *(1,) * ndim)) if keepdims else out, True)
        out = below(name, x)(x.value, axis=shifted(axis, ndim), keepdims=keepdims)
        return closed(x.level, out, True)

    function.__name__ = name
    return function


argmax = batching_rule(_place("argmax"))
argmin = batching_rule(_place("argmin"))


def _along(name: str, default: Any = -1) -> Callable:
    """A function along one axis, `axis=`, that keeps the shape."""

    def function(x: Array, /, *, axis: Any = default, **params: Any) -> Any:
        if type(x) is not Batched:
            return plain(name)(x, axis=axis, **params)
        if not x.mapped:
            return closed(x.level, below(name, x)(x.value, axis=axis, **params), False)
        value = x.value if x.shape else x.value.reshape((x.value.shape[0], 1))
        axis = 1 if axis is None or not x.shape else shifted(axis, len(x.shape))
        out = closed(x.level, below(name, x)(value, axis=axis, **params), True)
        return out if x.shape else out.reshape(())

    function.__name__ = name
    return function


argsort = batching_rule(_along("argsort"))
cumulative_prod = batching_rule(_along("cumulative_prod", None))
cumulative_sum = batching_rule(_along("cumulative_sum", None))
sort = batching_rule(_along("sort"))


def _with_axis(name: str) -> Callable:
    """A function along one axis, given by place, of one array."""

    def function(x: Array, axis: int) -> Any:
        if type(x) is not Batched:
            return plain(name)(x, axis)
        if not x.mapped:
            return closed(x.level, below(name, x)(x.value, axis), False)
        if not x.shape:
            out = below(name, x)(x.value.reshape((x.value.shape[0], 1)), 1)
            return closed(x.level, out, True).reshape(())
        return closed(x.level, below(name, x)(x.value, shifted(axis, len(x.shape))), True)

    function.__name__ = name
    return function


log_softmax_along = batching_rule(_with_axis("log_softmax_along"))
softmax_along = batching_rule(_with_axis("softmax_along"))


def _back_along(name: str) -> Callable:
    """A reverse rule along one axis, of the cotangent and the output."""

    def function(level: Any, g: Array, y: Array, axis: int) -> Any:
        ndim, n = len(y.shape), level.size
        values = values_of(level, g, y)
        kernel = getattr(namespace_of(values), name)
        if ndim:
            return closed(level, kernel(*values, shifted(axis, ndim)), True)
        return closed(level, kernel(*[v.reshape((n, 1)) for v in values], 1).reshape((n,)), True)

    function.__name__ = name
    return for_batch(function)


log_softmax_back = batching_rule(_back_along("log_softmax_back"))
softmax_back = batching_rule(_back_along("softmax_back"))


def _transform(name: str) -> Callable:
    """A Fourier transform along axes."""

    def function(x: Array, axes: tuple[int, ...], *args: Any) -> Any:
        if type(x) is not Batched:
            return plain(name)(x, axes, *args)
        moved = shifted(tuple(axes), len(x.shape)) if x.mapped else axes
        return closed(x.level, below(name, x)(x.value, moved, *args), x.mapped)

    function.__name__ = name
    return function


fourier = batching_rule(_transform("fourier"))
fourier_half = batching_rule(_transform("fourier_half"))
fourier_real = batching_rule(_transform("fourier_real"))
