"""The cross-entropy of linear scores, whole or piece by piece."""

from __future__ import annotations

from typing import Any
from warnings import warn

from tapegrad.arrays.namespaces import elements
from tapegrad.core.errors import index_error, runtime_error, value_error
from tapegrad.nn.linear_cross_entropy_options import rows_at_a_time
from tapegrad.operators.creation.arange import arange
from tapegrad.operators.linalg.linear import linear
from tapegrad.operators.nn.loss.linear_cross_entropy import chunked_cross_entropy
from tapegrad.operators.nn.loss.nll_cross_entropy import cross_entropy
from tapegrad.tensors.tensor import Tensor

__all__ = ["linear_cross_entropy"]


def _check(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    n = input.dim()
    if n not in (1, 2):
        raise runtime_error(
            f"expected input with dimensionality 1 or 2, got {n}",
            "The input is (N, in_features) or (in_features).",
        )
    if weight.dim() < 2:
        raise runtime_error(
            f"expected linear_weight with dimensionality at least 2, got {weight.dim()}",
            "The weight is (C, in_features).",
        )
    if input.shape[-1] != weight.shape[-1]:
        raise runtime_error(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively",
            "The last dimensions are multiplied.",
        )
    if n == 1 and weight.dim() > 2:
        raise runtime_error(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires "
            f"batched input, (N, {weight.shape[-1]}), got unbatched input with shape "
            f"{_sizes(input.shape)}",
            "Give the input a first dimension: input.unsqueeze(0).",
        )
    want = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != want:
        raise runtime_error(
            f"expected linear_bias shape {_sizes(want)}, got {_sizes(bias.shape)}",
            "There is one bias for each row of the weight.",
        )


def _sizes(shape: Any) -> str:
    return str(tuple(shape))


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)`.

    input is (N, D), linear_weight (C, D) or (C, d1, ..., D), target classes (N, d1, ...) or
    probabilities in the scores' shape. With `options` (`nn.LinearCrossEntropyOptions`) the scores
    are made and forgotten a few rows at a time, in the backward pass again, so that (N, C) of them
    never exist at once; derivatives of derivatives and forward mode work there, too.

    >>> x, w = torch.eye(2), torch.eye(2)
    >>> torch.nn.functional.linear_cross_entropy(x, w, torch.tensor([0, 1]))
    tensor(0.3133)
    """
    _check(input, linear_weight, linear_bias)
    outer = tuple(linear_weight.shape[1:-1])
    if ignore_index is not None and target.dtype.is_floating_point:
        raise runtime_error(
            "ignore_index cannot be specified when target contains probabilities",
            "Leave ignore_index away, or give class numbers.",
        )
    if options is not None:
        fits = (
            reduction in ("mean", "sum", "none")
            and label_smoothing == 0
            and target.dtype.name == "int64"
            and not outer
        )
        if fits and input.shape[0]:
            return _chunked(
                input, linear_weight, linear_bias, target, weight, reduction, ignore_index, options
            )
        if not fits:
            bias_shape = None if linear_bias is None else _sizes(linear_bias.shape)
            warn(
                "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in "
                "{'mean','sum','none'}, label_smoothing == 0, target.dtype == int64, out_features "
                f"== (). Got reduction={reduction!r}, label_smoothing={label_smoothing}, "
                f"target.dtype={target.dtype}, out_features={outer}, tracing=False, "
                f"linear_bias.shape={bias_shape}.",
                stacklevel=2,
            )
    flat = linear_weight.reshape(-1, linear_weight.shape[-1])
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = linear(input, flat, bias).view(*input.shape[:-1], *linear_weight.shape[:-1])
    return cross_entropy(
        scores,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def _chunked(
    input: Tensor,
    linear_weight: Tensor,
    linear_bias: Tensor | None,
    target: Tensor,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int | None,
    options: Any,
) -> Tensor:
    single = input.dim() == 1
    if single:
        input, target = input.unsqueeze(0), target.reshape(1)
    n, n_classes = input.shape[0], linear_weight.shape[0]
    if tuple(target.shape) != (n,):
        raise value_error(
            f"Expected input batch_size ({n}) to match target batch_size ({target.shape[0]}).",
            "There is one class for each row.",
        )
    if weight is not None and tuple(weight.shape) != (n_classes,):
        raise runtime_error(
            f"weight tensor should be defined either for all {n_classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}",
            "Give one weight for each class.",
        )
    left_out = -100 if ignore_index is None else ignore_index
    ignored = target == left_out
    labels = elements(target._array)  # of all members, inside vmap
    wrong = labels[((labels < 0) | (labels >= n_classes)) & (labels != left_out)]
    if wrong.size:
        raise index_error(
            f"Target {wrong[0]} is out of bounds.",
            f"Classes are numbered from 0 to {n_classes - 1}.",
        )
    safe = target.masked_fill(ignored, 0)
    scale = input.new_ones(n) if weight is None else weight.detach()[safe].to(input.dtype)
    scale = scale.masked_fill(ignored, 0.0)
    losses = chunked_cross_entropy(
        *(input, linear_weight, safe, scale, arange(n_classes, device=input.device)),
        *(() if linear_bias is None else (linear_bias,)),
        chunk=rows_at_a_time(options, n, input.shape[1], n_classes),
        wants_input=input.requires_grad,
    )
    if reduction == "none":
        return losses.squeeze(0) if single else losses
    return losses.sum() / scale.sum() if reduction == "mean" else losses.sum()
