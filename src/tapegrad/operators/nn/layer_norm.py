"""Layer and RMS normalisation: each sample brought to one scale over its last axes."""

import operator

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import float32
from tapegrad.core.limits import finfo
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.result_order import lies_channels_last
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import no_kernel, require_floating
from tapegrad.operators.nn.pool_size import array_of

__torch__ = "layer_norm native_layer_norm rms_norm"


def standardized(xp: Namespace, x: Array, axes: tuple[int, ...], eps: float) -> tuple:
    """(x - mean) / sqrt(variance + eps) over `axes`, and 1 / sqrt(variance + eps)."""
    d = x - xp.mean(x, axis=axes, keepdims=True)
    scale = 1 / xp.sqrt(xp.mean(d * d, axis=axes, keepdims=True) + eps)
    return d * scale, scale


def standardized_rule(xp: Namespace, g: Array, x: Array, axes: tuple[int, ...], eps: float) -> Any:
    """What a change `g` of `x` does to `standardized`; its Jacobian is symmetric."""
    y, scale = standardized(xp, x, axes, eps)
    along = y * xp.mean(g * y, axis=axes, keepdims=True)
    return scale * (g - xp.mean(g, axis=axes, keepdims=True) - along)


_KERNELS = ("standardize_rows", "standardize_rows_back", "standardize_rows_weight_back", "sum_rows")


@primitive(
    node="NativeLayerNormBackward0",
    outputs=("result", "mean", "scale"),
    nondiff=("mean", "scale"),
    kernels=_KERNELS,
)
def layer_standardize(xp, input, weight, bias, *, n_axes, eps):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last `n_axes` axes."""
    return xp.standardize_rows(input, weight, bias, n_axes, eps)


layer_standardize.vjp(
    input=lambda xp, g, input, weight, mean, scale, n_axes, eps: xp.standardize_rows_back(
        g, input, weight, mean, scale, n_axes, eps
    ),
    weight=lambda xp, g, input, mean, scale, weight_like, eps: xp.standardize_rows_weight_back(
        g, input, mean, scale, weight_like, eps
    ),
    bias=lambda xp, g, bias_like: xp.sum_rows(g, bias_like),
)


def _last(x: Tensor, n_axes: int) -> tuple[int, ...]:
    n = len(x.shape)
    return tuple(range(n - n_axes, n))


def _layer_tangent(xp, t, input, weight, n_axes, eps):
    t = standardized_rule(xp, t, input, _last(input, n_axes), eps)
    return t if weight is None else t * weight


layer_standardize.jvp(
    input=_layer_tangent,
    weight=lambda xp, t, input, n_axes, eps: (
        t * standardized(xp, input, _last(input, n_axes), eps)[0]
    ),
    bias=lambda xp, t, y: xp.broadcast_to(t, y.shape),
)
one_node("NativeLayerNormBackwardBackward0", "input weight", of="bias")(layer_standardize)


# --- the kernels on tensors, for derivatives of derivatives ---------------------------------------


@tensor_kernel
def standardize_rows_back(
    g: Array, x: Array, weight: Array, mean: Array, scale: Any, n_axes: int, eps: float
) -> Any:
    xp = TENSOR_NAMESPACE()
    g = g if weight is None else g * weight
    return standardized_rule(xp, g, x, _last(x, n_axes), eps)


@tensor_kernel
def standardize_rows_weight_back(
    g: Array, x: Array, mean: Array, scale: Any, like: Array, eps: float
) -> Any:
    xp = TENSOR_NAMESPACE()
    return sum_rows(g * standardized(xp, x, _last(x, len(like.shape)), eps)[0], like)


@tensor_kernel
def sum_rows(g: Array, like: Array) -> Any:
    xp = TENSOR_NAMESPACE()
    n_lead = len(g.shape) - len(like.shape)
    return xp.sum(g, axis=tuple(range(n_lead))) if n_lead else g


# --- the public functions --------------------------------------------------------------------


def real_argument(name: str, argument: str, position: int, x: Any) -> float:
    """A number, where PyTorch takes a float."""
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        array = getattr(x, "_array", None)
        if array is None or array.ndim or getattr(x, "requires_grad", False):
            raise errors.must_be(name, argument, position, "float", x)
        x = array.item()
    return float(x)


def same_kind(input: Tensor, *parameters: Any) -> None:
    """Parameters have the dtype of the input, or with numbers of 16 bits they may be float32."""
    given = [x for x in parameters if x is not None]
    if not given or given[0].dtype is input.dtype:
        return
    advice = f"The input is {input.dtype}, a parameter {given[0].dtype}: convert one of them."
    if any(x.dtype is not float32 for x in given):
        text = "mixed dtype (CPU): expect parameter to have scalar type of Float"
        raise errors.runtime_error(text, advice)
    if not input.dtype.is_floating_point or input.dtype.itemsize != 2:
        text = "mixed dtype (CPU): all inputs must share same datatype."
        raise errors.runtime_error(text, advice)


def one_kind(*parameters: Any) -> None:
    """Raise where parameters are not all of the first one's dtype."""
    given = [x for x in parameters if x is not None]
    for x in given:
        if x.dtype is not given[0].dtype:
            raise errors.wrong_dtype(given[0].dtype, x.dtype, f"Convert it: .to({given[0].dtype}).")


