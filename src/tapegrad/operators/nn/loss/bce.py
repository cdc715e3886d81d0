"""Binary cross-entropy: of probabilities, and of the logits behind them."""

import numpy as np

from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.writable import cannot_cast, check_constant, output_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.promote_types import result_type
from tapegrad.core.result_order import in_operands_order
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import require_floating
from tapegrad.operators.nn.loss import mse_l1
from tapegrad.operators.pointwise.arithmetic import no_difference_of_masks
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import logistic
from tapegrad.operators.pointwise.silu_mish_softplus import log_one_plus_exp


@primitive(
    promote="arith", node="BinaryCrossEntropyBackward0", hidden=("weight",), order=in_operands_order
)
def bernoulli_nll(xp, input, target, weight, *, reduction):
    """-(target log(input) + (1 - target) log(1 - input)), logarithms not below -100."""

    def loss(x: Tensor, y: Tensor, w: Any) -> Any:
        against, for_it = xp.maximum(xp.log1p(-x), -100), xp.maximum(xp.log(x), -100)
        return _times((y - 1) * against - y * for_it, w)

    return mse_l1.mean_or_sum(xp, mse_l1.pointwise(xp, loss, input, target, weight), reduction)


_LEAST = float.fromhex("0x1.197998p-40")  # 1e-12 in float32, as in PyTorch, for float64 too


def _times(x: Tensor, weight: Tensor) -> Any:
    return x if weight is None else x * weight


def _bernoulli_slope(xp, input, target, weight):
    return _times((input - target) / xp.maximum((1 - input) * input, _LEAST), weight)


def _log_odds(xp, input, weight):
    odds = xp.maximum(xp.log1p(-input), -100) - xp.maximum(xp.log(input), -100)
    return _times(odds, weight)


bernoulli_nll.vjp(
    input=lambda xp, g, input, target, weight, reduction: mse_l1.pointwise(
        xp,
        lambda x, y, w, g: _bernoulli_slope(xp, x, y, w) * g,
        *(input, target, weight, mse_l1.share(xp, g, input, reduction)),
    ),
    target=lambda xp, g, input, weight, reduction: (
        _log_odds(xp, input, weight) * mse_l1.share(xp, g, input, reduction)
    ),
)
bernoulli_nll.jvp(
    input=lambda xp, t, input, target, weight, reduction: mse_l1.mean_or_sum(
        xp, _bernoulli_slope(xp, input, target, weight) * t, reduction
    ),
    target=lambda xp, t, input, weight, reduction: mse_l1.mean_or_sum(
        xp, _log_odds(xp, input, weight) * t, reduction
    ),
)


def _target_first(result: Any, operands: list, params: dict) -> Any:
    """The order of memory of a loss that begins with 1 - target."""
    return in_operands_order(result, [operands[1], operands[0], *operands[2:]])


@primitive(
    promote="arith",
    node="BinaryCrossEntropyWithLogitsBackward0",
    hidden=("weight", "pos_weight"),
    order=_target_first,
)
def logistic_nll(xp, input, target, weight, pos_weight, *, reduction):
    """The loss of `bernoulli_nll` at sigmoid(input), from the logits themselves."""

    def loss(x: Tensor, y: Tensor, w: Any, positive: Any) -> Any:
        soft = log_one_plus_exp(xp, -x)
        if positive is not None:
            soft = ((positive - 1) * y + 1) * soft
        return _times((1 - y) * x + soft, w)

    losses = mse_l1.pointwise(xp, loss, input, target, weight, pos_weight)
    return mse_l1.mean_or_sum(xp, losses, reduction)


def _logistic_slope(xp, input, target, weight, pos_weight):
    s = logistic(xp, input)
    if pos_weight is None:
        return _times(s - target, weight)
    return _times((pos_weight * target + (1 - target)) * s - pos_weight * target, weight)


def _logistic_target_slope(xp, input, weight, pos_weight):
    slope = -input
    if pos_weight is not None:
        slope = slope + (pos_weight - 1) * log_one_plus_exp(xp, -input)
    return _times(slope, weight)


