"""What operators refuse: types of elements they are not made for, derivatives nobody defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad import errors
from tapegrad.promotion import promote

BOOL, INTEGER, FLOATING, COMPLEX = range(4)
_NAMES = ("bool", "integer", "floating-point", "complex")


def common_dtype(*operands: Any) -> Any:
    """The dtype an operator on these tensors and numbers computes in."""
    return promote([getattr(x, "_array", x) for x in operands if x is not None])


def no_kernel(kernel: str, dtype: Any) -> NotImplementedError:
    """The error for a type of elements an operator is not made for."""
    return errors.advised(
        NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.scalar_name}'"),
        f"It is not made for {_NAMES[dtype.category]} tensors: convert first, for example with "
        f".to({'torch.int64' if dtype.category != INTEGER else 'torch.float32'}).",
    )


def lacks(kernel: str, *categories: int) -> Callable:
    """A check that refuses operands whose common dtype is of one of `categories`."""

    def check(*operands: Any) -> None:
        dtype = common_dtype(*operands)
        if dtype.category in categories:
            raise no_kernel(kernel, dtype)

    return check


def no_complex(message: str, error: type = RuntimeError) -> Callable:
    """A check that refuses complex operands in PyTorch's words."""

    def check(*operands: Any) -> None:
        if common_dtype(*operands).category == COMPLEX:
            raise errors.advised(error(message), "Take .real, .imag or .abs() first.")

    return check


def no_derivative(name: str, instead: str) -> Callable:
    """The rule of an operator whose derivative is not defined: an error when it is asked for."""

    def rule(g: Any) -> Any:
        raise errors.advised(
            RuntimeError(f"derivative for aten::{name} is not implemented"), instead
        )

    return rule
