"""What the arguments of an optimizer must be; checked once, when it is made."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import runtime_error, value_error
from tapegrad.tensors.tensor import Tensor


def check_number(name: str, value: Any) -> None:
    """Raise for a tensor with other than one element."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise value_error(
            f"Tensor {name} must be 1-element", "For several values, make several parameter groups."
        )


def check_not_negative(what: str, value: Any, *, nan: bool = False) -> None:
    """Raise for a negative number; and for nan, unless `nan` lets it pass."""
    if value < 0.0 if nan else not 0.0 <= value:
        raise value_error(f"Invalid {what}: {value}", "It must be 0 or more.")


def check_at_least(what: str, least: float, value: Any) -> None:
    """Raise for a number below `least`, and for nan."""
    if not least <= value:
        raise value_error(
            f"{what} should be >= {least} but is: {value}", f"It must be {least} or more."
        )


def check_betas(betas: Any) -> None:
    """Raise unless both decay rates are in [0, 1)."""
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise value_error(
                f"Invalid beta parameter at index {i}: {betas[i]}",
                "A decay rate is at least 0 and below 1.",
            )
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise value_error("betas must be either both floats or both Tensors", "Use floats.")
    for i in (0, 1):
        check_number(f"betas[{i}]", betas[i])


def check_not_foreach(name: str, value: Any, foreach: bool | None, capturable: bool) -> None:
    """Raise for a tensor where PyTorch's multi-tensor implementation takes a number."""
    if isinstance(value, Tensor) and foreach and not capturable:
        raise value_error(
            f"{name} as a Tensor is not supported for capturable=False and foreach=True",
            "Leave foreach away.",
        )


def check_choices(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """Raise for choices of implementation that exclude each other."""
    if fused and differentiable:
        raise runtime_error("`fused` does not support `differentiable`", "Leave fused away.")
    if fused and foreach:
        raise runtime_error(
            "`fused` and `foreach` cannot be `True` together.",
            "Leave both away: the arithmetic is the same.",
        )
