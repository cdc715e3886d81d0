"""Convolutions of batches: samples go along with the images, or are groups of their own."""

from tapegrad.arrays.batched.array import closed, opened
from tapegrad.arrays.batched.below import for_mapped, plain, values_of
from tapegrad.arrays.batched.gather_scatter import apart, together
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, Callable, Shape


def _with_channels(value: Array) -> Any:
    """(batch, N, C, ...) as (N, batch * C, ...)."""
    moved = namespace_of((value,)).moveaxis(value, 0, 1)
    n, size, channels = moved.shape[:3]
    return moved.reshape((n, size * channels, *moved.shape[3:]))


def _from_channels(value: Array, size: int) -> Any:
    """(N, batch * C, ...) as (batch, N, C, ...)."""
    n, all_channels = value.shape[:2]
    split = value.reshape((n, size, all_channels // size if size else 0, *value.shape[2:]))
    return namespace_of((value,)).moveaxis(split, 1, 0)


def _convolution(name: str) -> Any:
    """`convolve` or `convolve_transposed`, linear in images and weights."""

    def function(
        x: Array,
        w: Array,
        bias: Array,
        stride: Shape,
        padding: Shape,
        dilation: Shape,
        groups: int,
        size: Shape,
    ) -> Any:
        level, values, mapped = opened((x, w, bias))
        options = (stride, padding, dilation)
        if level is None:
            return plain(name)(x, w, bias, *options, groups, size)
        if not (mapped[0] or mapped[1]):
            kernel = getattr(namespace_of(values[:2]), name)
            out = closed(level, kernel(*values[:2], None, *options, groups, size), False)
            return _with_bias(out, bias)
        (images, weights, b), batch = values, level.size
        if not mapped[1]:
            inner = None if mapped[2] else b
            kernel = getattr(namespace_of((images, weights)), name)
            y = kernel(together(images), weights, inner, *options, groups, size)
            out = closed(level, apart(y, batch), True)
            return out if inner is not None else _with_bias(out, bias)
        kernel = getattr(namespace_of((images, weights)), name)
        if not mapped[0] and groups == 1 and name == "convolve":
            y = kernel(images, together(weights), None, *options, 1, size)
        else:
            (images,) = values_of(level, x)
            together_ = (_with_channels(images), together(weights), None)
            y = kernel(*together_, *options, batch * groups, size)
        return _with_bias(closed(level, _from_channels(y, batch), True), bias)

    function.__name__ = name
    return function


def _with_bias(y: Array, bias: Array) -> Any:
    if bias is None:
        return y
    return y + bias.reshape((*bias.shape, *(1,) * (len(y.shape) - 2)))


convolve = batching_rule(_convolution("convolve"))
convolve_transposed = batching_rule(_convolution("convolve_transposed"))


@batching_rule
def convolve_weights(
    x: Array, y: Array, stride: Shape, padding: Shape, dilation: Shape, groups: int, size: Shape
) -> Any:
    level, (images, places), mapped = opened((x, y))
    options = (stride, padding, dilation)
    if level is None:
        return plain("convolve_weights")(x, y, *options, groups, size)
    kernel = namespace_of((images, places)).convolve_weights
    if True not in mapped:
        return closed(level, kernel(images, places, *options, groups, size), False)
    if not mapped[0] and groups == 1:
        w = kernel(images, _with_channels(places), *options, 1, size)
    else:
        images, places = values_of(level, x, y)
        whole = _with_channels(images), _with_channels(places)
        w = kernel(*whole, *options, level.size * groups, size)
    return closed(level, apart(w, level.size), True)


def _of_images(kernel: Callable, x: Array, *args: object) -> Any:
    return apart(kernel(together(x.value), *args), x.level.size)


read_blocks = batching_rule(for_mapped(_of_images, "read_blocks"))
sum_blocks = batching_rule(for_mapped(_of_images, "sum_blocks"))
