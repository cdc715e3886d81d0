"""Momentum that goes against the learning rate, and options for each group."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.optim.lr_scheduler.scheduler import set_option


def for_each_group(name: str, optimizer: Any, value: Any) -> list[Any]:
    """A list with a value for each group."""
    n = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * n
    if len(value) != n:
        raise value_error(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {n}.",
            "Pass one for each group, or one for all.",
        )
    return list(value)


def uses_beta1(optimizer: Any) -> bool:
    """Whether the optimizer's momentum is the first of its betas; raise if it has none."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise value_error(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled",
            "Pass cycle_momentum=False.",
        )
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], momentum: float, beta1: bool) -> None:
    """Give a group another momentum."""
    if beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        set_option(group, "momentum", momentum)
