"""Activations with PyTorch's arguments: the operators, and their in-place forms by `inplace`."""

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core import errors
from tapegrad.core.annotations import DTypeLike
from tapegrad.core.argument_check import require_tensors, users_level
from tapegrad.core.errors import value_error, warn
from tapegrad.core.missing import public_names
from tapegrad.core.overridable import overridable
from tapegrad.core.scalar import number_of
from tapegrad.core.torch_function import overridden
from tapegrad.dispatch.in_place import in_place
from tapegrad.operators.nn import softmax as softmaxes
from tapegrad.operators.pointwise import elu as _elu
from tapegrad.operators.pointwise import relu_threshold_shrink as rectifier
from tapegrad.operators.pointwise import rrelu as _rrelu
from tapegrad.operators.pointwise import silu_mish_softplus as ops
from tapegrad.operators.pointwise.elu import celu_, elu_, selu_
from tapegrad.operators.pointwise.relu_threshold_shrink import (
    hardtanh_,
    leaky_relu_,
    relu_,
    threshold_,
)
from tapegrad.tensors.tensor import Tensor

_silu_ = in_place(ops.silu)
_mish_ = in_place(ops.mish)
_hardswish_ = in_place(rectifier.hardswish)
_hardsigmoid_ = in_place(rectifier.hardsigmoid)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(x, 0)`.

    Shape: any, and that of the result.

    >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    try:
        return relu_(input) if inplace else rectifier.relu(input)
    except Exception:
        again = overridden(relu, (input,), {"inplace": inplace})
        if again is None:
            raise
    return again()


@require_tensors
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`min(max(x, 0), 6)`.

    Shape: any, and that of the result.

    Source: Krizhevsky, Convolutional deep belief networks on CIFAR-10, 2010.

    >>> torch.nn.functional.relu6(torch.tensor([-1.0, 9.0]))
    tensor([0., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


@overridable
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`x if x > 0 else negative_slope * x`.

    Shape: any, and that of the result.

    Source: Maas et al., Rectifier nonlinearities improve neural network acoustic models, 2013.

    >>> torch.nn.functional.leaky_relu(torch.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    if inplace:
        return leaky_relu_(input, negative_slope)
    if type(negative_slope) is float and -1e38 < negative_slope < 1e38:  # it fits as it is
        return rectifier.leaky_relu(input, negative_slope=negative_slope)
    return rectifier.leaky(input, number_of("leaky_relu", "negative_slope", 2, negative_slope))


@overridable
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """A leaky rectifier with slopes drawn from [lower, upper) in training, else their mean.

    Shape: any, and that of the result.

    Source: Xu et al., Empirical evaluation of rectified activations in convolutional network, 2015.

    >>> torch.nn.functional.rrelu(torch.tensor([-1.0, 2.0]), 0.1, 0.3)
    tensor([-0.2000,  2.0000])
    """
    function = _rrelu.rrelu_ if inplace else _rrelu.rrelu
    return function(input, lower, upper, training)


@overridable
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`x if x > 0 else alpha * (exp(x) - 1)`.

    Shape: any, and that of the result.

    Source: Clevert et al., Fast and accurate deep network learning by ELUs, 2015, eq. 15.

    >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return elu_(input, alpha) if inplace else _elu.elu(input, alpha)


@overridable
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`1.0507 * (x if x > 0 else 1.6733 * (exp(x) - 1))`.

    Shape: any, and that of the result.

    Source: Klambauer et al., Self-normalizing neural networks, 2017, eq. 2.

    >>> torch.nn.functional.selu(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    return selu_(input) if inplace else _elu.selu(input)


@overridable
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`.

    Shape: any, and that of the result.

    Source: Barron, Continuously differentiable exponential linear units, 2017.

    >>> torch.nn.functional.celu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return celu_(input, alpha) if inplace else _elu.celu(input, alpha)


