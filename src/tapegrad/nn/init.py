"""Initialisation: fill a tensor in place, the same numbers as PyTorch for the same seed.

Every function runs without recording and returns the tensor it was given.
"""

import functools
import math

import numpy as np

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, Callable, Source
from tapegrad.core.dtype import bool_
from tapegrad.core.errors import deprecated, value_error, warn
from tapegrad.core.missing import public_names
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.torch_function import hand_over, taking_part
from tapegrad.operators.random.rand_randint_randperm import randperm
from tapegrad.tensors.tensor import Tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Source = None) -> Tensor:
    """Uniform on [a, b).

    >>> torch.nn.init.uniform_(torch.empty(100), 2, 3).min() >= 2
    tensor(True)
    """
    found = taking_part((tensor,), {})
    if found is not None:
        given = {"tensor": tensor, "a": a, "b": b, "generator": generator}
        return hand_over(uniform_, (), given, found)
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Source = None
) -> Tensor:
    """Normal with this mean and standard deviation.

    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.normal_(torch.empty(2))
    tensor([ 1.5410, -0.2934])
    """
    found = taking_part((tensor,), {})
    if found is not None:
        given = {"tensor": tensor, "mean": mean, "std": std, "generator": generator}
        return hand_over(normal_, (), given, found)
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Source = None,
) -> Tensor:
    """Normal, but only values in [a, b].

    Values outside are drawn again. Where less than 0.3 of the normal distribution is inside, the
    draws are uniform and kept in proportion to its density.

    >>> torch.nn.init.trunc_normal_(torch.empty(100)).abs().max() <= 2
    tensor(True)
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.\nMove mean closer to [a, b], or enlarge std."
        )
    if tensor.is_meta:
        with no_grad():
            return tensor.normal_()
    low, high = (a - mean) / std, (b - mean) / std
    inside = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
    mode = min(max(mean, a), b)  # where in [a, b] the density is largest
    with no_grad():
        wanted = tensor.new_ones(tensor.shape, dtype=bool_)
        while bool(wanted.any()):
            draw = tensor.new_empty(tensor.shape)
            if inside >= 0.3:
                draw.normal_(mean, std, generator=generator)
                good = (draw >= a) & (draw <= b)
            else:
                draw.uniform_(a, b, generator=generator)
                chance = (((mode - mean) / std) ** 2 - ((draw - mean) / std) ** 2) / 2
                good = draw.new_empty(draw.shape).uniform_(generator=generator) <= chance.exp()
            tensor.copy_(draw.where(wanted & good, tensor))
            wanted &= ~good
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """`val` everywhere.

    >>> torch.nn.init.constant_(torch.empty(2), 3)
    tensor([3., 3.])
    """
    found = taking_part((tensor,), {})
    if found is not None:
        return hand_over(constant_, (), {"tensor": tensor, "val": val}, found)
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere.

    >>> torch.nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere.

    >>> torch.nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


_GAINS = {
    "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4, "linear": 1,
    "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1,
    "conv_transpose3d": 1,
}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before `nonlinearity` are scaled to keep the variance.

    `param` is the negative slope of a `"leaky_relu"`, 0.01 unless given.

    >>> torch.nn.init.calculate_gain("relu")
    1.4142135623730951
    """
    if nonlinearity != "leaky_relu":
        if nonlinearity not in _GAINS:
            known = ", ".join([*_GAINS, "leaky_relu"])
            raise value_error(f"Unsupported nonlinearity {nonlinearity}", f"Known are {known}.")
        return _GAINS[nonlinearity]
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise value_error(f"negative_slope {param} not a valid number", "Pass an int or a float.")
    return math.sqrt(2.0 / (1 + slope**2))


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs reach one output of a layer with these weights, and the reverse."""
    if tensor.dim() < 2:
        raise value_error(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
            f"This one has shape {tuple(tensor.shape)}: use uniform_ or normal_.",
        )
    n_out, n_in, *kernel = tensor.shape
    window = math.prod(kernel)
    return n_in * window, n_out * window


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise value_error(
            f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']",
            "fan_in keeps the variance of the forward pass, fan_out that of the backward pass.",
        )
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def _is_empty(tensor: Tensor) -> bool:
    if 0 not in tensor.shape:
        return False
    warn("Initializing zero-element tensors is a no-op\nThe layer has no inputs or no outputs.", 3)
    return True


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Source = None) -> Tensor:
    """Uniform on +-gain * sqrt(6 / (fan_in + fan_out)).

    Source: Glorot and Bengio, Understanding the difficulty of training deep networks, 2010.

    >>> torch.nn.init.xavier_uniform_(torch.empty(3, 3)).abs().max() <= 1
    tensor(True)
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Source = None) -> Tensor:
    """Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out)).

    Source: Glorot and Bengio, Understanding the difficulty of training deep networks, 2010.

    >>> torch.nn.init.xavier_normal_(torch.empty(3, 5)).shape
    torch.Size([3, 5])
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Source = None,
) -> Tensor:
    """Uniform on +-gain * sqrt(3 / fan), the gain that of a leaky rectifier with slope `a`.

    Source: He et al., Delving deep into rectifiers, 2015.

    >>> torch.nn.init.kaiming_uniform_(torch.empty(3, 6)).abs().max() <= 1
    tensor(True)
    """
    found = taking_part((tensor,), {})
    if found is not None:
        given = {"tensor": tensor, "a": a, "mode": mode, "nonlinearity": nonlinearity}
        return hand_over(kaiming_uniform_, (), {**given, "generator": generator}, found)
    if _is_empty(tensor):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    std = calculate_gain(nonlinearity, a) / math.sqrt(fan)
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Source = None,
) -> Tensor:
    """Normal with standard deviation gain / sqrt(fan).

    Source: He et al., Delving deep into rectifiers, 2015.

    >>> torch.nn.init.kaiming_normal_(torch.empty(3, 5), mode="fan_out").shape
    torch.Size([3, 5])
    """
    if _is_empty(tensor):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)


def _wrong_rank(tensor: Tensor, supported: str) -> ValueError:
    return value_error(
        f"Only tensors with {supported} dimensions are supported",
        f"This one has shape {tuple(tensor.shape)}.",
    )


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix.

    >>> torch.nn.init.eye_(torch.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise _wrong_rank(tensor, "2")
    with no_grad():
        tensor.zero_().diagonal().fill_(1)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weights of a convolution that returns its input, as far as there are channels.

    Shape: (out_channels, in_channels / groups, size of the kernel along 1 to 3 axes).

    >>> torch.nn.init.dirac_(torch.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise _wrong_rank(tensor, "3, 4, or 5")
    n_out, n_in, *kernel = tensor.shape
    if n_out % groups:
        raise value_error("dim 0 must be divisible by groups", f"{n_out} is not, by {groups}.")
    per_group = n_out // groups
    middle = tuple(size // 2 for size in kernel)
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, n_in)):
                tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Source = None) -> Tensor:
    """Rows (or columns, the fewer of both) that are orthogonal and of length `gain`.

    Source: Saxe et al., Exact solutions to the nonlinear dynamics of deep linear networks, 2013.

    >>> q = torch.nn.init.orthogonal_(torch.empty(2, 3))
    >>> torch.allclose(q @ q.T, torch.eye(2), atol=1e-6)
    True
    """
    if tensor.ndim < 2:
        raise _wrong_rank(tensor, "2 or more")
    if tensor.numel() == 0:
        return tensor
    if tensor.is_meta:
        with no_grad():
            return tensor.normal_()
    n_rows = tensor.shape[0]
    n_columns = tensor.numel() // n_rows
    with no_grad():
        a = tensor.new_empty((n_rows, n_columns)).normal_(0, 1, generator=generator)
        q = _orthonormal(a if n_rows >= n_columns else a.t())
        q = q if n_rows >= n_columns else q.t()
        return tensor.copy_((q * gain).reshape(tensor.shape))


def _orthonormal(a: Tensor) -> Tensor:
    """The columns of `a` made orthonormal, their signs such that the result is unique."""
    q, r = np.linalg.qr(a.numpy())
    return a.new_tensor(q * np.sign(np.diagonal(r)))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal, with the fraction `sparsity` of each column set to zero.

    Source: Martens, Deep learning via Hessian-free optimization, 2010.

    >>> (torch.nn.init.sparse_(torch.empty(10, 2), sparsity=0.3) == 0).sum(dim=0)
    tensor([3, 3])
    """
    if tensor.ndim != 2:
        raise _wrong_rank(tensor, "2")
    n_rows, n_columns = tensor.shape
    n_zeros = math.ceil(sparsity * n_rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(n_columns):
            order = randperm(n_rows)  # from the default generator, as in PyTorch
            tensor[order[:n_zeros], column] = 0
    return tensor


def _renamed(function: Callable) -> Callable:
    new = function.__name__
    old = new[:-1]

    @functools.wraps(function)
    def warned(*args: object, **kwargs: object) -> Any:
        deprecated(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.")
        return function(*args, **kwargs)

    warned.__name__ = warned.__qualname__ = old
    warned.__doc__ = f"The old name of `{new}`."
    return warned


uniform = _renamed(uniform_)
normal = _renamed(normal_)
constant = _renamed(constant_)
eye = _renamed(eye_)
dirac = _renamed(dirac_)
xavier_uniform = _renamed(xavier_uniform_)
xavier_normal = _renamed(xavier_normal_)
kaiming_uniform = _renamed(kaiming_uniform_)
kaiming_normal = _renamed(kaiming_normal_)
orthogonal = _renamed(orthogonal_)
sparse = _renamed(sparse_)


# Under these names other packages find them.
_no_grad_uniform_ = uniform_
_no_grad_normal_ = normal_
_no_grad_fill_ = constant_
_no_grad_zero_ = zeros_
_no_grad_trunc_normal_ = trunc_normal_


__all__ = public_names(globals(), "_calculate_correct_fan _calculate_fan_in_and_fan_out")
__getattr__ = _refuses(__name__)
