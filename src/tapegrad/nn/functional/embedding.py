"""Embeddings with PyTorch's arguments: rows of a table, and bags of them."""

from tapegrad.autograd.mode import no_grad
from tapegrad.core.argument_check import users_level
from tapegrad.core.errors import assertion_error, not_implemented, value_error, warn
from tapegrad.core.overridable import overridable
from tapegrad.operators.creation.arange import arange
from tapegrad.operators.nn import embedding as embedding_table
from tapegrad.operators.nn import embedding_bag as embedding_sum
from tapegrad.operators.nn.embedding import one_hot
from tapegrad.tensors.tensor import Tensor

__all__ = ["embedding", "embedding_bag", "one_hot"]


@overridable
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` that `input` names.

    Row `padding_idx` gets no gradient. With `max_norm` the rows that are named are first scaled in
    place so that none is longer. There are no sparse gradients.

    Shapes: input any (...), weight (V, D); result (..., D).
    Raises: IndexError for an index that names no row.

    >>> weight = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), weight)
    tensor([[2., 3.],
            [0., 1.]])
    """
    row = -1
    if padding_idx is not None:
        n = weight.size(0)
        if not -n <= padding_idx < n:
            raise assertion_error(
                "Padding_idx must be within num_embeddings", f"The table has {n} rows."
            )
        row = padding_idx % n
    if max_norm is not None:
        with no_grad():
            embedding_table.embedding_renorm_(weight, input, max_norm, norm_type)
    return embedding_table.embedding(weight, input, row, scale_grad_by_freq, sparse)


_MODES = {"sum": 0, "mean": 1, "max": 2}


@overridable
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sum, mean or maximum of the rows of `weight` in each bag of indices.

    `input` (B, N) has a bag in each row; or it is one row of indices, and `offsets` (B,) says where
    in it bags begin. `per_sample_weights`, in the input's shape, scale the rows of a sum. Row
    `padding_idx` is left out of every bag.

    Shapes: input (B, N), or (n,) with offsets (B,); weight (V, D); result (B, D).
    Raises: ValueError where the dimensions do not fit.

    >>> weight = torch.tensor([[1.0], [2.0], [4.0]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1], [1, 2]]), weight, mode="sum")
    tensor([[3.],
            [6.]])
    """
    if weight.dtype.name == "int64" and input.is_floating_point():
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag("
            "weight, input, ...)` is deprecated, and should now be `embedding_bag(input, weight, "
            "...)`.",
            users_level(),
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise value_error(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, "
            f"then it must have the same shape as the input ({input.shape})",
            "Give one weight for each index.",
        )
    if weight.dim() != 2:
        raise value_error(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}",
            "The table has a row for each index.",
        )
    input, offsets, per_sample_weights = _bags(
        input, offsets, per_sample_weights, include_last_offset
    )
    _check_mode(mode, scale_grad_by_freq, sparse, per_sample_weights)
    if max_norm is not None:
        with no_grad():
            embedding_table.embedding_renorm_(weight, input, max_norm, norm_type)
    options = scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights, include_last_offset
    return embedding_sum.embedding_bag(weight, input, offsets, *options, padding_idx)[0]


def _bags(
    input: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None, with_end: bool
) -> tuple:
    """Indices in one row, where bags begin, and a weight for each index or None."""
    if input.dim() == 2:
        if offsets is not None:
            raise value_error(
                "if input is 2D, then offsets has to be None, as input is treated is a "
                "mini-batch of fixed length sequences. However, found offsets of type "
                f"{type(offsets)}",
                "Leave offsets away, or give the input as one row.",
            )
        n, length = input.shape
        offsets = arange(0, n * length + (1 if with_end else 0), length or 1, device=input.device)
        if not length:
            offsets = offsets.new_zeros(n + with_end)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
        return input, offsets, per_sample_weights
    if input.dim() != 1:
        raise value_error(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}",
            "A bag is a row of indices.",
        )
    if offsets is None:
        raise value_error(
            "offsets has to be a 1D Tensor but got None",
            "Say where in the input bags begin, or give a bag in each row of a 2D input.",
        )
    if offsets.dim() != 1:
        raise value_error("offsets has to be a 1D Tensor", "One offset for each bag.")
    return input, offsets, per_sample_weights


def _check_mode(
    mode: str, scale_grad_by_freq: bool, sparse: bool, per_sample_weights: Tensor | None
) -> None:
    if mode not in _MODES:
        raise value_error("mode has to be one of sum, mean or max", f"mode is {mode!r} here.")
    if mode == "max" and scale_grad_by_freq:
        raise value_error(
            "max mode does not support scaling the gradient by the frequency",
            "Use mode='sum' or 'mean'.",
        )
    if mode == "max" and sparse:
        raise value_error("max mode does not support sparse weights", "Use mode='sum' or 'mean'.")
    if per_sample_weights is not None and mode != "sum":
        raise not_implemented(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only "
            f"supported for mode='sum' (got mode='{mode}'). Please open a feature request on "
            "GitHub.",
            "Use mode='sum'.",
        )
