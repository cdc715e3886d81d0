"""How far apart two numbers or tensors are, in the words of assert_close."""

from typing import Any

from tapegrad.core import dtype as dtypes
from tapegrad.operators.pointwise.comparison import isclose
from tapegrad.tensors.tensor import Tensor


def scalar_mismatch(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """The message for two numbers."""
    distance = abs(actual - expected)
    relative = distance / abs(expected) if expected != 0 else float("inf")
    return (
        f"Scalars are not {_aim(rtol, atol)}!\n\n"
        f"Expected {expected} but got {actual}.\n"
        f"Absolute difference: {distance}{_allowed(rtol, atol, atol)}\n"
        f"Relative difference: {relative}{_allowed(rtol, atol, rtol)}"
    )


def tensor_mismatch(
    actual: Tensor, expected: Tensor, rtol: float, atol: float, equal_nan: bool
) -> str | None:
    """The message for two tensors of one shape and dtype; None if they are close."""
    matches = isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(matches.all()):
        return None
    if actual.dim() == 0:
        return scalar_mismatch(actual.item(), expected.item(), rtol, atol)
    n, n_wrong = matches.numel(), int((~matches).sum())
    if not (actual.dtype.is_floating_point or actual.dtype.is_complex):
        actual, expected = actual.to(dtypes.int64), expected.to(dtypes.int64)
    distance = (actual - expected).abs()
    distance[matches] = 0  # nan and inf, where they are equal
    relative = distance / expected.abs()
    relative[matches] = 0
    return (
        f"Tensor-likes are not {_aim(rtol, atol)}!\n\n"
        f"Mismatched elements: {n_wrong} / {n} ({n_wrong / n:.1%})\n"
        f"Greatest absolute difference: {_largest(distance)}{_allowed(rtol, atol, atol)}\n"
        f"Greatest relative difference: {_largest(relative)}{_allowed(rtol, atol, rtol)}"
    )


def _aim(rtol: float, atol: float) -> str:
    return "equal" if rtol == 0 and atol == 0 else "close"


def _allowed(rtol: float, atol: float, tolerance: float) -> str:
    return "" if rtol == 0 and atol == 0 else f" (up to {tolerance} allowed)"


def _largest(x: Tensor) -> str:
    place = int(x.flatten().argmax())
    index: tuple[int, ...] = ()
    for size in reversed(x.shape):
        place, i = divmod(place, size)
        index = (i, *index)
    return f"{x[index].item()} at index {index}"
