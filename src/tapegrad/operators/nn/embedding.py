"""Embeddings: rows of a table, looked up by number; one-hot vectors."""

import numpy as np

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.namespaces import elements, is_batched, is_mapped
from tapegrad.autograd.captured import refuse_captured
from tapegrad.autograd.mode import no_grad
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.registration import SPARSE
from tapegrad.core.tensor_base import REFUSING, wrap
from tapegrad.dispatch.in_place import check_writable, update, written
from tapegrad.dispatch.op import linear, vjp
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.dtype_check import check_real_graph, require_norm
from tapegrad.operators.nn.layer_norm import real_argument

__torch__ = "embedding embedding_renorm_"


@vjp(
    weight=lambda xp, g, weight_like, indices, padding, by_frequency: xp.spread_rows(
        g, indices, weight_like.shape[0], padding, by_frequency
    )
)
@linear(name="look_up", node="EmbeddingBackward0", hidden=("indices",), kernels=("spread_rows",))
def look_up(xp, weight, indices, *, padding, by_frequency):
    """The rows of `weight` that `indices` (...) names: shape (..., D)."""
    rows = xp.take(weight, xp.reshape(indices, (-1,)), axis=0)
    return xp.reshape(rows, (*indices.shape, weight.shape[1]))


def _sparse_rule(xp, g, weight_like, indices, padding, by_frequency):
    if by_frequency:
        raise SPARSE().by_frequency_refused()
    return SPARSE().gradient_of_rows(g, indices, weight_like.shape, padding)


@vjp(weight=_sparse_rule)
@linear(node="EmbeddingBackward0", hidden=("indices",), registered=False)
def look_up_sparsely(xp, weight, indices, *, padding, by_frequency):
    """`look_up` with a gradient that is sparse: a row for each index."""
    return look_up.on_arrays(xp, weight, indices, padding=padding, by_frequency=by_frequency)


def _spread_rule(xp, g, indices, n, padding, by_frequency):
    index = xp.reshape(indices, (-1,))
    rows = xp.read_at(g, index, (0,))
    used = xp.reshape(index != padding, (-1, 1))
    rows = xp.where(used, rows, 0)
    if by_frequency:
        often = xp.add_at(xp.astype(used, g.dtype), (n, 1), index, (0,))
        rows = rows / xp.maximum(xp.read_at(often, index, (0,)), 1)
    return xp.reshape(rows, (*indices.shape, g.shape[1]))


@vjp(g=_spread_rule)
@linear(
    node="EmbeddingDenseBackwardBackward0",
    hidden=("indices",),
    kernels=("spread_rows", "read_at", "add_at"),
)
def spread_looked_up(xp, g, indices, *, n, padding, by_frequency):
    """(n, D): each row of `g` (..., D) added where `indices` says; the reverse of `look_up`."""
    return xp.spread_rows(g, indices, n, padding, by_frequency)


@tensor_kernel
def spread_rows(g: Array, indices: Array, n: int, padding: int, by_frequency: bool) -> Any:
    """The kernel on tensors, for derivatives of derivatives."""
    return spread_looked_up(g, indices, n=n, padding=padding, by_frequency=by_frequency)


def check_indices(name: str, indices: Tensor, weight: Tensor, place: int = 1) -> None:
    """Raise unless `indices` are whole numbers and `weight` is a tensor."""
    errors.need_tensors(name, weight=weight, indices=indices)
    if indices.dtype.name not in ("int64", "int32"):
        kind = errors.tensor_type(indices.dtype)
        raise errors.runtime_error(
            f"Expected tensor for argument #{place} 'indices' to have one of the following scalar "
            f"types: Long, Int; but got {kind} instead (while checking arguments for {name})",
            "Indices are whole numbers: indices.long().",
        )


