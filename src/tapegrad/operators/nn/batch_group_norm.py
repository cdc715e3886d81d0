"""Batch, group and instance normalisation of inputs of shape (N, C, ...)."""

import operator
from math import prod

import numpy as np

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.namespaces import mapped_beyond
from tapegrad.arrays.numpy.channel_layout import SHARED_SUMS
from tapegrad.autograd.writable import check_constant
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.result_order import channels_as_first
from tapegrad.core.shape import existing_axis, no_dimensions, out_of_range
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import require_floating
from tapegrad.operators.nn import layer_norm
from tapegrad.operators.nn.pool_size import array_of

__torch__ = "batch_norm group_norm instance_norm native_batch_norm"


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
    return xp.reshape(layer_norm.standardized(xp, grouped, axes, eps)[0], x.shape)


def _standard_rule(xp: Namespace, t: Array, x: Array, groups: int | None, eps: float) -> Any:
    grouped, axes = _grouped(xp, x, groups)
    changed = layer_norm.standardized_rule(xp, xp.reshape(t, grouped.shape), grouped, axes, eps)
    return xp.reshape(changed, x.shape)


# --- operators -------------------------------------------------------------------------------

_KERNELS = (
    "channel_moments",
    "standardize_channels",
    "standardize_channels_back",
    "standardize_channels_weight_back",
    "sum_channels",
)


def _bias_rule(xp, g, bias_like):
    return xp.sum_channels(g, bias_like)


def _input_tangent(xp, t, input, weight, groups, eps):
    t = _standard_rule(xp, t, input, groups, eps)
    return t if weight is None else t * _along_channels(xp, weight, input)


def _bias_tangent(xp, t, y):
    return xp.broadcast_to(_along_channels(xp, t, y), y.shape)


def _standardizing(name: str, node: str) -> Any:
    @primitive(
        name=name,
        node=node,
        outputs=("result", "mean", "variance"),
        nondiff=("mean", "variance"),
        kernels=_KERNELS,
        order=channels_as_first,
        shared=SHARED_SUMS,
    )
    def standardize(xp, input, weight, bias, *, groups, eps):
        """(x - mean) / sqrt(variance + eps) * weight + bias, moments of groups of channels.

        Without groups they are the moments of each channel of the batch.
        """
        mean, variance = xp.channel_moments(input, groups)
        y = xp.standardize_channels(input, mean, variance, weight, bias, groups, eps)
        return y, mean, variance

    standardize.vjp(
        input=lambda xp, g, input, weight, mean, variance, groups, eps: (
            xp.standardize_channels_back(g, input, weight, mean, variance, groups, eps)
        ),
        weight=lambda xp, g, input, mean, variance, weight_like, groups, eps: (
            xp.standardize_channels_weight_back(g, input, mean, variance, weight_like, groups, eps)
        ),
        bias=_bias_rule,
    )
    standardize.jvp(
        input=_input_tangent,
        weight=lambda xp, t, input, groups, eps: (
            _along_channels(xp, t, input) * _standard(xp, input, groups, eps)
        ),
        bias=_bias_tangent,
    )
    return standardize


batch_standardize = _standardizing("batch_standardize", "NativeBatchNormBackward0")
group_standardize = _standardizing("group_standardize", "NativeGroupNormBackward0")


