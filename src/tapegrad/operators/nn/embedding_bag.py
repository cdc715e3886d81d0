"""Bags of embeddings: rows of a table looked up and at once added, averaged, or their maximum."""

import numpy as np

from tapegrad.arrays.namespaces import prepared
from tapegrad.arrays.numpy.searchsorted_bincount import counts_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.registration import SPARSE
from tapegrad.core.shape import numbered
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.op import linear, primitive, vjp
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.nn.embedding import check_indices

__torch__ = "embedding_bag"

_SUM, _MEAN, _MAX = range(3)


@primitive(
    node="EmbeddingBagBackward0",
    hidden=("indices", "lengths"),
    kernels=("read_at", "add_at", "spread_rows"),
)
def sum_bags(xp, weight, samples, indices, lengths, *, average, by_frequency):
    """For each bag the sum of the rows of `weight` that are in it, times `samples`, or their mean.

    indices (T,) are rows of the table, bag after bag, lengths (B,) says how many are in each bag.
    `samples` (T,) may be None.
    """
    rows = xp.read_at(weight, indices, (0,))
    if samples is not None:
        rows = rows * xp.reshape(samples, (-1, 1))
    total = xp.add_at(rows, (lengths.shape[0], weight.shape[1]), _bags(xp, lengths), (0,))
    return total / _counts(xp, lengths, total) if average else total


def _bags(xp: Namespace, lengths: Array) -> Any:
    """The bag of each index: (T,)."""
    return xp.repeat(xp.arange(lengths.shape[0]), lengths)


def _counts(xp: Namespace, lengths: Array, rows: Any) -> Any:
    """What the sum of each bag is divided by: (B, 1)."""
    return xp.astype(xp.expand_dims(xp.maximum(lengths, 1), axis=1), rows.dtype)


def _sum_weight_rule(xp, g, samples, indices, lengths, weight_like, average, by_frequency):
    if average:
        g = g / _counts(xp, lengths, g)
    rows = xp.read_at(g, _bags(xp, lengths), (0,))
    if samples is not None:
        rows = rows * xp.reshape(samples, (-1, 1))
    return xp.spread_rows(rows, indices, weight_like.shape[0], -1, by_frequency)


sum_bags.vjp(
    weight=_sum_weight_rule,
    samples=lambda xp, g, weight, indices, lengths: xp.sum(
        xp.read_at(g, _bags(xp, lengths), (0,)) * xp.read_at(weight, indices, (0,)), axis=1
    ),
)
sum_bags.jvp(
    weight=lambda xp, t, samples, indices, lengths, average: sum_bags.on_arrays(
        xp, t, samples, indices, lengths, average=average, by_frequency=False
    ),
    samples=lambda xp, t, weight, indices, lengths: sum_bags.on_arrays(
        xp, weight, t, indices, lengths, average=False, by_frequency=False
    ),
)


def _sparse_weight_rule(xp, g, samples, indices, lengths, weight_like, average, by_frequency):
    if by_frequency:
        raise SPARSE().by_frequency_refused()
    if average:
        g = g / _counts(xp, lengths, g)
    rows = xp.read_at(g, _bags(xp, lengths), (0,))
    if samples is not None:
        rows = rows * xp.reshape(samples, (-1, 1))
    return SPARSE().gradient_of_rows(rows, indices, weight_like.shape)


@primitive(
    node="EmbeddingBagBackward0",
    hidden=("indices", "lengths"),
    kernels=("read_at", "add_at"),
    registered=False,
)
def sum_bags_sparsely(xp, weight, samples, indices, lengths, *, average, by_frequency):
    """`sum_bags` with a gradient of the table that is sparse: a row for each index."""
    options = {"average": average, "by_frequency": by_frequency}
    return sum_bags.on_arrays(xp, weight, samples, indices, lengths, **options)


sum_bags_sparsely.vjp(
    weight=_sparse_weight_rule,
    samples=lambda xp, g, weight, indices, lengths: xp.sum(
        xp.read_at(g, _bags(xp, lengths), (0,)) * xp.read_at(weight, indices, (0,)), axis=1
    ),
)


@vjp(
    weight=lambda xp, g, weight_like, chosen, filled: xp.add_along(
        xp.where(filled, g, 0), weight_like.shape, chosen, 0
    )
)
@linear(
    node="EmbeddingBagBackward0", hidden=("chosen", "filled"), kernels=("gather_along", "add_along")
)
def choose_in_bags(xp, weight, chosen, filled):
    """weight[chosen[b, d], d] for each bag b, 0 where it is not filled: chosen (B, D), (B, 1)."""
    return xp.where(filled, xp.gather_along(weight, chosen, 0), 0)


def _first_maxima(weight: Array, indices: Any, starts: Any, filled: Any) -> Any:
    """For each bag that is filled the rows of the table that hold its maxima: (B, D)."""
    chosen = np.zeros((len(filled), weight.shape[1]), np.int64)
    if not indices.size:
        return chosen
    begins = starts[filled].astype(np.intp, copy=False)
    rows = weight[indices]
    best = np.maximum.reduceat(rows, begins, axis=0)
    lengths = np.diff(np.append(begins, len(indices)))
    best = best[numbered(lengths)]
    hits = np.where((rows == best) | (rows != rows), np.arange(len(indices))[:, None], len(indices))
    chosen[filled] = indices[np.minimum.reduceat(hits, begins, axis=0)]
    return chosen