@require_tensors
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` that `indices` names.

    Row `padding_idx` gets no gradient. With `scale_grad_by_freq` the gradient of a row is divided
    by how often it was named.

    Shapes: weight (V, D), indices any (...); result (..., D).
    Raises: IndexError for an index that names no row; RuntimeError where `weight` is no matrix.

    >>> weight = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> torch.embedding(weight, torch.tensor([1, 0, 1]))
    tensor([[2., 3.],
            [0., 1.],
            [2., 3.]])
    """
    if getattr(weight, "_array", None) is not None and weight._array.ndim != 2:
        raise errors.runtime_error("'weight' must be 2-D", "The table has a row for each index.")
    check_indices("embedding", indices, weight)
    _check_rows(indices._array, weight._array.shape[0])
    if weight.dtype.is_complex:
        check_real_graph("embedding", weight)
    if sparse and weight.requires_grad:
        look = look_up_sparsely
    else:
        look = look_up
    return look(weight, indices, padding=int(padding_idx), by_frequency=bool(scale_grad_by_freq))


def _check_rows(values: Any, n: int) -> None:
    """Raise unless all indices are of rows of a table of `n`."""
    values = elements(values)
    if values.size and (values.min() < 0 or values.max() >= n):
        raise errors.index_error("index out of range in self", f"The table has rows 0 to {n - 1}.")


@require_tensors
def embedding_renorm_(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Any:
    """Scale rows of `weight` that `indices` names and that are longer than `max_norm`, in place.

    Shapes: weight (V, D), indices any; the weight's stays.

    >>> weight = torch.tensor([[3.0, 4.0], [3.0, 4.0]])
    >>> torch.embedding_renorm_(weight, torch.tensor([1]), 1.0, 2.0)
    tensor([[3.0000, 4.0000],
            [0.6000, 0.8000]])
    """
    if REFUSING[0]:
        refuse_captured("embedding_renorm_", weight)
    check_writable(weight)
    if weight.ndim != 2:
        raise errors.runtime_error(
            f"Expected 2-dimensional tensor, but got {weight.ndim}-dimensional tensor for "
            "argument #1 'self' (while checking arguments for embedding_renorm_)",
            "The table has a row for each index.",
        )
    check_indices("embedding_renorm_", indices, weight, 2)
    max_norm = real_argument("embedding_renorm_", "max_norm", 3, max_norm)
    norm_type = real_argument("embedding_renorm_", "norm_type", 4, norm_type)
    values, table = indices._array, weight._array
    _check_named(elements(values), weight)
    if is_batched(values) or is_batched(table):
        with no_grad():
            return update(
                "embedding_renorm_", weight, lambda x: _renormed(x, indices, max_norm, norm_type)
            )
    if not values.size:
        return weight
    named = np.unique(values)
    rows = table[named]
    lengths = wrap(rows).norm(norm_type, 1, keepdim=True)._array
    scale = np.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1).astype(table.dtype)
    table[named] = rows * scale
    written(weight, "embedding_renorm_")
    return weight


def _check_named(values: Any, weight: Tensor) -> None:
    """Raise unless `values`, which may count from the end, are rows of a table of numbers."""
    n = weight._array.shape[0]
    wrong = values[(values < -n) | (values >= n)]
    if wrong.size:
        raise errors.index_error(
            f"select(): index {wrong.min()} out of range for tensor of size "
            f"{list(weight.shape)} at dimension 0",
            f"The table has rows 0 to {n - 1}.",
        )
    if values.size:
        require_norm(weight.dtype)


@per_sample(name="embedding_renorm_")
def _renormed(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Any:
    """A copy of the table, its long rows scaled: inside `vmap`, for each member."""
    return embedding_renorm_(weight.detach().clone(), indices, max_norm, norm_type)


@require_tensors
def one_hot(input: Tensor, num_classes: int = -1) -> Any:
    """Vectors with a 1 at the place that `input` names and 0 elsewhere.

    `num_classes` is one more than the largest number if it is -1.

    Shape: any (...) to (..., C).
    Raises: RuntimeError for classes that are not int64, negative, or not below `num_classes`.

    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    values = getattr(input, "_array", None)
    if values is None:
        raise errors.must_be("one_hot", "input", 1, "Tensor", input)
    if input.dtype.name != "int64":
        text = "one_hot is only applicable to index tensor of type LongTensor."
        raise errors.runtime_error(text, "Class numbers are integers: input.long().")
    if not values.size:
        if num_classes <= 0:
            text = "Can not infer total number of classes from empty tensor."
            raise errors.runtime_error(text, "Give num_classes.")
        return input.new_empty((*values.shape, num_classes))
    if elements(values).min() < 0:
        text = "Class values must be non-negative."
        raise errors.runtime_error(text, "Classes are numbered from 0.")
    if num_classes == -1:
        if is_mapped(values):
            raise errors.runtime_error(
                "When vmap-ing torch.nn.functional.one_hot, please provide an explicit "
                "positive num_classes argument.",
                "The numbers of one member do not say how many there are.",
            )
        num_classes = int(elements(values).max()) + 1
    elif elements(values).max() >= num_classes:
        text = "Class values must be smaller than num_classes."
        raise errors.runtime_error(text, f"The largest number is {int(elements(values).max())}.")
    result = input.new_zeros((*values.shape, num_classes))
    return result.scatter_(-1, input.unsqueeze(-1), 1)
