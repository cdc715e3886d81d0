"""Dropout: elements or whole channels are dropped at random, and what is left is scaled."""

import math

from numpy import ndarray

from tapegrad.autograd.mode import MODE
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.registration import RANDOMNESS
from tapegrad.core.streams.exponential_cauchy import bernoulli
from tapegrad.core.tensor_base import wrap
from tapegrad.operators.creation.like import empty_like
from tapegrad.operators.nn.layer_norm import real_argument
from tapegrad.operators.nn.pool_size import array_of
from tapegrad.operators.random.fill import level_mode
from tapegrad.random import default_generator

__torch__ = (
    "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ "
    "feature_dropout feature_dropout_"
)

_FLOOR = 1.7580993408473766  # alpha * scale of SELU, which goes down to minus that


def _noise(x: Tensor, p: float, channels: bool) -> Any:
    """Ones with probability 1 - p, for each element or each channel of (N, C, ...)."""
    if channels and x.ndim < 2:
        text = "Feature dropout requires at least 2 dimensions in the input"
        advice = "The input has shape (N, C, ...): whole channels are dropped."
        raise errors.runtime_error(text, advice)
    mapping = None if type(MODE.get()) is bool else level_mode()
    if mapping is not None and not mapping.maps_over(x):
        return _noise_of_members(x, p, channels, mapping.level)
    if channels:
        return x.new_empty((*x.shape[:2], *(1,) * (x.ndim - 2))).bernoulli_(1 - p)
    array = x._array
    if type(array) is ndarray and array.dtype.kind == "f" and array.flags.c_contiguous:
        stream = default_generator._stream
        return wrap(bernoulli(stream, array.shape, array.dtype, 1 - p))
    return empty_like(x.detach()).bernoulli_(1 - p)


def _noise_of_members(x: Tensor, p: float, channels: bool, level: Any) -> Any:
    """The same inside a level of `vmap` for what is the same for each member."""
    from tapegrad.operators.creation.zeros_eye import empty

    shape = tuple(x.shape)
    if channels:
        shape = (*shape[:2], *(1,) * (len(shape) - 2))
    return RANDOMNESS().made(
        level, lambda shape: _noise(empty(shape, dtype=x.dtype), p, False), shape, True
    )


def _dropped(
    name: str, x: Tensor, p: Any, train: bool, in_place: bool, channels: bool, alpha: bool
) -> Any:
    array_of(name, x)
    p = real_argument(name, "p", 2, p)
    if not 0 <= p <= 1:
        text = f"dropout probability has to be between 0 and 1, but got {p:g}"
        raise errors.runtime_error(text, "p is the probability that an element is dropped.")
    if p == 0 or not train or not x._array.size:
        return x
    if p == 1:
        zero = x.new_zeros(())
        return x.mul_(zero) if in_place else x * zero
    noise = _noise(x, p, channels)
    if not alpha:
        noise.div_(1 - p)
        return x.mul_(noise) if in_place else x * noise
    # dropped elements become -FLOOR; then a x + b has mean 0 and variance 1 again
    a = 1 / math.sqrt(float((_FLOOR * _FLOOR * p + 1) * (1 - p)))
    b = (noise - 1).mul_(_FLOOR * a).add_(_FLOOR * a * p)
    noise.mul_(a)
    return x.mul_(noise).add_(b) if in_place else x * noise + b


@require_tensors
def dropout(input: Tensor, p: float, train: bool) -> Any:
    """Each element is zero with probability `p`, else x / (1 - p); without `train` as it is.

    Shape: any, and that of the result.

    Source: Hinton et al., "Improving neural networks by preventing co-adaptation", 2012.

    >>> _ = torch.manual_seed(0)
    >>> torch.dropout(torch.ones(4), 0.5, True)
    tensor([0., 0., 2., 0.])
    """
    return _dropped("dropout", input, p, train, False, False, False)


@require_tensors
def dropout_(input: Tensor, p: float, train: bool) -> Any:
    """In-place form of `dropout`.

    Shape: any; it stays.

    >>> torch.dropout_(torch.ones(2), 0.0, True)
    tensor([1., 1.])
    """
    return _dropped("dropout_", input, p, train, True, False, False)


@require_tensors
def feature_dropout(input: Tensor, p: float, train: bool) -> Any:
    """`dropout` of whole channels of an input of shape (N, C, ...).

    Shape: that of `input`.

    Source: Tompson et al., "Efficient object localization using convolutional networks", 2014.

    >>> _ = torch.manual_seed(0)
    >>> torch.feature_dropout(torch.ones(1, 3, 2), 0.5, True)
    tensor([[[0., 0.],
             [0., 0.],
             [2., 2.]]])
    """
    return _dropped("feature_dropout", input, p, train, False, True, False)


@require_tensors
def feature_dropout_(input: Tensor, p: float, train: bool) -> Any:
    """In-place form of `feature_dropout`.

    Shape: (N, C, ...); it stays.

    >>> torch.feature_dropout_(torch.ones(1, 2), 0.0, True)
    tensor([[1., 1.]])
    """
    return _dropped("feature_dropout_", input, p, train, True, True, False)


@require_tensors
def alpha_dropout(input: Tensor, p: float, train: bool) -> Any:
    """Dropout that keeps mean 0 and variance 1: dropped elements go to the floor of SELU.

    Shape: any, and that of the result.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017, section 3.

    >>> _ = torch.manual_seed(0)
    >>> torch.alpha_dropout(torch.ones(4), 0.5, True)
    tensor([-0.7792, -0.7792,  1.6656, -0.7792])
    """
    return _dropped("alpha_dropout", input, p, train, False, False, True)


@require_tensors
def alpha_dropout_(input: Tensor, p: float, train: bool) -> Any:
    """In-place form of `alpha_dropout`.

    Shape: any; it stays.

    >>> torch.alpha_dropout_(torch.ones(2), 0.0, True)
    tensor([1., 1.])
    """
    return _dropped("alpha_dropout_", input, p, train, True, False, True)


@require_tensors
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Any:
    """`alpha_dropout` of whole channels of an input of shape (N, C, ...).

    Shape: that of `input`.

    >>> _ = torch.manual_seed(0)
    >>> torch.feature_alpha_dropout(torch.ones(1, 3), 0.5, True)
    tensor([[-0.7792, -0.7792,  1.6656]])
    """
    return _dropped("feature_alpha_dropout", input, p, train, False, True, True)


@require_tensors
def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Any:
    """In-place form of `feature_alpha_dropout`.

    Shape: (N, C, ...); it stays.

    >>> torch.feature_alpha_dropout_(torch.ones(1, 2), 0.0, True)
    tensor([[1., 1.]])
    """
    return _dropped("feature_alpha_dropout_", input, p, train, True, True, True)
