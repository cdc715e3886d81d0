"""Derivatives by central differences: (f(x + h d) - f(x - h d)) / (2 h).

The error is h^2 f''' / 6 plus rounding of eps f / h; h near the cube root of eps balances them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapegrad.core.dtype import of
from tapegrad.core.size import Size


def difference_along(
    evaluate: Callable[[], list], x: np.ndarray, direction: Any, step: float, where: Any = ...
) -> list:
    """The derivative of each value of `evaluate()` along `direction` in `x[where]`.

    `x` is moved in place and holds what it held in the end.
    """
    before = x[where].copy() if where is ... else x[where].item()
    try:
        x[where] = before - step * direction
        low = evaluate()
        x[where] = before + step * direction
        high = evaluate()
    finally:
        x[where] = before
    _check_alike(low, high, where, step)
    return [_slope(a, b, step) for a, b in zip(low, high, strict=False)]


def _slope(a: Any, b: Any, step: float) -> Any:
    if getattr(a, "dtype", None) is None or a.dtype.kind not in "fcV":
        return (np.asarray(b, np.float64) - np.asarray(a, np.float64)) / (2 * step)
    return ((b - a) / (2 * step)).astype(a.dtype, copy=False)


def _check_alike(low: list, high: list, where: Any, step: float) -> None:
    """Raise where results of another shape or dtype came out on the other side."""
    place = "" if where is ... else f" on index {where}"
    for a, b in zip(low, high, strict=False):
        if np.shape(a) != np.shape(b):
            what, found = "shape", f"{Size(np.shape(a))} and {Size(np.shape(b))}"
        elif getattr(a, "dtype", None) != getattr(b, "dtype", None):
            what, found = "dtype", f"{of(a.dtype)} and {of(b.dtype)}"
        else:
            continue
        raise AssertionError(
            f"Expected `func` to return outputs with the same {what} when inputs are perturbed"
            f"{place} by {step}, but got: {what}s {found}."
        )


def numerical_jacobian(
    evaluate: Callable[[], list], x: np.ndarray, step: float, forward: bool = False
) -> list:
    """For each value y of `evaluate()` the Jacobian (elements of x, elements of y).

    For complex x and real y the entries are dy/dRe x + i dy/dIm x, the gradients of reverse mode.
    With `forward` x is real, and entries have the dtype of y.
    """
    columns: list[list] = []
    for where in np.ndindex(x.shape):
        found = difference_along(evaluate, x, 1.0, step, where)
        if x.dtype.kind == "c" and not forward:
            imaginary = difference_along(evaluate, x, 1j, step, where)
            found = [a + 1j * b for a, b in zip(found, imaginary, strict=True)]
        columns.append(found)
    if not columns:  # of an empty tensor
        return [np.zeros((0, np.size(y)), np.asarray(y).dtype) for y in evaluate()]
    dtype = None if forward else x.dtype
    return [_stacked(rows, dtype) for rows in zip(*columns, strict=True)]


def _stacked(rows: Sequence, dtype: Any) -> np.ndarray:
    stacked = np.stack([np.reshape(row, -1) for row in rows])
    return stacked if dtype is None else stacked.astype(dtype, copy=False)
