"""Handles of hooks, and hooks that are not stored with a tensor."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tapegrad.autograd.hooks import RemovableHandle

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


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook on the gradient of a tensor that would be lost if it were stored.

    >>> from tapegrad.utils.hooks import warn_if_has_hooks
    >>> warn_if_has_hooks(torch.ones(1))
    """
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                UserWarning,
                stacklevel=2,
            )


def __getattr__(name: str) -> Any:
    """What calls the backward hooks of a module, on its first use."""
    if name == "BackwardHook":
        from tapegrad.nn.backward_hook import BackwardHook

        return BackwardHook
    from tapegrad.missing import missing

    raise missing(__name__, name)
