"""Filling a tensor with numbers that do not depend on its shape."""

from __future__ import annotations

import math
from typing import Any
from warnings import warn

from tapegrad.autograd.mode import no_grad
from tapegrad.core.dtype import bool_
from tapegrad.tensors.tensor import Tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform on [a, b).

    >>> torch.nn.init.uniform_(torch.empty(100), 2, 3).min() >= 2
    tensor(True)
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with this mean and standard deviation.

    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.normal_(torch.empty(2))
    tensor([ 1.5410, -0.2934])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
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
            "values may be incorrect.\nMove mean closer to [a, b], or enlarge std.",
            stacklevel=2,
        )
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
