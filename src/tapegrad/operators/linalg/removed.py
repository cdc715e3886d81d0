"""Functions that PyTorch has removed: they raise, and say what took their place."""

from typing import NoReturn

from tapegrad.core import errors
from tapegrad.core.annotations import Tensor
from tapegrad.core.warn_once import warn_once

__torch__ = "eig lstsq matrix_rank solve symeig"


_TEXTS = {
    "chain_matmul": (
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters."
    ),
    "cholesky": (
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
        "future PyTorch release.\n"
        "L = torch.cholesky(A)\n"
        "should be replaced with\n"
        "L = torch.linalg.cholesky(A)\n"
        "and\n"
        "U = torch.cholesky(A, upper=True)\n"
        "should be replaced with\n"
        "U = torch.linalg.cholesky(A).mH\n"
        "This transform will produce equivalent results for all valid (symmetric positive definite)"
        " inputs."
    ),
    "cross": (
        "Using torch.cross without specifying the dim arg is deprecated.\n"
        "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
        "The default value of dim will change to agree with that of linalg.cross in a future "
        "release."
    ),
    "lu": (
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and "
        "will be removed in a future PyTorch release.\n"
        "LU, pivots = torch.lu(A, compute_pivots)\n"
        "should be replaced with\n"
        "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\n"
        "and\n"
        "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\n"
        "should be replaced with\n"
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    ),
    "lu_solve": (
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a "
        "future PyTorch release.\n"
        "Note that torch.linalg.lu_solve has its arguments reversed.\n"
        "X = torch.lu_solve(B, LU, pivots)\n"
        "should be replaced with\n"
        "X = torch.linalg.lu_solve(LU, pivots, B)"
    ),
    "nuclear_norm": (
        "at::nuclear_norm is deprecated and it is just left for JIT compatibility. It will be "
        "removed in a future PyTorch release. Please use `linalg.matrix_norm(A, 'nuc', dim, "
        "keepdim)` instead"
    ),
    "qr": (
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future "
        "PyTorch release.\n"
        "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
        "Q, R = torch.qr(A, some)\n"
        "should be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    ),
    "triangular_solve": (
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be "
        "removed in a future PyTorch release.\n"
        "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of "
        "one of the inputs.\n"
        "X = torch.triangular_solve(B, A).solution\n"
        "should be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B)."
    ),
}


def say_once(name: str) -> None:
    """Warn, the first time, that the function `name` is old."""
    warn_once(_TEXTS[name])


_GONE = "This function was deprecated since version 1.9 and is now removed."


def _refuse(what: str, advice: str) -> NoReturn:
    raise errors.runtime_error(f"{_GONE}{what}", advice)


def eig(input: Tensor, *args: object, **kwargs: object) -> NoReturn:
    """Removed: `torch.linalg.eig` and `torch.linalg.eigvals` give complex numbers.

    Raises: RuntimeError, always.

    >>> torch.eig(torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    _refuse(
        " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than "
        "real tensors mimicking complex tensors.",
        "L, V = torch.linalg.eig(A), or L = torch.linalg.eigvals(A).",
    )


def lstsq(input: Tensor, *args: object, **kwargs: object) -> NoReturn:
    """Removed: `torch.linalg.lstsq` takes its arguments the other way round.

    Raises: RuntimeError, always.

    >>> torch.lstsq(torch.ones(2, 1), torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    _refuse(
        " `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.",
        "X = torch.linalg.lstsq(A, B).solution, for torch.lstsq(B, A).",
    )


def matrix_rank(input: Tensor, *args: object, **kwargs: object) -> NoReturn:
    """Removed: `torch.linalg.matrix_rank` took its place.

    Raises: RuntimeError, always.

    >>> torch.matrix_rank(torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed....
    """
    _refuse("", "torch.linalg.matrix_rank(A), with hermitian= for symmetric=.")


def solve(input: Tensor, *args: object, **kwargs: object) -> NoReturn:
    """Removed: `torch.linalg.solve` takes its arguments the other way round.

    Raises: RuntimeError, always.

    >>> torch.solve(torch.ones(2, 1), torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    _refuse(
        " `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has "
        "its arguments reversed and does not return the LU factorization.",
        "X = torch.linalg.solve(A, B), for torch.solve(B, A).",
    )


def symeig(input: Tensor, *args: object, **kwargs: object) -> NoReturn:
    """Removed: `torch.linalg.eigh` and `torch.linalg.eigvalsh` took its place.

    Raises: RuntimeError, always.

    >>> torch.symeig(torch.eye(2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    _refuse(
        " The default behavior has changed from using the upper triangular portion of the matrix "
        "by default to using the lower triangular portion.",
        "L, V = torch.linalg.eigh(A, UPLO='U') reads the upper triangle, as symeig did.",
    )
