"""The grad modes, where PyTorch has them; and the switches about threads and layouts there."""

from collections.abc import Callable
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


class set_multithreading_enabled(_Decorating):
    """Accepted as in PyTorch: a backward pass always runs on the thread that asked for it.

    Kernels use several threads whatever is set here: `torch.set_num_threads` says how many.

    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     torch.ones(1, requires_grad=True).sum().backward()
    """

    def __init__(self, mode: bool):
        self.mode = bool(mode)

    def _fresh(self) -> Any:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        """Nothing changes."""

    def __exit__(self, *error: object) -> None:
        """Nothing is taken back."""


class enforce_grad_layout_policy(_Decorating):
    """Say whether a new `.grad` has to be laid out in memory as its leaf: it does by default.

    At once as a statement, for a block as a context manager. With False a gradient that nobody else
    holds becomes `.grad` as it is, without a copy.

    >>> x = torch.ones(2, 3, requires_grad=True)
    >>> with torch.autograd.enforce_grad_layout_policy(False):
    ...     (x.t() * torch.ones(3, 2)).sum().backward()
    >>> x.grad.stride()
    (1, 2)
    """

    def __init__(self, enable: bool = True):
        self.mode = bool(enable)
        self.prev = ENFORCED.get()
        ENFORCED.set(self.mode)

    def _fresh(self) -> Any:
        return enforce_grad_layout_policy(self.mode)

    def __enter__(self) -> None:
        """The policy was set when the object was made; leaving the block takes it back."""

    def __exit__(self, *error: object) -> None:
        ENFORCED.set(self.prev)

    def __call__(self, function: Callable) -> Any:
        ENFORCED.set(self.prev)  # a decorator changes the calls, not its surroundings
        return super().__call__(function)


__getattr__ = _refuses(__name__)