def _sizes(name: str, given: object) -> tuple[int, ...]:
    if not isinstance(given, (tuple, list)):
        raise errors.must_be(name, "normalized_shape", 2, "tuple of ints", given)
    return tuple(operator.index(n) for n in given)


def _check_shapes(input: Tensor, shape: tuple[int, ...], star: str, **parameters: Any) -> None:
    if not shape:
        raise errors.runtime_error(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            "one element, but got normalized_shape = []",
            "Give the sizes of the last dimensions, which are normalised together.",
        )
    for name, x in parameters.items():
        if x is not None and tuple(x._array.shape) != shape:
            raise errors.runtime_error(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {list(x._array.shape)} and normalized_shape = {list(shape)}",
                f"Give {name} one number for each element of normalized_shape.",
            )
    given = input._array.shape
    if tuple(given[len(given) - len(shape) :]) != shape or len(given) < len(shape):
        sizes = ", ".join(map(str, shape))
        raise errors.runtime_error(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{star}{sizes}],"
            f" but got input of size{list(given)}",
            "normalized_shape is the end of the input's shape.",
        )


def _standardize(
    name: str, input: Tensor, normalized_shape: Shape, weight: Any, bias: Any, eps: float
) -> tuple:
    array_of(name, input)
    shape = _sizes(name, normalized_shape)
    eps = real_argument(name, "eps", 5, eps)
    same_kind(input, weight, bias)
    _check_shapes(input, shape, ", ", weight=weight, bias=bias)
    require_floating("LayerNormKernelImpl", input)
    one_kind(weight, bias)
    return layer_standardize(input, weight, bias, n_axes=len(shape), eps=eps)


@require_tensors
def layer_norm(
    input: Tensor,
    normalized_shape: Shape,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Any:
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last dimensions.

    Mean and variance are those of the dimensions that `normalized_shape`, the end of the input's
    shape, names; the variance divides by their number of elements. `weight` and `bias` have that
    shape.

    Shape: that of `input`.
    Raises: RuntimeError where `normalized_shape` is not the end of the input's.

    Source: Ba, Kiros and Hinton, "Layer Normalization", 2016, eq. 3.

    >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    return _standardize("layer_norm", input, normalized_shape, weight, bias, eps)[0]


@require_tensors
def native_layer_norm(
    input: Tensor, normalized_shape: Shape, weight: Tensor, bias: Tensor | None, eps: float
) -> tuple[Any, Any, Any]:
    """`layer_norm`, and the mean and 1 / sqrt(variance + eps) of each sample.

    Shapes: the input's, and twice it with size 1 for each of `normalized_shape`.

    >>> [x.shape for x in torch.native_layer_norm(torch.ones(4, 2), (2,), None, None, 1e-5)]
    [torch.Size([4, 2]), torch.Size([4, 1]), torch.Size([4, 1])]
    """
    y, mean, scale = _standardize("native_layer_norm", input, normalized_shape, weight, bias, eps)
    if input.dtype.itemsize == 2 and (weight is None or weight.dtype is input.dtype):
        mean, scale = mean.to(input.dtype), scale.to(input.dtype)
    return y, mean, scale


@require_tensors
def rms_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Any:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions.

    The mean is over the dimensions that `normalized_shape`, the end of the input's shape, names.
    `eps` is the resolution of the dtype if it is not given.

    Shape: that of `input`.
    Raises: RuntimeError where `normalized_shape` is not the end of the input's.

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, eq. 4.

    >>> torch.nn.functional.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    array_of("rms_norm", input)
    shape = _sizes("rms_norm", normalized_shape)
    fits = weight is None or tuple(weight._array.shape) == shape
    if fits and input._array.ndim < len(shape):
        raise errors.value_error(
            f"Input tensor must have at least {len(shape)} dimensions, but got {input._array.ndim}",
            "normalized_shape is the end of the input's shape.",
        )
    _check_shapes(input, shape, "", weight=weight)
    dtype = input.dtype
    if dtype.category < 2:
        raise no_kernel("rms_norm", dtype)
    x = input if lies_channels_last(input._array) else input.contiguous()
    x = x.to(float32) if dtype.itemsize == 2 else x
    eps = finfo(x.dtype).eps if eps is None else real_argument("rms_norm", "eps", 4, eps)
    axes = list(_last(input._array, len(shape)))
    result = x * (x.pow(2).mean(axes, True) + eps).rsqrt()
    if weight is not None:
        result = result * weight
    return result if result.dtype is dtype else result.to(dtype)
