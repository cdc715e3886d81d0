"""Channels brought to mean 0 and variance 1: the operators of batch and group normalisation.

Inputs have shape (N, C, ...). The statistics are those of a channel over all samples (batch), or of
a group of channels of one sample (group, instance).
"""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core.annotations import Array, Namespace
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.dispatch.op import primitive
from tapegrad.operators.nn.layer_norm import standardized, standardized_rule

# --- on any arrays: what derivatives of derivatives and forward rules run on ------------------


def _grouped(xp: Namespace, x: Array, groups: int | None) -> tuple:
    """`x` in a shape of which whole axes are standardised, and those axes."""
    n, c, *rest = x.shape
    if groups is None:
        return x, (0, *range(2, len(x.shape)))
    return xp.reshape(x, (n, groups, c // groups, *rest)), tuple(range(2, len(x.shape) + 1))


def _along_channels(xp: Namespace, weight: Array, x: Array) -> Any:
    """A number for each channel in a shape that broadcasts with `x`."""
    return xp.reshape(weight, (1, x.shape[1], *(1,) * (len(x.shape) - 2)))


def _standard(xp: Namespace, x: Array, groups: int | None, eps: float) -> Any:
    grouped, axes = _grouped(xp, x, groups)
    return xp.reshape(standardized(xp, grouped, axes, eps)[0], x.shape)


def _standard_rule(xp: Namespace, t: Array, x: Array, groups: int | None, eps: float) -> Any:
    grouped, axes = _grouped(xp, x, groups)
    changed = standardized_rule(xp, xp.reshape(t, grouped.shape), grouped, axes, eps)
    return xp.reshape(changed, x.shape)


# --- operators -------------------------------------------------------------------------------

_KERNELS = (
    "channel_moments",
    "standardize_channels",
    "standardize_channels_back",
    "standardize_channels_weight_back",
    "sum_channels",
)


def _forward(xp, input, weight, bias, groups, eps):
    mean, variance = xp.channel_moments(input, groups)
    y = xp.standardize_channels(input, mean, variance, weight, bias, groups, eps)
    return y, mean, variance


@primitive(
    node="NativeBatchNormBackward0",
    outputs=("result", "mean", "variance"),
    nondiff=("mean", "variance"),
    kernels=_KERNELS,
)
def batch_standardize(xp, input, weight, bias, *, eps):
    """(x - mean) / sqrt(variance + eps) * weight + bias, moments of each channel of the batch."""
    return _forward(xp, input, weight, bias, None, eps)


@primitive(
    node="NativeGroupNormBackward0",
    outputs=("result", "mean", "variance"),
    nondiff=("mean", "variance"),
    kernels=_KERNELS,
)
def group_standardize(xp, input, weight, bias, *, groups, eps):
    """(x - mean) / sqrt(variance + eps) * weight + bias, moments of groups of channels."""
    return _forward(xp, input, weight, bias, groups, eps)


def _input_rule(xp, g, input, weight, mean, variance, groups, eps):
    return xp.standardize_channels_back(g, input, weight, mean, variance, groups, eps)


def _weight_rule(xp, g, input, mean, variance, weight_like, groups, eps):
    return xp.standardize_channels_weight_back(g, input, mean, variance, weight_like, groups, eps)


def _bias_rule(xp, g, bias_like):
    return xp.sum_channels(g, bias_like)


batch_standardize.vjp(
    input=lambda xp, g, input, weight, mean, variance, eps: _input_rule(
        xp, g, input, weight, mean, variance, None, eps
    ),
    weight=lambda xp, g, input, mean, variance, weight_like, eps: _weight_rule(
        xp, g, input, mean, variance, weight_like, None, eps
    ),
    bias=_bias_rule,
)
group_standardize.vjp(input=_input_rule, weight=_weight_rule, bias=_bias_rule)


def _input_tangent(xp, t, input, weight, groups, eps):
    t = _standard_rule(xp, t, input, groups, eps)
    return t if weight is None else t * _along_channels(xp, weight, input)


def _weight_tangent(xp, t, input, groups, eps):
    return _along_channels(xp, t, input) * _standard(xp, input, groups, eps)


def _bias_tangent(xp, t, input_like):
    return xp.broadcast_to(_along_channels(xp, t, input_like), input_like.shape)


batch_standardize.jvp(
    input=lambda xp, t, input, weight, eps: _input_tangent(xp, t, input, weight, None, eps),
    weight=lambda xp, t, input, eps: _weight_tangent(xp, t, input, None, eps),
    bias=_bias_tangent,
)
group_standardize.jvp(input=_input_tangent, weight=_weight_tangent, bias=_bias_tangent)


@primitive(
    node="NativeBatchNormBackward0",
    hidden=("mean", "variance"),
    kernels=(*_KERNELS, "scale_channels"),
)
def channel_standardize(xp, input, weight, bias, mean, variance, *, eps):
    """(x - mean) / sqrt(variance + eps) * weight + bias with given moments of each channel."""
    return xp.standardize_channels(input, mean, variance, weight, bias, None, eps)


channel_standardize.vjp(
    input=lambda xp, g, weight, variance, eps: xp.scale_channels(g, variance, weight, eps),
    weight=lambda xp, g, input, mean, variance, weight_like, eps: xp.standardize_given_weight_back(
        g, input, mean, variance, weight_like, eps
    ),
    bias=_bias_rule,
)
channel_standardize.jvp(
    input=lambda xp, t, weight, variance, eps: xp.scale_channels(t, variance, weight, eps),
    weight=lambda xp, t, input, mean, variance, eps: (
        _along_channels(xp, t, input) * _given_standard(xp, input, mean, variance, eps)
    ),
    bias=_bias_tangent,
)


def _given_standard(xp: Namespace, x: Array, mean: Array, variance: Array, eps: float) -> Any:
    scale = 1 / xp.sqrt(variance + eps)
    return (x - _along_channels(xp, mean, x)) * _along_channels(xp, scale, x)


# --- the kernels on tensors, for derivatives of derivatives ---------------------------------------


@tensor_kernel
def standardize_channels_back(
    g: Array, x: Array, weight: Array, mean: Array, variance: Array, groups: int | None, eps: float
) -> Any:
    xp = TENSOR_NAMESPACE()

    g = g if weight is None else g * _along_channels(xp, weight, x)
    return _standard_rule(xp, g, x, groups, eps)


@tensor_kernel
def standardize_channels_weight_back(
    g: Array, x: Array, mean: Array, variance: Array, like: Array, groups: int | None, eps: float
) -> Any:
    xp = TENSOR_NAMESPACE()

    return sum_channels(g * _standard(xp, x, groups, eps), like)


@tensor_kernel
def standardize_given_weight_back(
    g: Array, x: Array, mean: Array, variance: Array, like: Array, eps: float
) -> Any:
    xp = TENSOR_NAMESPACE()

    return sum_channels(g * _given_standard(xp, x, mean, variance, eps), like)


@tensor_kernel
def scale_channels(g: Array, variance: Array, weight: Array, eps: float) -> Any:
    xp = TENSOR_NAMESPACE()

    scale = 1 / xp.sqrt(variance + eps)
    return g * _along_channels(xp, scale if weight is None else scale * weight, g)


@tensor_kernel
def sum_channels(g: Array, like: Array) -> Any:
    xp = TENSOR_NAMESPACE()

    return xp.sum(g, axis=(0, *range(2, len(g.shape))))
