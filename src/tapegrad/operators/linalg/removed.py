"""Functions that PyTorch has removed: they raise, and say what took their place."""

from __future__ import annotations

from typing import Any, NoReturn

from tapegrad.core import errors
from tapegrad.core.annotations import TensorLike

__torch__ = "eig lstsq matrix_rank solve symeig"

_GONE = "This function was deprecated since version 1.9 and is now removed."


def _refuse(what: str, advice: str) -> NoReturn:
    raise errors.runtime_error(f"{_GONE}{what}", advice)


def eig(input: TensorLike, *args: Any, **kwargs: Any) -> NoReturn:
    """Removed: `torch.linalg.eig` and `torch.linalg.eigvals` give complex numbers.

    >>> torch.eig(torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    _refuse(
        " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than "
        "real tensors mimicking complex tensors.",
        "L, V = torch.linalg.eig(A), or L = torch.linalg.eigvals(A).",
    )


def lstsq(input: TensorLike, *args: Any, **kwargs: Any) -> NoReturn:
    """Removed: `torch.linalg.lstsq` takes its arguments the other way round.

    >>> torch.lstsq(torch.ones(2, 1), torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    _refuse(
        " `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.",
        "X = torch.linalg.lstsq(A, B).solution, for torch.lstsq(B, A).",
    )


def matrix_rank(input: TensorLike, *args: Any, **kwargs: Any) -> NoReturn:
    """Removed: `torch.linalg.matrix_rank` took its place.

    >>> torch.matrix_rank(torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed....
    """
    _refuse("", "torch.linalg.matrix_rank(A), with hermitian= for symmetric=.")


def solve(input: TensorLike, *args: Any, **kwargs: Any) -> NoReturn:
    """Removed: `torch.linalg.solve` takes its arguments the other way round.

    >>> torch.solve(torch.ones(2, 1), torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    _refuse(
        " `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has "
        "its arguments reversed and does not return the LU factorization.",
        "X = torch.linalg.solve(A, B), for torch.solve(B, A).",
    )


def symeig(input: TensorLike, *args: Any, **kwargs: Any) -> NoReturn:
    """Removed: `torch.linalg.eigh` and `torch.linalg.eigvalsh` took its place.

    >>> torch.symeig(torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    _refuse(
        " The default behavior has changed from using the upper triangular portion of the matrix "
        "by default to using the lower triangular portion.",
        "L, V = torch.linalg.eigh(A, UPLO='U') reads the upper triangle, as symeig did.",
    )