@overridable
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)`.

    Shape: any, and that of the result.

    Source: Elfwing et al., Sigmoid-weighted linear units, 2017, eq. 6.

    >>> torch.nn.functional.silu(torch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    if inplace:
        return _silu_(input)
    if input.dtype.is_complex and input.requires_grad and is_grad_enabled():
        raise errors.runtime_error(
            "silu does not support automatic differentiation for outputs with complex dtype.",
            "x * torch.sigmoid(x) does.",
        )
    return ops.silu(input)


@overridable
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * tanh(softplus(x))`.

    Shape: any, and that of the result.

    Source: Misra, Mish: a self regularized non-monotonic activation function, 2019.

    >>> torch.nn.functional.mish(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """
    return _mish_(input) if inplace else ops.mish(input)


@overridable
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * clamp(x + 3, 0, 6) / 6`.

    Shape: any, and that of the result.

    Source: Howard et al., Searching for MobileNetV3, 2019, section 5.2.

    >>> torch.nn.functional.hardswish(torch.tensor([-1.0, 2.0]))
    tensor([-0.3333,  1.6667])
    """
    return _hardswish_(input) if inplace else rectifier.hardswish(input)


@overridable
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`clamp(x / 6 + 1 / 2, 0, 1)`.

    Shape: any, and that of the result.

    >>> torch.nn.functional.hardsigmoid(torch.tensor([-1.0, 4.0]))
    tensor([0.3333, 1.0000])
    """
    return _hardsigmoid_(input) if inplace else rectifier.hardsigmoid(input)


@require_tensors
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """`clamp(x, min_val, max_val)`.

    Shape: any, and that of the result.
    Raises: ValueError where `min_val` is above `max_val`.

    >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise value_error(
            "min_val cannot be greater than max_val", f"They are {min_val} and {max_val}."
        )
    if not inplace:
        return rectifier.hardtanh(input, min_val, max_val)
    rectifier.check_limits(min_val, max_val)
    return hardtanh_(input, min_val, max_val)


@require_tensors
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`x` where it is above `threshold`, `value` elsewhere.

    Shape: any, and that of the result.

    >>> torch.nn.functional.threshold(torch.tensor([0.0, 0.5]), 0.1, 20.0)
    tensor([20.0000,  0.5000])
    """
    return (threshold_ if inplace else rectifier.threshold)(input, threshold, value)


@overridable
def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))`.

    Shape: any, and that of the result.

    >>> torch.nn.functional.sigmoid(torch.tensor([-1.0, 0.0]))
    tensor([0.2689, 0.5000])
    """
    return input.sigmoid()


@overridable
def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent.

    Shape: any, and that of the result.

    >>> torch.nn.functional.tanh(torch.tensor([-1.0, 0.0]))
    tensor([-0.7616,  0.0000])
    """
    return input.tanh()


@overridable
def softsign(input: Tensor) -> Tensor:
    """`x / (1 + |x|)`.

    Shape: any, and that of the result.

    >>> torch.nn.functional.softsign(torch.tensor([-1.0, 0.0]))
    tensor([-0.5000,  0.0000])
    """
    return input / (input.abs() + 1)


@overridable
def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)`.

    Shape: any, and that of the result.

    >>> torch.nn.functional.tanhshrink(torch.tensor([-1.0, 0.0]))
    tensor([-0.2384,  0.0000])
    """
    return input - input.tanh()


@overridable
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor:
    """`exp(x) / sum(exp(x))` along `dim`.

    Shape: any, and that of the result.

    >>> torch.nn.functional.softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return softmaxes.softmax(input, _axis("softmax", dim, input.ndim), dtype=dtype)


@overridable
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor:
    """`log(softmax(x))` along `dim`, without overflow.

    Shape: any, and that of the result.

    >>> torch.nn.functional.log_softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return softmaxes.log_softmax(input, _axis("log_softmax", dim, input.ndim), dtype=dtype)


@overridable
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor:
    """`softmax(-x)` along `dim`.

    Shape: any, and that of the result.

    >>> torch.nn.functional.softmin(torch.tensor([0.0, 1.0]), dim=0)
    tensor([0.7311, 0.2689])
    """
    axis = _axis("softmin", dim, input.ndim)
    return softmaxes.softmax(-input, axis, dtype=dtype)


@require_tensors
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A random, differentiable choice: softmax of `(logits + Gumbel noise) / tau`.

    With `hard`, the result is one-hot and has the gradient of the soft one.

    Shape: any, and that of the result.

    Source: Jang et al., Categorical reparameterization with Gumbel-softmax, 2016.

    >>> float(torch.nn.functional.gumbel_softmax(torch.zeros(3), hard=True).sum())
    1.0
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.", users_level())
    noise = -logits.detach().new_empty(logits.shape).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.detach().max(dim, keepdim=True)[1]
    one_hot = logits.detach().new_zeros(logits.shape).scatter_(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft


def _axis(name: str, dim: int | None, ndim: int) -> int:
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        users_level(),
    )
    return 0 if ndim in (0, 1, 3) else 1


__all__ = public_names(globals())