logistic_nll.vjp(
    input=lambda xp, g, input, target, weight, pos_weight, reduction: mse_l1.pointwise(
        xp,
        lambda x, y, w, p, g: _logistic_slope(xp, x, y, w, p) * g,
        *(input, target, weight, pos_weight, mse_l1.share(xp, g, input, reduction)),
    ),
    target=lambda xp, g, input, weight, pos_weight, reduction: (
        _logistic_target_slope(xp, input, weight, pos_weight)
        * mse_l1.share(xp, g, input, reduction)
    ),
)
logistic_nll.jvp(
    input=lambda xp, t, input, target, weight, pos_weight, reduction: mse_l1.mean_or_sum(
        xp, _logistic_slope(xp, input, target, weight, pos_weight) * t, reduction
    ),
    target=lambda xp, t, input, weight, pos_weight, reduction: mse_l1.mean_or_sum(
        xp, _logistic_target_slope(xp, input, weight, pos_weight) * t, reduction
    ),
)


# --- the public functions ---


@autocast
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Any:
    """The mean of -(target log(input) + (1 - target) log(1 - input)) for probabilities `input`.

    >>> loss = torch.nn.functional.binary_cross_entropy
    >>> loss(torch.tensor([0.5, 0.5]), torch.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    if input.shape != target.shape:
        raise errors.value_error(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size.",
            "Reshape one of them: the loss pairs element with element.",
        )
    mse_l1.check_reduction(reduction)
    require_floating("binary_cross_entropy", input)
    if target.dtype is not input.dtype:
        text = f"Found dtype {target.dtype.scalar_name} but expected {input.dtype.scalar_name}"
        raise errors.runtime_error(text, f"Convert the target: .to({input.dtype}).")
    values = elements(input._array)
    if values.size and not bool(((values >= 0) & (values <= 1)).all()):
        advice = "Apply sigmoid() first, or use binary_cross_entropy_with_logits."
        raise errors.runtime_error("all elements of input should be between 0 and 1", advice)
    weight = _spread("binary_cross_entropy", "weight", weight, input)
    return bernoulli_nll(input, target, weight, reduction=reduction)


@autocast
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """Binary cross-entropy at sigmoid(input), computed without overflow.

    >>> loss = torch.nn.functional.binary_cross_entropy_with_logits
    >>> loss(torch.tensor([0.0, 0.0]), torch.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    if input.shape != target.shape:
        text = f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        raise errors.value_error(text, "Reshape one of them: the loss pairs element with element.")
    mse_l1.check_reduction(reduction)
    name = "binary_cross_entropy_with_logits"
    weight = _spread(name, "weight", weight, input)
    pos_weight = _spread(name, "pos_weight", pos_weight, input)
    if target.dtype is input.dtype and input.dtype.is_floating_point:
        return logistic_nll(input, target, weight, pos_weight, reduction=reduction)
    if target.dtype.name == "bool":
        raise no_difference_of_masks(f"Convert the target: .to({input.dtype}).")
    require_floating("log_sigmoid_cpu", input)
    if not target.dtype.is_floating_point:
        advice = f"Convert the target: .to({input.dtype})."
        raise cannot_cast(result_type(input, target), target.dtype, advice)
    return logistic_nll(input, target, weight, pos_weight, reduction=reduction).to(target.dtype)


def _spread(function: str, name: str, weight: Tensor | None, input: Tensor) -> Any:
    """A weight in the shape and dtype of the input."""
    if weight is None:
        return None
    check_constant(function, name, weight)
    shape = input._array.shape
    if weight._array.shape != shape:
        from tapegrad.operators import broadcast_to

        try:
            weight = broadcast_to(weight, shape)
        except RuntimeError:
            raise _not_for(function, name, weight._array.shape, shape) from None
    return weight if weight.dtype is input.dtype else weight.to(input.dtype)


def _not_for(function: str, name: str, have: tuple, shape: tuple) -> RuntimeError:
    """The error for a weight of a shape that does not broadcast to the input's."""
    try:
        common = np.broadcast_shapes(have, shape)
    except ValueError:
        if function == "binary_cross_entropy":
            i = next(i for i in range(1, len(shape) + 1) if have[-i] not in (1, shape[-i]))
            return errors.runtime_error(
                f"Attempting to broadcast a dimension of length {have[-i]} at {-i}! "
                f"Mismatching argument at index 1 had torch.Size({list(have)}); but expected "
                f"shape should be broadcastable to {list(shape)}",
                "A weight has the input's shape, or broadcasts to it.",
            )
        return errors.broadcast(*((have, shape) if name == "pos_weight" else (shape, have)))
    return output_shape(shape, common, "A weight has the input's shape, or broadcasts to it.")