def _check_offsets(indices: Tensor, offsets: Any, include_last_offset: bool) -> None:
    values = offsets._array
    n = indices._array.shape[0]
    if include_last_offset and not values.size:
        text = "include_last_offset: number of offset should be at least 1"
        raise errors.runtime_error(text, "The last offset is the number of indices.")
    if not values.size:
        return
    if values[0] != 0:
        raise errors.runtime_error(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
            f"from position 0. However, got {values[0]}",
            "Offsets are where bags begin: the first at 0.",
        )
    if values[-1] > n:
        raise errors.runtime_error(
            f"offsets[-1] can not be greater than input's length {n} but got offsets[-1] of "
            f"{values[-1]}",
            "Offsets are positions in the input.",
        )
    if (np.diff(values) < 0).any():
        raise errors.unmet("i < index_size", "Offsets must not decrease.")


def _check_dimensions(weight: Tensor, indices: Tensor, offsets: Tensor) -> None:
    of_offsets = (1,) if indices.ndim == 1 else None
    for name, x, ranks in (
        ("input", indices, (1, 2)),
        ("offsets", offsets, of_offsets),
        ("weight", weight, (2,)),
    ):
        if ranks is not None and x.ndim not in ranks:
            wanted = " or ".join(f"{n}D" for n in ranks)
            raise errors.runtime_error(
                f"{name} has to be a {wanted} Tensor, but got Tensor of dimension {x.ndim}",
                "Indices and offsets are rows of numbers, the table is (rows, features).",
            )


def _check_types(weight: Tensor, indices: Tensor, offsets: Tensor, samples: Any, mode: int) -> None:
    if samples is not None and mode != _SUM:
        raise errors.runtime_error(
            "embedding_bag: per_sample_weights only supported with mode='sum'",
            "A mean and a maximum have no weights.",
        )
    check_indices("embedding_bag", indices, weight)
    check_indices("embedding_bag", offsets, weight)
    if not weight.dtype.is_floating_point:
        raise errors.runtime_error(
            "Expected tensor for argument #1 'weight' to have one of the following scalar "
            f"types: Half, BFloat16, Float, Double; but got {errors.tensor_type(weight.dtype)} "
            "instead (while checking arguments for embedding_bag)",
            "Convert the table first: weight.float().",
        )
    if samples is not None and samples.dtype is not weight.dtype:
        have, want = errors.tensor_type(weight.dtype), errors.tensor_type(samples.dtype)
        raise errors.runtime_error(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for "
            f"argument #1 'per_sample_weights'; but type {have} does not equal "
            f"{want} (while checking arguments for embedding_bag)",
            "Convert the weights of the samples to the table's dtype.",
        )


def _check_samples(samples: Tensor, indices: Tensor) -> None:
    advice = "Give one weight for each index."
    if samples.ndim != 1:
        raise errors.unmet("per_sample_weights.value().dim() == 1", advice)
    if samples.numel() != indices.numel():
        raise errors.unmet("per_sample_weights.value().numel() == indices.numel()", advice)


def _row(padding_idx: int, n: int) -> int:
    """The row of the table that is left out, counted from 0."""
    if not -n <= padding_idx < n:
        raise errors.runtime_error(
            f"padding_idx must be within the number of embeddings, {-n} through {n - 1}, but "
            f"got {padding_idx}",
            "padding_idx is a row of the table.",
        )
    return padding_idx % n if n else -1


@per_sample
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Sum (mode 0), mean (1) or maximum (2) of the rows of `weight` in each bag of indices.

    Bag b holds `indices[offsets[b]:offsets[b + 1]]`. Returns the bags (B, D), the bag of each
    index, the number of rows in each bag, and for the maximum the rows it came from.

    Shapes: weight (V, D), indices (n,), offsets (B,).
    Raises: RuntimeError for an index that names no row.

    >>> weight = torch.tensor([[1.0], [2.0], [4.0]])
    >>> torch.embedding_bag(weight, torch.tensor([0, 1, 2]), torch.tensor([0, 1]))[0]
    tensor([[1.],
            [6.]])
    """
    padding = -1 if padding_idx is None else _row(padding_idx, weight.size(0))
    _check_dimensions(weight, indices, offsets)
    _check_types(weight, indices, offsets, per_sample_weights, mode)
    _check_offsets(indices, offsets, include_last_offset)
    if per_sample_weights is not None:
        _check_samples(per_sample_weights, indices)
    if indices._array.ndim == 2:
        indices = indices.reshape(-1)
    values, n = indices._array, weight._array.shape[0]
    wrong = np.flatnonzero((values < 0) | (values >= n))
    if wrong.size:
        raise errors.runtime_error(
            f"Index {int(wrong[0])} of input takes value {int(values[wrong[0]])} which is not in "
            f"the valid range [0, {n})",
            f"The table has rows 0 to {n - 1}.",
        )
    starts = offsets._array[:-1] if include_last_offset else offsets._array
    end = offsets._array[-1] if include_last_offset else values.size
    lengths = np.diff(np.append(starts, end))
    bags = numbered(lengths)
    values = values[: bags.size]
    if per_sample_weights is not None and bags.size != per_sample_weights._array.size:
        per_sample_weights = per_sample_weights[: bags.size]
    if padding >= 0 and (values == padding).any():
        kept = np.flatnonzero(values != padding)
        values, bags = values[kept], bags[kept]
        lengths = counts_of(bags, len(starts))
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.index_select(0, wrap(kept))

    counts = wrap(lengths)
    if mode == _MAX:
        filled = lengths > 0
        begins = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))[:-1]
        chosen = prepared(_first_maxima, weight._array, values, begins, filled)
        result = choose_in_bags(weight, wrap(chosen), wrap(filled[:, None]))
        return result, wrap(bags), counts, wrap(chosen)
    options = {"average": mode == _MEAN, "by_frequency": bool(scale_grad_by_freq)}
    bagged = sum_bags_sparsely if sparse and weight.requires_grad else sum_bags
    result = bagged(weight, per_sample_weights, wrap(values), counts, **options)
    return result, wrap(bags), counts, counts
