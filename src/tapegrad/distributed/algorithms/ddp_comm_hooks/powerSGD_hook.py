"""PowerSGD, by name: gradients compressed to low rank, which serves many ranks."""

from typing import NoReturn

from tapegrad.core.annotations import Any
from tapegrad.core.errors import not_implemented

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]


def _refuse() -> NoReturn:
    raise not_implemented(
        "tapegrad has no PowerSGD hook",
        "Take default_hooks.allreduce_hook: with one rank nothing is sent.",
    )


class PowerSGDState:
    """Raises: there is no PowerSGD."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse()


def powerSGD_hook(state: Any, bucket: Any) -> Any:
    """Raises: there is no PowerSGD."""
    _refuse()


def batched_powerSGD_hook(state: Any, bucket: Any) -> Any:
    """Raises: there is no PowerSGD."""
    _refuse()
