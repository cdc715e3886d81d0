"""Errors of linear algebra that depend on values: which matrix of a batch failed, and where."""

from typing import Any

from tapegrad.core import errors


def first_failure(info: Any) -> tuple[str, int]:
    """Where in the batch a factorisation broke down, in words, and at which pivot."""
    flat = info.reshape(-1)
    i = int(flat.nonzero()[0][0])
    return (f"(Batch element {i}): " if info.ndim else ""), int(flat[i])


def singular_system(name: str, info: Any) -> errors.LinAlgError:
    """A system of equations without a unique solution."""
    where, _ = first_failure(info)
    text = f"{name}: {where}The solver failed because the input matrix is singular."
    advice = "Add a little to the diagonal, or take least squares: torch.linalg.lstsq(A, B)."
    return errors.linalg_error(text, advice)
