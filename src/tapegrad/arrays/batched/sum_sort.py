"""Reductions, running sums and sorting of batched arrays: the axes shifted past the batch."""

from tapegrad.arrays.batched.array import closed
from tapegrad.arrays.batched.below import for_batch, for_mapped, values_of
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, Callable, Dim, LevelLike


def shifted(axis: Any, ndim: int) -> Any:
    """Axes of a sample as axes of the batch; None are all of them."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    if type(axis) is tuple or type(axis) is list:
        return tuple([a % ndim + 1 for a in axis]) if ndim else ()
    return axis % ndim + 1


def _reduction(name: str) -> Callable:
    """A function that goes over several axes at once."""

    def function(
        kernel: Callable, x: Array, /, *, axis: Dim = None, keepdims: bool = False, **params: object
    ) -> Any:
        axes = shifted(axis, len(x.shape)) if x.shape else ()
        if axes == ():
            return _over_nothing(name, x.value, params)
        return kernel(x.value, axis=axes, keepdims=keepdims, **params)

    return for_mapped(function, name)


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


def _place(kernel: Callable, x: Array, /, *, axis: Dim = None, keepdims: bool = False) -> Any:
    """argmax and argmin."""
    ndim = len(x.shape)
    if axis is None or not ndim:
        out = kernel(x.value.reshape((x.value.shape[0], -1 if x.size else 0)), axis=1)
        return out.reshape((-1, *(1,) * ndim)) if keepdims else out
    return kernel(x.value, axis=shifted(axis, ndim), keepdims=keepdims)


argmax = batching_rule(for_mapped(_place, "argmax"))
argmin = batching_rule(for_mapped(_place, "argmin"))


def _along(kernel: Callable, x: Array, /, *, axis: Dim = -1, **params: object) -> Any:
    """A function along one axis, `axis=`, that keeps the shape."""
    if axis is not None and x.shape:
        return kernel(x.value, axis=shifted(axis, len(x.shape)), **params)
    value = x.value if x.shape else x.value.reshape((x.value.shape[0], 1))
    out = kernel(value, axis=1, **params)
    return out if x.shape else out.reshape(x.value.shape)


def _running(kernel: Callable, x: Array, /, *, axis: Dim = None, **params: object) -> Any:
    return _along(kernel, x, axis=axis, **params)


argsort = batching_rule(for_mapped(_along, "argsort"))
sort = batching_rule(for_mapped(_along, "sort"))
cumulative_prod = batching_rule(for_mapped(_running, "cumulative_prod"))
cumulative_sum = batching_rule(for_mapped(_running, "cumulative_sum"))


def _with_axis(kernel: Callable, x: Array, axis: int) -> Any:
    """A function along one axis, given by place, of one array."""
    if not x.shape:
        return kernel(x.value.reshape((x.value.shape[0], 1)), 1).reshape(x.value.shape)
    return kernel(x.value, shifted(axis, len(x.shape)))


log_softmax_along = batching_rule(for_mapped(_with_axis, "log_softmax_along"))
softmax_along = batching_rule(for_mapped(_with_axis, "softmax_along"))


def _back_along(name: str) -> Callable:
    """A reverse rule along one axis, of the cotangent and the output."""

    def function(level: LevelLike, g: Array, y: Array, axis: int) -> Any:
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


def _transform(kernel: Callable, x: Array, axes: tuple[int, ...], *args: object) -> Any:
    """A Fourier transform along axes."""
    return kernel(x.value, shifted(tuple(axes), len(x.shape)), *args)


fourier = batching_rule(for_mapped(_transform, "fourier"))
fourier_half = batching_rule(for_mapped(_transform, "fourier_half"))
fourier_real = batching_rule(for_mapped(_transform, "fourier_real"))
