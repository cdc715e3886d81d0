"""Grids, products and blocks: tensors of all combinations of others' elements."""

import itertools

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import default
from tapegrad.core.tensor_base import wrap
from tapegrad.core.warn_once import warn_once
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.cat_stack import one_dtype, stack
from tapegrad.operators.shape.expand_broadcast import expand
from tapegrad.operators.shape.reshape_flatten_atleast import reshape


@require_tensors
def meshgrid(*tensors: Tensor, indexing: str | None = None) -> tuple:
    """Vectors repeated along each other's dimensions: the coordinates of a grid.

    Shapes: (n1,), (n2,), ... to (n1, n2, ...) each; for "xy" the first two exchanged.
    Raises: RuntimeError for no tensors, matrices, or dtypes that differ.

    >>> a, b = torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4, 5]), indexing="ij")
    >>> a.shape, b[0]
    (torch.Size([2, 3]), tensor([3, 4, 5]))
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise errors.runtime_error("meshgrid expects a non-empty TensorList", "Pass a vector.")
    for x in tensors:
        if x._array.ndim > 1:
            text = f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x}"
            raise errors.runtime_error(text, "Pass vectors.")
        if x._array.dtype != tensors[0]._array.dtype:
            text = "meshgrid expects all tensors to have the same dtype"
            raise errors.runtime_error(text, "Convert them first.")
    if indexing not in (None, "ij", "xy"):
        text = f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        raise errors.runtime_error(text, 'Pass indexing="ij".')
    if indexing is None:
        warn_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument."
        )
    order = list(range(len(tensors)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    sizes = [tensors[axis]._array.size for axis in order]
    rows = [[-1 if i == axis else 1 for i in range(len(order))] for axis in order]
    return tuple([expand(reshape(x, row), sizes) for x, row in zip(tensors, rows, strict=True)])


def _check_vector(x: Tensor) -> None:
    if x._array.ndim != 1:
        text = f"Expect a 1D vector, but got shape {list(x._array.shape)}"
        raise errors.runtime_error(text, "flatten() makes one.")


@require_tensors
def cartesian_prod(*tensors: Tensor) -> Any:
    """All combinations of the vectors' elements, one in each row.

    Shapes: (n1,), (n2,), ... to (n1 n2 ..., number of vectors); one vector as it is.

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    for x in tensors:
        _check_vector(x)
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return stack([reshape(x, (-1,)) for x in grids], 1)


@require_tensors
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """All ways to choose `r` elements of a vector, in order, one in each row.

    Shape: (n,) to (number of choices, r).
    Raises: RuntimeError for a negative `r`.

    >>> torch.combinations(torch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    from tapegrad.operators.indexing.take_put import take_flat

    _check_vector(input)
    if r < 0:
        text = f"Expect a non-negative number, but got {r}"
        raise errors.runtime_error(text, "Say how many to choose.")
    if r == 0:
        return wrap(np.empty(0, input._array.dtype))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    n = input._array.size
    places = np.asarray(list(choose(range(n), r)), np.min_scalar_type(n)).reshape(-1, r)
    return stack([take_flat(input, wrap(column.copy())) for column in places.T], 1)


def _blocks(g: Array, likes: list) -> list:
    found = []
    i = j = 0
    for like in likes:
        height, width = like.shape
        found.append(g[i : i + height, j : j + width])
        i, j = i + height, j + width
    return found


@vjp(tensors=lambda g, tensors_like: _blocks(g, tensors_like))
@linear(node="BlockDiagBackward0")
def block_diag_of(xp, *tensors):
    """Matrices on the diagonal of one large matrix of zeros."""
    width = sum(x.shape[1] for x in tensors)
    dtype = tensors[0].dtype
    rows = []
    start = 0
    for x in tensors:
        height, n = x.shape
        left = xp.zeros((height, start), dtype=dtype)
        right = xp.zeros((height, width - start - n), dtype=dtype)
        rows.append(xp.concat((left, x, right), axis=1))
        start += n
    return xp.concat(rows, axis=0)


@require_tensors
def block_diag(*tensors: Tensor) -> Any:
    """Matrices on the diagonal of one large matrix of zeros; vectors count as rows.

    Shapes: (m1, n1), (m2, n2), ... to (m1 + m2 + ..., n1 + n2 + ...).
    Raises: RuntimeError for more than two dimensions.

    >>> torch.block_diag(torch.ones(1, 2, dtype=torch.int64), torch.tensor(7))
    tensor([[1, 1, 0],
            [0, 0, 7]])
    """
    for i, x in enumerate(tensors):
        if x._array.ndim > 2:
            raise errors.runtime_error(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {x._array.ndim} dimensions",
                "Pass matrices.",
            )
    if not tensors:
        return wrap(np.empty((1, 0), default().numpy))
    tensors = one_dtype(tensors)
    matrices = [x if x._array.ndim == 2 else reshape(x, (1, x._array.size)) for x in tensors]
    return block_diag_of(*matrices)


__torch__ = "block_diag cartesian_prod combinations meshgrid"
