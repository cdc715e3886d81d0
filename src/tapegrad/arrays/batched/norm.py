"""Normalisation of batches: statistics below, weights and biases as what they are, products."""

from tapegrad.arrays.batched.array import Batched, closed, top_level
from tapegrad.arrays.batched.below import for_batch, plain, values_of
from tapegrad.arrays.batched.conv import _from_channels, _with_channels
from tapegrad.arrays.batched.gather_scatter import apart, together
from tapegrad.arrays.batched.like import astype
from tapegrad.arrays.batched.sum_sort import sum as total
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, LevelLike
from tapegrad.core.registration import BATCHED_NAMESPACE

# --- rows ----------------------------------------------------------------------------------------


@batching_rule
def standardize_rows(x: Array, weight: Array, bias: Array, n_axes: int, eps: float) -> Any:
    if top_level((x, weight, bias)) is None:
        return plain("standardize_rows")(x, weight, bias, n_axes, eps)
    if type(x) is Batched:
        out = namespace_of((x.value,)).standardize_rows(x.value, None, None, n_axes, eps)
        y, mean, scale = closed(x.level, out, x.mapped)
    else:
        y, mean, scale = plain("standardize_rows")(x, None, None, n_axes, eps)
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias), mean, scale


@batching_rule
@for_batch
def standardize_rows_back(
    level: LevelLike,
    g: Array,
    x: Array,
    weight: Array,
    mean: Array,
    scale: Array,
    n_axes: int,
    eps: float,
) -> Any:
    if weight is not None:
        return standardize_rows_back(g * weight, x, None, mean, scale, n_axes, eps)
    g, x, mean, scale = values_of(level, g, x, mean, scale)
    kernel = namespace_of((g, x)).standardize_rows_back
    return closed(level, kernel(g, x, None, mean, scale, n_axes, eps), True)


@batching_rule
def standardize_rows_weight_back(
    g: Array, x: Array, mean: Array, scale: Array, like: Array, eps: float
) -> Any:
    if top_level((g, x, mean, scale)) is None:
        return plain("standardize_rows_weight_back")(g, x, mean, scale, like, eps)
    return sum_rows(g * (x - mean) * scale, like)


@batching_rule
def sum_rows(g: Array, like: Array) -> Any:
    if type(g) is not Batched:
        return plain("sum_rows")(g, like)
    axes = tuple(range(len(g.shape) - len(like.shape)))
    return astype(total(g, axis=axes), like.dtype)


# --- channels -------------------------------------------------------------------------------------


def _of_channels(weight: Array, x: Array) -> Any:
    """A number for each channel, in a shape that broadcasts with x (N, C, ...)."""
    return weight.reshape((*weight.shape, *(1,) * (len(x.shape) - 2)))


def _folded(value: Array, groups: int | None) -> Any:
    """Members as channels, whose statistics are their own; with groups, as images."""
    return _with_channels(value) if groups is None else together(value)


def _unfolded(value: Array, size: int, groups: int | None) -> Any:
    return _from_channels(value, size) if groups is None else apart(value, size)


@batching_rule
def channel_moments(x: Array, groups: int | None) -> tuple:
    if type(x) is not Batched:
        return plain("channel_moments")(x, groups)
    kernel = namespace_of((x.value,)).channel_moments
    if not x.mapped:
        return closed(x.level, kernel(x.value, groups), False)
    moments = kernel(_folded(x.value, groups), groups)
    return closed(x.level, tuple([apart(m, x.level.size) for m in moments]), True)


@batching_rule
@for_batch
def standardize_channels(
    level: LevelLike,
    x: Array,
    mean: Array,
    variance: Array,
    weight: Array,
    bias: Array,
    groups: int | None,
    eps: float,
) -> Any:
    if not (weight is bias is None):
        y = standardize_channels(x, mean, variance, None, None, groups, eps)
        y = y if weight is None else y * _of_channels(weight, x)
        return y if bias is None else y + _of_channels(bias, x)
    value, *moments = values_of(level, x, mean, variance)
    moments = [together(m) for m in moments]
    kernel = namespace_of((value,)).standardize_channels
    y = kernel(_folded(value, groups), *moments, None, None, groups, eps)
    return closed(level, _unfolded(y, level.size, groups), True)


@batching_rule
@for_batch
def standardize_channels_back(
    level: LevelLike,
    g: Array,
    x: Array,
    weight: Array,
    mean: Array,
    variance: Array,
    groups: int | None,
    eps: float,
) -> Any:
    if weight is not None:
        weighed = g * _of_channels(weight, x)
        return standardize_channels_back(weighed, x, None, mean, variance, groups, eps)
    g, x, mean, variance = values_of(level, g, x, mean, variance)
    g, x = _folded(g, groups), _folded(x, groups)
    kernel = namespace_of((g, x)).standardize_channels_back
    out = kernel(g, x, None, together(mean), together(variance), groups, eps)
    return closed(level, _unfolded(out, level.size, groups), True)


@batching_rule
def standardize_channels_weight_back(
    g: Array, x: Array, mean: Array, variance: Array, like: Array, groups: int | None, eps: float
) -> Any:
    if top_level((g, x, mean, variance)) is None:
        kernel = plain("standardize_channels_weight_back")
        return kernel(g, x, mean, variance, like, groups, eps)
    return sum_channels(g * standardize_channels(x, mean, variance, None, None, groups, eps), like)


@batching_rule
def standardize_given_weight_back(
    g: Array, x: Array, mean: Array, variance: Array, like: Array, eps: float
) -> Any:
    return standardize_channels_weight_back(g, x, mean, variance, like, None, eps)


@batching_rule
def scale_channels(g: Array, variance: Array, weight: Array, eps: float) -> Any:
    if top_level((g, variance, weight)) is None:
        return plain("scale_channels")(g, variance, weight, eps)
    xp = BATCHED_NAMESPACE()
    factor = 1 / xp.sqrt(variance + eps)
    factor = factor if weight is None else factor * weight
    return astype(g * _of_channels(factor, g), g.dtype)


@batching_rule
def sum_channels(g: Array, like: Array) -> Any:
    if type(g) is not Batched:
        return plain("sum_channels")(g, like)
    axes = (0, *range(2, len(g.shape)))
    return astype(total(g, axis=axes), like.dtype)
