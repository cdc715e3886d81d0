"""`out=` of functions of matrices: which dtypes they write to, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import Out
from tapegrad.core.promote_types import can_cast
from tapegrad.dispatch.apply import finish
from tapegrad.operators.linalg.matmul_check import c_name


def _pairs(name: str, result: Any, out: Out) -> list:
    """(result, out) for each output, several if the result is a tuple."""
    if not isinstance(result, tuple):
        return [(result, out)]
    if not isinstance(out, (tuple, list)):
        raise errors.must_be(name, "out", 0, "tuple of Tensors", out)
    if len(out) != len(result):
        raise errors.type_error(
            f"expected tuple of {len(result)} elements but got {len(out)}",
            "Give a tensor for each output.",
        )
    return [(r, o) for r, o in zip(result, out, strict=True) if hasattr(o, "_array")]


def finish_exact(name: str, result: Any, out: Out) -> Any:
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


def finish_castable(name: str, title: str, result: Any, out: Out, *fields: str) -> Any:
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
