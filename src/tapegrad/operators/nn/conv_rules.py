"""Convolutions and transposed convolutions of images with kernels, along any number of axes.

With images x, kernels w and stride s, padding p, dilation d along each axis, sums over the channels
c of the group of o and over the offsets k of a kernel:

    y[n, o, i] = b[o] + sum of w[o, c, k] * x[n, c, s*i + d*k - p]

A transposed convolution is the gradient of that with respect to x: it takes y to x. Together with
the gradient with respect to w these are the three gradients of one form that is linear in x, w and
y, so each of them is made of the others: derivatives of all orders need no more.

Source: Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016).
"""

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.result_order import as_computed
from tapegrad.dispatch.backward_op import one_node, record
from tapegrad.dispatch.op import by_place, jvp, primitive, vjp

_KERNELS = ("convolve", "convolve_transposed", "convolve_weights", "sum_channels")


def output_size(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, extra: Any
) -> tuple[int, ...]:
    """The sizes of the result along the axes of an image."""
    steps = zip(size, kernel, stride, padding, dilation, extra, strict=True)
    if transposed:
        return tuple([(n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, d, o in steps])
    return tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d, o in steps])


def _to_input(xp, g, input_like, weight, stride, padding, dilation, transposed, groups):
    back = xp.convolve if transposed else xp.convolve_transposed
    return back(g, weight, None, stride, padding, dilation, groups, input_like.shape[2:])


def _to_weight(xp, g, input, weight_like, stride, padding, dilation, transposed, groups):
    x, y = (g, input) if transposed else (input, g)
    return xp.convolve_weights(x, y, stride, padding, dilation, groups, weight_like.shape[2:])


def _to_bias(xp, g, bias_like):
    if xp.isdtype(g.dtype, "complex floating"):
        return xp.sum(g, axis=(0, *range(2, g.ndim)))
    return xp.sum_channels(g, bias_like)


def _from_input(xp, t, y, weight, stride, padding, dilation, transposed, groups):
    convolve = xp.convolve_transposed if transposed else xp.convolve
    return convolve(t, weight, None, stride, padding, dilation, groups, y.shape[2:])


def _from_weight(xp, t, y, input, stride, padding, dilation, transposed, groups):
    convolve = xp.convolve_transposed if transposed else xp.convolve
    return convolve(input, t, None, stride, padding, dilation, groups, y.shape[2:])


@one_node("ConvolutionBackwardBackward0", "input weight", of="bias")
@jvp(
    input=_from_input,
    weight=_from_weight,
    bias=lambda xp, t, y: xp.broadcast_to(
        xp.reshape(t, (1, t.shape[0], *[1] * (y.ndim - 2))), y.shape
    ),
)
@vjp(input=_to_input, weight=_to_weight, bias=_to_bias)
@primitive(node="ConvolutionBackward0", numbers=False, kernels=_KERNELS, order=as_computed)
def convolution(
    xp, input, weight, bias, *, stride, padding, dilation, transposed, output_padding, groups
):
    """The convolution of images (N, C, ...) with kernels (O, C / groups, ...), or transposed."""
    size = output_size(
        input.shape[2:], weight.shape[2:], stride, padding, dilation, transposed, output_padding
    )
    convolve = xp.convolve_transposed if transposed else xp.convolve
    return convolve(input, weight, bias, stride, padding, dilation, groups, size)


@primitive(node="ConvolutionBackwardBackward0", numbers=False, kernels=_KERNELS)
def convolution_weights(xp, x, z, *, stride, padding, dilation, groups, size):
    """The gradient with respect to kernels of `size`: of a convolution of x with cotangent z."""
    return xp.convolve_weights(x, z, stride, padding, dilation, groups, size)


convolution_weights.vjp(
    x=lambda xp, g, x_like, z, stride, padding, dilation, groups: xp.convolve_transposed(
        z, g, None, stride, padding, dilation, groups, x_like.shape[2:]
    ),
    z=lambda xp, g, x, z_like, stride, padding, dilation, groups: xp.convolve(
        x, g, None, stride, padding, dilation, groups, z_like.shape[2:]
    ),
)
convolution_weights.jvp(
    x=lambda xp, t, z, stride, padding, dilation, groups, size: xp.convolve_weights(
        t, z, stride, padding, dilation, groups, size
    ),
    z=lambda xp, t, x, stride, padding, dilation, groups, size: xp.convolve_weights(
        x, t, stride, padding, dilation, groups, size
    ),
)


# --- the two gradients as a double backward records them ---


