"""Handles of hooks, and hooks that are not stored with a tensor."""

from collections.abc import Callable
from typing import Any

from tapegrad.autograd.hooks import RemovableHandle, warn_if_has_hooks
from tapegrad.core.missing import missing

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Callable) -> Callable:
    """Decorate a hook that is not expected to be stored with its tensor: no warning says so.

    >>> from tapegrad.utils.hooks import unserializable_hook
    >>> @unserializable_hook
    ... def double(g):
    ...     return g * 2
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def __getattr__(name: str) -> Any:
    """What calls the backward hooks of a module, on its first use."""
    if name == "BackwardHook":
        from tapegrad.nn.hook import BackwardHook

        return BackwardHook
    raise missing(__name__, name)
