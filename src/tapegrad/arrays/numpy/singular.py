"""Inverses, solutions and factors by NumPy, with its error where a matrix has none.

NumPy hears of such a matrix through floating-point flags. WebAssembly, and so a browser, has none:
the result is nan there, and nothing says why.
"""

import sys

import numpy as np

from tapegrad.core.annotations import Any, Callable

NO_FLAGS = sys.platform == "emscripten"


def is_unknown(made: Any) -> bool:
    """Whether an array, or one of several, has a nan."""
    return any(np.isnan(part).any() for part in (made if isinstance(made, tuple) else (made,)))


def noticing(function: Callable) -> Callable:
    """`function`, which raises LinAlgError where it makes nan of arrays that have none."""

    def noticed(*arrays: Any, **options: Any) -> Any:
        made = function(*arrays, **options)
        if is_unknown(made) and not is_unknown(arrays):
            raise np.linalg.LinAlgError("a matrix is singular, or not positive-definite")
        return made

    return noticed


inv, solve, cholesky = np.linalg.inv, np.linalg.solve, np.linalg.cholesky
if NO_FLAGS:
    inv, solve, cholesky = noticing(inv), noticing(solve), noticing(cholesky)
