"""Dropout with PyTorch's arguments: of elements, of channels, and for networks with SELU."""

from tapegrad.core.argument_check import users_level
from tapegrad.core.errors import runtime_error, value_error, warn
from tapegrad.core.overridable import overridable
from tapegrad.operators.nn import dropout as _dropout
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]  # fmt: skip


def check_probability(p: float) -> None:
    """Raise unless `p` is a probability with which elements are dropped."""
    if p < 0.0 or p > 1.0:
        raise value_error(
            f"dropout probability has to be between 0 and 1, but got {p}",
            "p is the probability that an element is zeroed.",
        )


@overridable
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and scale the rest by `1/(1-p)`, if `training`.

    Shape: any, and that of the result.
    Raises: ValueError for a `p` that is no probability.

    Source: Hinton et al., Improving neural networks by preventing co-adaptation, 2012.

    >>> torch.nn.functional.dropout(torch.ones(3), p=1.0)
    tensor([0., 0., 0.])
    """
    check_probability(p)
    return (
        _dropout.dropout_(input, p, training) if inplace else _dropout.dropout(input, p, training)
    )


@overridable
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks with SELU.

    Shape: any, and that of the result.
    Raises: ValueError for a `p` that is no probability.

    Source: Klambauer et al., Self-normalizing neural networks, 2017, section 3.

    >>> torch.nn.functional.alpha_dropout(torch.ones(3))
    tensor([1., 1., 1.])
    """
    check_probability(p)
    if inplace:
        return _dropout.alpha_dropout_(input, p, training)
    return _dropout.alpha_dropout(input, p, training)


@overridable
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels of (N, C, ...).

    Shape: any, and that of the result.
    Raises: ValueError for a `p` that is no probability.

    >>> torch.nn.functional.feature_alpha_dropout(torch.ones(1, 3))
    tensor([[1., 1., 1.]])
    """
    check_probability(p)
    if inplace:
        return _dropout.feature_alpha_dropout_(input, p, training)
    return _dropout.feature_alpha_dropout(input, p, training)


def _channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if inplace:
        return _dropout.feature_dropout_(input, p, training)
    return _dropout.feature_dropout(input, p, training)


@overridable
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, L) or (C, L) with probability `p`, scale the rest.

    Shape: any, and that of the result.
    Raises: RuntimeError for other than two or three dimensions; ValueError for a wrong `p`.

    >>> torch.nn.functional.dropout1d(torch.ones(2, 3), p=1.0).sum()
    tensor(0.)
    """
    check_probability(p)
    n_dims = input.dim()
    if n_dims not in (2, 3):
        raise runtime_error(
            f"dropout1d: Expected 2D or 3D input, but received a {n_dims}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial "
            "dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D "
            "inputs).",
            "Use dropout for single elements, dropout2d or dropout3d for images and volumes.",
        )
    if n_dims == 3:
        return _channels(input, p, training, inplace)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _channels(batch, p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def _warn_of_dimensions(n_dims: int, spatial: int) -> None:
    batched = f"{spatial + 1}D or {spatial + 2}D"
    warn(
        f"dropout{spatial}d: Received a {n_dims}-D input to dropout{spatial}d, which is deprecated "
        "and will result in an error in a future release. To retain the behavior and silence this "
        f"warning, please use dropout instead. Note that dropout{spatial}d exists to provide "
        f"channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, "
        f"and an optional batch dimension (i.e. {batched} inputs).",
        users_level(),
    )


@overridable
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, H, W) with probability `p`, scale the rest.

    Shape: any, and that of the result.
    Raises: ValueError for a `p` that is no probability.

    Source: Tompson et al., Efficient object localization using convolutional networks, 2014.

    >>> torch.nn.functional.dropout2d(torch.ones(2, 3, 4, 4), p=1.0).sum()
    tensor(0.)
    """
    check_probability(p)
    n_dims = input.dim()
    if n_dims not in (3, 4):
        _warn_of_dimensions(n_dims, 2)
    if n_dims == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            users_level(),
        )
    return _channels(input, p, training, inplace)


@overridable
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W) with probability `p`, scale the rest.

    Shape: any, and that of the result.
    Raises: ValueError for a `p` that is no probability.

    >>> torch.nn.functional.dropout3d(torch.ones(3, 2, 2, 2), p=1.0).sum()
    tensor(0.)
    """
    check_probability(p)
    n_dims = input.dim()
    if n_dims not in (4, 5):
        _warn_of_dimensions(n_dims, 3)
    if n_dims == 5:
        return _channels(input, p, training, inplace)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _channels(batch, p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)
