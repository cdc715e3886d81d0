"""Checks of functions of matrices: PyTorch's errors for other shapes, dtypes and values."""

from tapegrad.arrays.linalg_errors import first_failure
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.promote_types import can_cast
from tapegrad.dispatch.apply import finish
from tapegrad.operators.linalg.matmul_check import c_name

_LOW_PRECISION = ("float16", "bfloat16")


check_tensors = errors.need_tensors


def check_matrix(name: str, x: Tensor, argument: str = "A") -> None:
    """A matrix, or a batch of them."""
    if x._array.ndim < 2:
        text = f"{name}: The input tensor {argument} must have at least 2 dimensions."
        advice = f"Its shape is {list(x.shape)}: the last two dimensions are rows and columns."
        raise errors.runtime_error(text, advice)


def check_square(name: str, x: Tensor, argument: str = "A") -> None:
    """A square matrix, or a batch of them; without a `name` the message has no beginning."""
    if name:
        check_matrix(name, x, argument)
    rows, columns = x._array.shape[-2:]
    if rows != columns:
        start = f"{name}: " if name else ""
        raise errors.runtime_error(
            f"{start}{argument} must be batches of square matrices, but they are {rows} by "
            f"{columns} matrices",
            "As many rows as columns are needed.",
        )


def check_floating(name: str, x: Tensor, low_precision: bool = True) -> None:
    """Floating or complex numbers; of 16 bits only if `low_precision`."""
    dtype = x.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise errors.runtime_error(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{dtype.scalar_name}",
            "Convert it first: x.float().",
        )
    if not low_precision and dtype.name in _LOW_PRECISION:
        text = f"{name}: Low precision dtypes not supported. Got {dtype.scalar_name}"
        raise errors.runtime_error(text, "Convert it first: x.float().")


def check_kernel(kernel: str, x: Tensor) -> None:
    """A dtype that LAPACK has."""
    if x.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        text = f"\"{kernel}\" not implemented for '{x.dtype.scalar_name}'"
        raise errors.not_implemented(text, "Convert it first: x.float().")


def check_same_dtype(name: str, a: Tensor, b: Tensor, first: str = "A", second: str = "B") -> None:
    """Two tensors of one dtype."""
    if a.dtype is not b.dtype:
        raise errors.runtime_error(
            f"{name}: Expected {first} and {second} to have the same dtype, but found {first} "
            f"of type {a.dtype.scalar_name} and {second} of type {b.dtype.scalar_name} instead",
            f"Convert one of them: .to({a.dtype}).",
        )


def check_fit(name: str, a: Any, b: Any, left: bool) -> None:
    """Matrices with which A X = B (or X A = B) makes sense, and batches that broadcast.

    `a` and `b` are shapes.
    """
    if a[-2] != (b[-2] if left else b[-1]):
        equation = "AX = B" if left else "XA = B"
        raise errors.runtime_error(
            f"{name}: Incompatible shapes of A and B for the equation {equation} "
            f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})",
            f"B must have {a[-2]} {'rows' if left else 'columns'}.",
        )
    check_batches(a, b)


def check_batches(a: tuple, b: tuple) -> None:
    """Shapes whose leading dimensions broadcast."""
    for i in range(3, min(len(a), len(b)) + 1):
        if a[-i] != b[-i] and a[-i] != 1 and b[-i] != 1:
            raise errors.broadcast(b[:-2], a[:-2])


# --- what breaks down -------------------------------------------------------------------------


def check_pivots(name: str, argument: str, factors: Tensor, pivots: Tensor, source: str) -> None:
    """Raise unless there is a pivot for each row of the factors."""
    if pivots._array.shape != factors._array.shape[:-1]:
        raise errors.runtime_error(
            f"{name}: Expected {argument}.shape[:-1] and pivots.shape to be the same, but got "
            f"pivots with shape {list(pivots.shape)} instead",
            f"Pass the pivots that {source} gave.",
        )


def singular_inverse(name: str, info: Any) -> errors.LinAlgError:
    """A matrix without an inverse; `info` is the array LAPACK gave."""
    where, pivot = first_failure(info)
    return errors.linalg_error(
        f"{name}: {where}The diagonal element {pivot} is zero, the inversion could not be "
        "completed because the input matrix is singular.",
        "Add a little to the diagonal, or use the pseudo-inverse: torch.linalg.pinv(A).",
    )


def not_definite(name: str, info: Any) -> errors.LinAlgError:
    """A matrix without a Cholesky factor."""
    where, order = first_failure(info)
    return errors.linalg_error(
        f"{name}: {where}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {order} is not positive-definite).",
        "A covariance may need a little more on its diagonal: A + 1e-6 * torch.eye(n).",
    )


def zero_pivot(name: str, info: Any) -> RuntimeError:
    """LU factors that cannot be solved with."""
    where, pivot = first_failure(info)
    return errors.runtime_error(
        f"{name}: {where}U[{pivot},{pivot}] is zero and using it on lu_solve would result in a "
        "division by zero. If you still want to perform the factorization, consider calling "
        "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
        "The matrix is singular.",
    )


def _pairs(name: str, result: Tensor, out: Out) -> list:
    """(result, out) for each output, several if the result is a tuple."""
    if not isinstance(result, tuple):
        return [(result, out)]
    if not isinstance(out, (tuple, list)):
        raise errors.must_be(name, "out", 0, "tuple of Tensors", out)
    if len(out) != len(result):
        text = f"expected tuple of {len(result)} elements but got {len(out)}"
        raise errors.type_error(text, "Give a tensor for each output.")
    return [(r, o) for r, o in zip(result, out, strict=True) if hasattr(o, "_array")]


def finish_exact(name: str, result: Tensor, out: Out) -> Any:
    """The result where `out=` says, if that has its dtype."""
    if out is None:
        return result
    for made, given in _pairs(name, result, out):
        if hasattr(given, "_array") and made.dtype is not given.dtype:
            raise errors.runtime_error(
                f"Expected out tensor to have dtype {c_name(made)}, but got {c_name(given)} "
                "instead",
                f"Give an out tensor of dtype {made.dtype}.",
            )
    return finish(name, result, out)


def finish_castable(name: str, title: str, result: Tensor, out: Out, *fields: str) -> Any:
    """The result where `out=` says, if its dtype can be converted to that; `fields` are named."""
    if out is None:
        return result
    for (made, given), field in zip(_pairs(name, result, out), fields or ("result",), strict=False):
        if hasattr(given, "_array") and not can_cast(made.dtype, given.dtype):
            raise errors.runtime_error(
                f"{title}: Expected {field} to be safely castable from "
                f"{made.dtype.scalar_name} dtype, but got {field} with dtype "
                f"{given.dtype.scalar_name}",
                f"Give an out tensor of dtype {made.dtype}.",
            )
    return finish(name, result, out)