def _nothing(g):
    """The gradient of an operand that has but a place among the edges."""


@primitive(
    node="ConvolutionBackwardBackward0",
    numbers=False,
    kernels=_KERNELS,
    order=as_computed,
    registered=False,
)
def convolution_to_input(
    xp, grad, input, weight, *, stride, padding, dilation, transposed, groups, size
):
    """The gradient of a convolution with respect to images of `size`; `input` is not read."""
    back = xp.convolve if transposed else xp.convolve_transposed
    return back(grad, weight, None, stride, padding, dilation, groups, size)


@primitive(node="ConvolutionBackwardBackward0", numbers=False, kernels=_KERNELS, registered=False)
def convolution_to_weight(
    xp, grad, input, weight, *, stride, padding, dilation, transposed, groups, size
):
    """The gradient of a convolution with respect to kernels of `size`; `weight` is not read."""
    x, y = (grad, input) if transposed else (input, grad)
    return xp.convolve_weights(x, y, stride, padding, dilation, groups, size)


convolution_to_input.vjp(
    grad=lambda xp, g, grad_like, weight, stride, padding, dilation, transposed, groups: (
        xp.convolve_transposed if transposed else xp.convolve
    )(g, weight, None, stride, padding, dilation, groups, grad_like.shape[2:]),
    input=_nothing,
    weight=lambda xp, g, grad, weight_like, stride, padding, dilation, transposed, groups: (
        _to_weight(xp, grad, g, weight_like, stride, padding, dilation, transposed, groups)
    ),
)
convolution_to_input.jvp(
    grad=lambda xp, t, y, weight, stride, padding, dilation, transposed, groups: _to_input(
        xp, t, y, weight, stride, padding, dilation, transposed, groups
    ),
    weight=lambda xp, t, y, grad, stride, padding, dilation, transposed, groups: _to_input(
        xp, grad, y, t, stride, padding, dilation, transposed, groups
    ),
)
convolution_to_weight.vjp(
    grad=lambda xp, g, grad_like, input, stride, padding, dilation, transposed, groups: (
        xp.convolve_transposed if transposed else xp.convolve
    )(input, g, None, stride, padding, dilation, groups, grad_like.shape[2:]),
    input=lambda xp, g, grad, input_like, stride, padding, dilation, transposed, groups: _to_input(
        xp, grad, input_like, g, stride, padding, dilation, transposed, groups
    ),
    weight=_nothing,
)
convolution_to_weight.jvp(
    grad=lambda xp, t, y, input, stride, padding, dilation, transposed, groups: _to_weight(
        xp, t, input, y, stride, padding, dilation, transposed, groups
    ),
    input=lambda xp, t, y, grad, stride, padding, dilation, transposed, groups: _to_weight(
        xp, grad, t, y, stride, padding, dilation, transposed, groups
    ),
)


def _input_again(g, edge_input, weight, input_like, stride, padding, dilation, transposed, groups):
    steps = {"stride": stride, "padding": padding, "dilation": dilation}
    options = {**steps, "transposed": transposed, "groups": groups}
    return convolution_to_input(g, edge_input, weight, **options, size=input_like.shape[2:])


def _weight_again(
    g, input, edge_weight, weight_like, stride, padding, dilation, transposed, groups
):
    steps = {"stride": stride, "padding": padding, "dilation": dilation}
    options = {**steps, "transposed": transposed, "groups": groups}
    return convolution_to_weight(g, input, edge_weight, **options, size=weight_like.shape[2:])


record(convolution, input=_input_again, weight=_weight_again)


# --- the kernels of the Tensor namespace ---

_convolution = by_place(convolution)
convolve_weights = tensor_kernel(by_place(convolution_weights))


@tensor_kernel
def convolve(
    x: Tensor, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    """The convolution of tensors, of which the first `size` places are wanted."""
    none = (0,) * len(size)
    y = _convolution(x, w, bias, stride, padding, dilation, False, none, groups)
    if tuple(y.shape[2:]) == tuple(size):
        return y
    return y[(Ellipsis, *[slice(n) for n in size])]


@tensor_kernel
def convolve_transposed(
    y: Tensor, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Any:
    """The transposed convolution of tensors, with images of `size` as the result."""
    none = (0,) * len(size)
    least = output_size(y.shape[2:], w.shape[2:], stride, padding, dilation, True, none)
    missing = tuple([n - m for n, m in zip(size, least, strict=True)])
    return _convolution(y, w, bias, stride, padding, dilation, True, missing, groups)