@primitive(
    node="NativeBatchNormBackward0",
    hidden=("mean", "variance"),
    kernels=(*_KERNELS, "scale_channels"),
    order=channels_as_first,
    shared=SHARED_SUMS,
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
for _operator in (batch_standardize, channel_standardize):
    one_node("NativeBatchNormBackwardBackward0", "input weight", of="bias")(_operator)


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


_SHAPE = "The input has shape (N, C, ...): a batch of samples with C channels."


def _are_plain(array: Any, parameters: tuple) -> bool:
    """Whether the input and its statistics and parameters are what they mostly are: all is well."""
    if type(array) is not np.ndarray or array.ndim < 2 or array.dtype.char not in "fd":
        return False
    shape, dtype = (array.shape[1],), array.dtype
    for x in parameters:
        if x is not None and (x._array.shape != shape or x._array.dtype is not dtype):
            return False
    return all([x is None or (x._node is None and x._view is None) for x in parameters[:2]])


def _check_batch(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Any, variance: Any
) -> None:
    if _are_plain(input._array, (mean, variance, weight, bias)):
        return
    shape = input._array.shape
    channels = shape[1] if len(shape) > 1 else 0
    for argument, x in (
        ("running_mean", mean),
        ("running_var", variance),
        ("weight", weight),
        ("bias", bias),
    ):
        if x is not None and x._array.size != channels:
            text = f"{argument} should contain {channels} elements not {x._array.size}"
            advice = f"The input has {channels} channels, its second dimension."
            raise errors.runtime_error(text, advice)
    if len(shape) < 2:
        raise out_of_range(1, 1, _SHAPE) if shape else no_dimensions(1, _SHAPE)
    check_constant("native_batch_norm", "running_mean", mean)
    check_constant("native_batch_norm", "running_var", variance)
    require_floating("batch_norm", input)
    layer_norm.same_kind(input, weight, bias, mean, variance)
    layer_norm.one_kind(weight, bias, mean, variance)
    for x in (mean, variance):
        if x is not None and x._array.ndim != 1:
            text = f"TensorAccessor expected 1 dims but tensor has {x._array.ndim}"
            raise errors.runtime_error(text, f"Flatten it: it has {channels} numbers.")


def _batch(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple:
    """The result, and mean and variance of the batch in training, else None."""
    if array_of("batch_norm", input).shape == (0,):
        return input.clone(), None, None
    if not training:
        for name, x in (("running_mean", running_mean), ("running_var", running_var)):
            if x is None:
                text = f"{name} must be defined in evaluation mode"
                raise errors.runtime_error(text, "Pass the running statistics, or training=True.")
    _check_batch(input, weight, bias, running_mean, running_var)
    if not training:
        y = channel_standardize(input, weight, bias, running_mean, running_var, eps=eps)
        return y, None, None
    _check_members(input, running_mean, running_var)
    if (running_mean is None) != (running_var is None):
        text = "running_mean and running_var must either both be None or neither be None"
        raise errors.runtime_error(text, "Pass both, so that both are updated.")
    result, mean, variance = batch_standardize(input, weight, bias, groups=None, eps=eps)
    if running_mean is not None and input._array.size:
        _update(input._array.shape, mean, variance, running_mean, running_var, momentum)
    return result, mean, variance


def _check_members(input: Tensor, *running: Any) -> None:
    """Raise where members of a batch are to move statistics that they have in common."""
    if any(x is not None and mapped_beyond(input._array, x._array) for x in running):
        raise errors.runtime_error(
            "Batch norm got a batched tensor as input while the running_mean or running_var, "
            "which will be updated in place, were not batched.\nIf you are using a module and "
            "do not need eval mode, please set `track_running_stats` to be False.If you are "
            "using a prebuilt module and do not need eval mode, please see the functorch "
            "website for resources on how to patch your module to work with vmap",
            "torch.func.replace_all_batch_norm_modules_(model) lets them do without.",
        )


def _update(
    shape: tuple, mean: Any, variance: Any, running_mean: Any, running_var: Any, momentum: float
) -> None:
    """Move the running statistics towards the batch's, its variance divided by the count - 1.

    As in PyTorch this is not counted as a write: a graph may have kept the statistics.
    """
    count = shape[0] * prod(shape[2:])
    unbiased = variance._array * (count / (count - 1) if count > 1 else np.nan)
    for running, now in ((running_mean._array, mean._array), (running_var._array, unbiased)):
        running[...] = (1 - momentum) * running + momentum * now.reshape(running.shape)


@require_tensors
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel.

    The input has shape (N, C, ...). In training the moments are those of the batch, and the running
    statistics move towards them by `momentum`; else the running statistics are the moments.

    Shape: that of `input`.

    Source: Ioffe and Szegedy, "Batch Normalization", 2015, algorithm 1.

    >>> x = torch.tensor([[1.0], [3.0]])
    >>> torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    momentum = layer_norm.real_argument("batch_norm", "momentum", 7, momentum)
    eps = layer_norm.real_argument("batch_norm", "eps", 8, eps)
    return _batch(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@require_tensors
def native_batch_norm(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, Any, Any]:
    """`batch_norm`, and in training the mean and 1 / sqrt(variance + eps) of each channel.

    Shapes: (N, C, ...) to the same, and twice (C,), or (0,) outside of training.

    >>> outputs = torch.native_batch_norm(torch.ones(4, 3), None, None, None, None, True, 0.1, 1e-5)
    >>> [x.shape for x in outputs]
    [torch.Size([4, 3]), torch.Size([3]), torch.Size([3])]
    """
    check_constant("native_batch_norm", "running_mean", running_mean)
    check_constant("native_batch_norm", "running_var", running_var)
    if (running_mean is None) != (running_var is None):
        text = "running_mean and running_var must either both be None or neither be None"
        raise errors.value_error(text, "Pass both, or none.")
    result, mean, variance = _batch(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if mean is None:
        empty = result.detach().new_empty((0,))
        return result, empty, empty.clone()
    return result, mean, (variance + eps).rsqrt()


@require_tensors
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Any:
    """(x - mean) / sqrt(variance + eps) * weight + bias for groups of channels of each sample.

    The input has shape (N, C, ...); `num_groups` groups of consecutive channels each have a mean
    and a variance of their own. `weight` and `bias` have shape (C,).

    Shape: that of `input`.
    Raises: RuntimeError where groups do not divide the channels, or weight or bias does not fit.

    Source: Wu and He, "Group Normalization", 2018, eq. 1 and 7.

    >>> torch.nn.functional.group_norm(torch.tensor([[1.0, 3.0, 5.0, 5.0]]), 2)
    tensor([[-1.0000,  1.0000,  0.0000,  0.0000]])
    """
    shape = array_of("group_norm", input).shape
    if isinstance(num_groups, bool) or not hasattr(num_groups, "__index__"):
        raise errors.must_be("group_norm", "num_groups", 2, "int", num_groups)
    groups = operator.index(num_groups)
    eps = layer_norm.real_argument("group_norm", "eps", 5, eps)
    for axis in (0, 1):
        existing_axis(axis, len(shape), _SHAPE)
    check_groups(input, groups, shape[1], weight, bias)
    return group_standardize(input, weight, bias, groups=groups, eps=eps)[0]


def check_groups(
    input: Tensor, groups: int, channels: int, weight: Tensor | None, bias: Tensor | None
) -> None:
    """Raise where groups do not divide the channels, or weight or bias do not fit them."""
    shape = input._array.shape
    if groups <= 0:
        message = f"Expected num groups to be greater than 0, got {groups}"
        raise errors.runtime_error(message, "Give a number that divides the number of channels.")
    if channels % groups:
        raise errors.runtime_error(
            "Expected number of channels in input to be divisible by num_groups, but got input "
            f"of shape {list(shape)} and num_groups={groups}",
            "Choose a number of groups that divides the number of channels.",
        )
    for name, x in (("weight", weight), ("bias", bias)):
        if x is not None and x._array.shape != (channels,):
            raise errors.runtime_error(
                f"Expected {name} to be a vector of size equal to the number of channels in "
                f"input, but got {name} of shape {list(x._array.shape)} and input of shape "
                f"{list(shape)}",
                f"Give {name} shape ({channels},).",
            )
    layer_norm.same_kind(input, weight, bias)
    require_floating("GroupNormKernelImpl", input)
    layer_norm.one_kind(weight, bias)


@require_tensors
def instance_norm(
    input: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel of each sample.

    The input has shape (N, C, ...). Running statistics, where given, move towards the mean of the
    samples' moments; without `use_input_stats` they are the moments.

    Shape: that of `input`.
    Raises: RuntimeError where running statistics are to be used and there are none.

    Source: Ulyanov et al., "Instance Normalization", 2016, eq. 1.

    >>> x = torch.tensor([[[1.0, 3.0]], [[2.0, 6.0]]])
    >>> torch.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[[-1.0000,  1.0000]],
    <BLANKLINE>
            [[-1.0000,  1.0000]]])
    """
    shape = array_of("instance_norm", input).shape
    if not use_input_stats and (running_mean is None or running_var is None):
        text = "Expected running_mean and running_var to be defined when use_input_stats is false"
        raise errors.runtime_error(text, "Pass the running statistics, or use_input_stats=True.")
    for axis in (0, 1):
        existing_axis(axis, len(shape), _SHAPE)
    n, c, *rest = shape
    together = input.contiguous().view(1, n * c, *rest)
    weight, bias, mean, variance = (
        None if x is None else x.repeat(n) for x in (weight, bias, running_mean, running_var)
    )
    result = batch_norm(
        together, weight, bias, mean, variance, use_input_stats, momentum, eps, cudnn_enabled
    )
    for running, x in ((running_mean, mean), (running_var, variance)):
        if running is not None and x is not None:
            running.detach().copy_(x.detach().view(n, c).mean(0))
    return result.view(shape)
