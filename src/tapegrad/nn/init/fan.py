"""Weights scaled by how many inputs and outputs a layer has, to keep the variance."""

from __future__ import annotations

import math
from typing import Any
from warnings import warn

from tapegrad.core.errors import value_error
from tapegrad.nn.init.plain import normal_, uniform_
from tapegrad.tensors.tensor import Tensor

_GAINS = {
    "sigmoid": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
    "linear": 1,
    "conv1d": 1,
    "conv2d": 1,
    "conv3d": 1,
    "conv_transpose1d": 1,
    "conv_transpose2d": 1,
    "conv_transpose3d": 1,
}


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
    warn(
        "Initializing zero-element tensors is a no-op\nThe layer has no inputs or no outputs.",
        stacklevel=3,
    )
    return True


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform on +-gain * sqrt(6 / (fan_in + fan_out)).

    Source: Glorot and Bengio, Understanding the difficulty of training deep networks, 2010.

    >>> torch.nn.init.xavier_uniform_(torch.empty(3, 3)).abs().max() <= 1
    tensor(True)
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
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
    generator: Any = None,
) -> Tensor:
    """Uniform on +-gain * sqrt(3 / fan), the gain that of a leaky rectifier with slope `a`.

    Source: He et al., Delving deep into rectifiers, 2015.

    >>> torch.nn.init.kaiming_uniform_(torch.empty(3, 6)).abs().max() <= 1
    tensor(True)
    """
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
    generator: Any = None,
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
