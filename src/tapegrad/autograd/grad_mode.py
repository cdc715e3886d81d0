"""The grad modes, where PyTorch has them; and the switches about threads and layouts there."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from tapegrad.autograd.accumulate import ENFORCED
from tapegrad.autograd.mode import (
    _Decorating,
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from tapegrad.core.missing import refuses as _refuses

__all__ = [
    "enable_grad", "enforce_grad_layout_policy", "inference_mode", "no_grad", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip


class _Switch(_Decorating):
    """Set at once by a statement; a block sets it back at its end."""

    variable: ContextVar[bool]

    def __init__(self, mode: bool):
        self.mode = bool(mode)
        self.prev = self.variable.get()
        self.variable.set(self.mode)

    def _fresh(self) -> Any:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        """It was set when the object was made."""

    def __exit__(self, *error: object) -> None:
        self.variable.set(self.prev)

    def __call__(self, function: Callable) -> Any:
        self.variable.set(self.prev)  # a decorator changes the calls, not its surroundings
        return super().__call__(function)


class set_multithreading_enabled(_Switch):
    """Accepted as in PyTorch: a backward pass always runs on the thread that asked for it.

    Kernels use several threads whatever is set here: `torch.set_num_threads` says how many.

    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     torch.autograd.is_multithreading_enabled()
    False
    """

    variable = ContextVar("tapegrad_multithreading", default=True)


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` has set."""
    return set_multithreading_enabled.variable.get()


class enforce_grad_layout_policy(_Switch):
    """Say whether a new `.grad` has to be laid out in memory as its leaf: it does by default.

    At once as a statement, for a block as a context manager. With False a gradient that nobody else
    holds becomes `.grad` as it is, without a copy.

    >>> x = torch.ones(2, 3, requires_grad=True)
    >>> with torch.autograd.enforce_grad_layout_policy(False):
    ...     (x.t() * torch.ones(3, 2)).sum().backward()
    >>> x.grad.stride()
    (1, 2)
    """

    variable = ENFORCED

    def __init__(self, enable: bool = True):
        super().__init__(enable)


__getattr__ = _refuses(__name__)
