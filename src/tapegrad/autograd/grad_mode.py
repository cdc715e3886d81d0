"""The grad modes, where PyTorch has them; and a switch about threads, which it has there, too."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.mode import (
    _Decorating,
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from tapegrad.missing import missing as _missing

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


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


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
