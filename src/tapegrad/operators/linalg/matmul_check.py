"""Checks of products of vectors and matrices, in PyTorch's words."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor


def check_matrices(a: Tensor, b: Tensor, first: str = "self") -> None:
    """Two matrices that can be multiplied; their shapes and dtypes are checked."""
    x, y = a._array, b._array
    if x.ndim != 2 or y.ndim != 2:
        name = first if x.ndim != 2 else "mat2"
        advice = f"Shapes are {list(x.shape)} and {list(y.shape)}: matmul() takes other dimensions."
        text = f"{name} must be a matrix"
        if first != "self":
            text = f"{text}, got {(x if x.ndim != 2 else y).ndim}-D tensor"
        raise errors.runtime_error(text, advice)
    if x.shape[1] != y.shape[0]:
        raise mismatch(x.shape, y.shape)
    if x.dtype != y.dtype:
        advice = f"Convert one of them: .to({a.dtype})."
        if first != "self":
            raise unequal_dtypes("mat1 and mat2", a, b, advice)
        text = f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}"
        raise errors.runtime_error(text, advice)


def unequal_dtypes(names: str, a: Tensor, b: Tensor, advice: str) -> RuntimeError:
    """The error for factors of two dtypes."""
    found = f"{a.dtype.scalar_name} and {b.dtype.scalar_name}"
    return errors.runtime_error(f"{names} must have the same dtype, but got {found}", advice)


def mismatch(a: tuple[int, ...], b: tuple[int, ...]) -> RuntimeError:
    """The error for matrices whose inner sizes differ."""
    text = f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"
    advice = f"The columns of the first ({a[1]}) must be the rows of the second ({b[0]})."
    return errors.runtime_error(text, advice)


def c_name(x: Any) -> str:
    """What C++ calls the dtype of a tensor, as error messages have it."""
    return errors.c_name(x.dtype)


def check_vectors(a: Tensor, b: Tensor) -> None:
    x, y = a._array, b._array
    if x.ndim != 1 or y.ndim != 1:
        text = f"1D tensors expected, but got {x.ndim}D and {y.ndim}D tensors"
        raise errors.runtime_error(text, "Flatten the tensors, or use matmul().")
    if x.dtype != y.dtype:
        raise errors.runtime_error(
            "dot : expected both vectors to have same dtype, but found "
            f"{a.dtype.scalar_name} and {b.dtype.scalar_name}",
            f"Convert one of them: .to({a.dtype}).",
        )
    if x.shape != y.shape:
        raise errors.runtime_error(
            f"inconsistent tensor size, expected tensor [{x.shape[0]}] and src "
            f"[{y.shape[0]}] to have the same number of elements, but got {x.shape[0]} and "
            f"{y.shape[0]} elements respectively",
            "Both vectors must have the same length.",
        )


def check_batches(x: Tensor, y: Tensor) -> None:
    """Two batches of matrices that can be multiplied."""
    for name, each in (("batch1", x), ("batch2", y)):
        if each.ndim != 3:
            advice = f"Its shape is {list(each.shape)}: matmul() takes any number of dimensions."
            raise errors.runtime_error(f"{name} must be a 3D tensor", advice)
    if y.shape[:2] != (x.shape[0], x.shape[2]):
        raise errors.runtime_error(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{x.shape[0]}, {x.shape[2]}] but got: [{y.shape[0]}, {y.shape[1]}].",
            f"Shapes are {list(x.shape)} and {list(y.shape)}.",
        )


def dtype_mismatch(a: Tensor, b: Tensor) -> RuntimeError:
    return errors.wrong_dtype(a.dtype, b.dtype, f"Convert one of them: .to({a.dtype}).")
