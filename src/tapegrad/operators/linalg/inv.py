"""The inverse of matrices."""

from math import prod

from tapegrad import return_types
from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Namespace, Out, Tensor
from tapegrad.core.result_order import column_major
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg import matrix_check

__torch__ = "inverse"


def _turned(xp: Namespace, inverse: Any, change: Any) -> Any:
    """-Y F Y for the inverse Y: from A Y = I."""
    return -xp.matmul(xp.matmul(inverse, change), inverse)


@jvp(a=lambda xp, t, y: _turned(xp, y, t))
@vjp(a=lambda xp, g, y: _turned(xp, xp.matrix_transpose(y), g))
@primitive(
    node="LinalgInvExBackward0",
    outputs=("inverse", "info"),
    nondiff=("info",),
    kernels=("invert",),
    order=column_major(),
)
def matrix_inverse(xp, a):
    """The inverse of matrices, and for each the pivot (from 1) that is zero, or 0."""
    return xp.invert(a)


invert = tensor_kernel(matrix_inverse)  # the kernel of that name, for the Tensor namespace


def _checked(function: str, argument: str, a: Tensor) -> tuple:
    matrix_check.check_tensors(function, **{argument: a})
    matrix_check.check_square("linalg.inv", a)
    matrix_check.check_floating("linalg.inv", a, low_precision=False)
    return matrix_inverse(a)


@autocast
def inv(A: Tensor, *, out: Out = None) -> Any:
    """The inverse Y of a square matrix, or of each of a batch: A Y = Y A = I.

    Its gradient is -Y^H g Y^H. Solving with `solve` is quicker and more exact than a product with
    the inverse.

    Shape: (..., n, n), and so the result.
    Raises: RuntimeError (`linalg.LinAlgError`) for a singular matrix.

    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return _inverse("linalg_inv", "A", "linalg.inv", A, out)


@autocast
def inverse(input: Tensor, *, out: Out = None) -> Any:
    """The inverse of a square matrix, or of each of a batch: as `torch.linalg.inv`.

    Shape: (..., n, n), and so the result.
    Raises: RuntimeError (`linalg.LinAlgError`) for a singular matrix.

    >>> torch.inverse(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return _inverse("inverse", "input", "linalg.inv", input, out)


def _inverse(function: str, argument: str, name: str, a: Tensor, out: Out) -> Any:
    result, info = _checked(function, argument, a)
    if elements(info._array).any():
        raise matrix_check.singular_inverse(name, elements(info._array))
    return finish(function, result, out)


@autocast
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Out = None) -> Any:
    """The inverse, and `info`: 0, or the number of the pivot at which a singular matrix failed.

    Shapes: (..., n, n) and (...). Without `check_errors` a singular matrix gives inf and nan.

    >>> torch.linalg.inv_ex(torch.tensor([[2.0]]))
    torch.return_types.linalg_inv_ex(
    inverse=tensor([[0.5000]]),
    info=tensor(0, dtype=torch.int32))
    """
    result, info = _checked("linalg_inv_ex", "A", A)
    if check_errors and elements(info._array).any():
        raise matrix_check.singular_inverse("linalg.inv_ex", elements(info._array))
    return matrix_check.finish_exact(
        "linalg_inv_ex", return_types.linalg_inv_ex((result, info)), out
    )


@autocast
def tensorinv(input: Tensor, ind: int = 2, *, out: Out = None) -> Any:
    """The inverse for `tensordot(A, ., ind)`: the first `ind` dimensions together are the rows.

    Shape: (*rows, *columns) to (*columns, *rows), as many rows as columns in all.
    Raises: RuntimeError where these numbers differ.

    >>> torch.linalg.tensorinv(torch.eye(6).reshape(2, 3, 6)).shape
    torch.Size([6, 2, 3])
    """
    matrix_check.check_tensors("linalg_tensorinv", input=input)
    if ind <= 0:
        text = f"Expected a strictly positive integer for 'ind', but got {ind}"
        raise errors.runtime_error(text, "It is the number of dimensions that are rows.")
    shape = input._array.shape
    if ind > len(shape):
        text = f"ArrayRef: invalid slice, N = {ind}; size = {len(shape)}"
        raise errors.runtime_error(text, f"The tensor has {len(shape)} dimensions.")
    rows, columns = prod(shape[:ind]), prod(shape[ind:])
    if rows != columns:
        raise errors.runtime_error(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {columns} != {rows}",
            "The first `ind` dimensions and the others must have as many elements.",
        )
    flat = _inverse("linalg_tensorinv", "input", "inv", input.reshape(rows, columns), None)
    return matrix_check.finish_castable(
        "linalg_tensorinv", "tensorinv", flat.reshape(*shape[ind:], *shape[:ind]), out
    )
