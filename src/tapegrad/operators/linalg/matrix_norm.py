"""Norms of matrices."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Dim, DTypeLike, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.operators.linalg.matrix_check import check_floating, check_matrix, check_tensors
from tapegrad.operators.linalg.removed import say_once
from tapegrad.operators.reduction.vector_norm import check_norm, linalg_vector_norm

__torch__ = "nuclear_norm"

_INF = float("inf")
_NAME = "linalg.matrix_norm"
_FORMS = (
    "Tensor input, Number ord, tuple of ints dim = {-2,-1}, bool keepdim = False, *, "
    "torch.dtype dtype = None, Tensor out = None",
    'Tensor input, str ord = "fro", tuple of ints dim = {-2,-1}, bool keepdim = False, *, '
    "torch.dtype dtype = None, Tensor out = None",
)


@require_tensors
def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Dim = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Any:
    """A norm of matrices, which lie in the two dimensions `dim`.

    | ord | what |
    |---|---|
    | "fro" | the square root of the sum of squares |
    | "nuc" | the sum of the singular values |
    | 2, -2 | the largest, the smallest singular value |
    | 1, -1 | the largest, the smallest sum of absolute values of a column |
    | inf, -inf | the same of a row |

    Shape: the input's without the two of `dim`, with `keepdim` of size 1 there.

    >>> torch.linalg.matrix_norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]), "nuc")
    tensor(7.)
    """
    check_tensors("linalg_matrix_norm", input=A)
    ord = plain_number(ord)
    number = isinstance(ord, (int, float, complex))
    if not (number or isinstance(ord, str)) or not isinstance(dim, (tuple, list)):
        given = (A, ord) if dim == (-2, -1) else (A, ord, dim)
        raise errors.invalid_combination("linalg_matrix_norm", given, {}, _FORMS)
    _check_order(ord)
    check_matrix(_NAME, A)
    rows, columns = _axes(A, tuple(dim))
    A, dtype = check_norm(_NAME, A, dtype)
    if ord == "fro":
        found = linalg_vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    elif ord == "nuc" or abs(ord) == 2:
        found = _of_singular_values(A, ord, rows, columns, keepdim, dtype)
    else:
        if abs(ord) == _INF:
            rows, columns = columns, rows
        sums = linalg_vector_norm(A, 1, (rows,), keepdim, dtype=dtype)
        axis = columns - 1 if columns > rows and not keepdim else columns
        found = _extreme(sums, axis, keepdim, ord > 0)
    return _finish("linalg_matrix_norm", _NAME, found, out)


def plain_number(order: Any) -> Any:
    """A number of NumPy, or a tensor without dimensions, as a Python number."""
    return order.item() if hasattr(order, "item") else order


def _check_order(order: Any) -> None:
    if isinstance(order, complex):
        message = f"{_NAME}: Expected a non-complex scalar as the order of norm."
        raise errors.runtime_error(message, "Choose one of 1, -1, 2, -2, inf, -inf.")
    if order not in ("fro", "nuc") if isinstance(order, str) else abs(order) not in (1, 2, _INF):
        text = order if isinstance(order, str) else f"{float(order):g}"
        message = f"{_NAME}: Order {text} not supported."
        raise errors.runtime_error(message, "Choose one of 'fro', 'nuc', 1, -1, 2, -2, inf, -inf.")


def _axes(x: Tensor, dim: tuple) -> tuple[int, int]:
    """The dimensions of the matrices, not negative."""
    if len(dim) != 2:
        text = f"{_NAME}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}"
        raise errors.runtime_error(text, "Name the dimension of the rows and that of the columns.")
    rows, columns = (axis_of(d, x._array.ndim) for d in dim)
    if rows == columns:
        text = f"{_NAME}: dims must be different. Got ({rows}, {columns})"
        raise errors.runtime_error(text, "Name the dimension of the rows and that of the columns.")
    return rows, columns


def _of_singular_values(
    x: Tensor, order: Any, rows: int, columns: int, keepdim: bool, dtype: DTypeLike
):
    from tapegrad.operators.linalg.svd import svdvals

    check_floating(_NAME, x, low_precision=False)
    if dtype is not None:
        x = x.to(dtype)
    others = [i for i in range(x._array.ndim) if i not in (rows, columns)]
    if others != list(range(len(others))) or rows > columns:
        x = x.permute(*others, rows, columns)
    values = svdvals(x)
    found = values.sum(-1) if order == "nuc" else _extreme(values, -1, False, order > 0)
    if keepdim:
        for axis in sorted((rows, columns)):
            found = found.unsqueeze(axis)
    return found


def _extreme(x: Tensor, axis: int, keepdim: bool, largest: bool) -> Any:
    """The largest of what is not negative, 0 where there is nothing, or the smallest."""
    if largest:
        return x.amax(axis, keepdim) if x._array.shape[axis] else x.sum(axis, keepdim)
    return x.amin(axis, keepdim)


def _finish(function: str, name: str, found: Any, out: Out) -> Any:
    if out is not None and hasattr(out, "_array") and out.dtype is not found.dtype:
        raise errors.runtime_error(
            f"{name} expected out tensor dtype {found.dtype.scalar_name} but got: "
            f"{out.dtype.scalar_name}",
            f"Give an out tensor of dtype {found.dtype}.",
        )
    return finish(function, found, out)


@require_tensors
def norm(
    A: Any,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike = None,
    out: Out = None,
) -> Any:
    """A norm of a vector or of a matrix.

    Without `ord` the square root of the sum of squares of all elements, or over `dim`. Otherwise
    torch.linalg.vector_norm of order `ord` where the tensor is, or `dim` names, one dimension, and
    torch.linalg.matrix_norm where it is two.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there.
    Raises: RuntimeError for an order of more than two dimensions without `dim`.

    >>> torch.linalg.norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]), 2)
    tensor(4.)
    """
    check_tensors("linalg_norm", input=A)
    ord = plain_number(ord)
    if dim is not None and not isinstance(dim, (tuple, list)):
        dim = (dim,)
    if ord is None:
        found = linalg_vector_norm(A, 2, _one_or_two(dim), keepdim, dtype=dtype)
        return _finish("linalg_norm", "linalg.norm", found, out)
    if not isinstance(ord, (int, float, complex, str)):
        raise errors.invalid_combination("linalg_norm", (A, ord), {}, _NORM_FORMS)
    if dim is None and A._array.ndim not in (1, 2):
        raise errors.runtime_error(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A._array.ndim}D.",
            "Say in dim which dimensions a vector or a matrix takes.",
        )
    _one_or_two(dim)
    if isinstance(ord, str):
        found = matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    elif (A._array.ndim if dim is None else len(dim)) == 2:
        found = matrix_norm(A, ord, dim or (0, 1), keepdim, dtype=dtype)
    else:
        found = linalg_vector_norm(A, ord, dim, keepdim, dtype=dtype)
    return _finish("linalg_norm", "linalg.norm", found, out)


_NORM_FORMS = (
    "Tensor input, Number ord = None, tuple of ints dim = None, bool keepdim = False, *, "
    "torch.dtype dtype = None, Tensor out = None",
    "Tensor input, str ord, tuple of ints dim = None, bool keepdim = False, *, "
    "torch.dtype dtype = None, Tensor out = None",
)


def _one_or_two(dim: Any) -> Any:
    if dim is not None and len(dim) not in (1, 2):
        text = f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
        raise errors.runtime_error(text, "torch.linalg.vector_norm takes any number of dimensions.")
    return dim


@require_tensors
def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Out = None) -> Any:
    """The sum of the singular values of matrices; see torch.linalg.matrix_norm.

    Shape: the input's without `dim` (the last two), with `keepdim` of size 1 there.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nuclear_norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(7.)
    """
    check_tensors("nuclear_norm", input=input)
    say_once("nuclear_norm")
    if isinstance(dim, bool):  # nuclear_norm(x, keepdim)
        dim, keepdim = None, dim
    if dim is None:
        dim = (-2, -1)
    elif not isinstance(dim, (tuple, list)):
        dim = (dim, dim)
    return matrix_norm(input, "nuc", dim, keepdim, out=out)
