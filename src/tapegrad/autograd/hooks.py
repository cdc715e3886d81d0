"""Hooks: functions of the user's that see gradients on their way."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from tapegrad.core import errors
from tapegrad.core.changes import CHANGES
from tapegrad.core.errors import warn

_lock = threading.Lock()  # several threads may walk graphs that share a tensor
_numbers = itertools.count()


class RemovableHandle:
    """What registering a hook returns; `remove()` takes the hook away. A context manager, too."""

    def __init__(self, hooks: dict, *, extra_dict: Any = None):
        self.hooks_dict_ref = weakref.ref(hooks)
        self.id = next(_numbers)
        self.extra_dict_ref = () if extra_dict is None else (weakref.ref(extra_dict),)

    def remove(self) -> None:
        """Take the hook away; a second time does nothing."""
        CHANGES[0] += 1
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


RemovableHandle.__module__ = "torch.utils.hooks"


class Hooks(dict):
    """Hooks by number, in the order they were registered (a dict that can be weakly referenced)."""

    __slots__ = ("__weakref__",)

    def add(self, hook: Callable) -> RemovableHandle:
        return added(self, hook)


def added(hooks: dict, hook: Callable) -> RemovableHandle:
    """Put a hook into a dict of hooks, which may be the user's own; returns its handle."""
    CHANGES[0] += 1
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class NodeHooks:
    """All hooks of one node, and what else somebody attached to it."""

    __slots__ = ("accumulated", "metadata", "number", "post", "pre", "retained", "tensor")

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {}
        self.number: int | None = None  # that was set in place of the node's own
        self.tensor: dict[int, dict] = {}  # by output: change the gradient of that output
        self.retained: dict[int, Any] = {}  # by output: weak reference to who asked for its .grad
        self.pre = Hooks()
        self.post = Hooks()
        self.accumulated = Hooks()  # of a leaf, after its .grad has changed

    def add(self, when: str, hook: Callable) -> RemovableHandle:
        return getattr(self, when).add(hook)

    def of_tensor(self, index: int) -> dict:
        return self.tensor.setdefault(index, Hooks())


# --- calling them ---


def _name(hook: Callable) -> str:
    return f"hook '{getattr(hook, '__name__', None) or type(hook).__name__}'"


def _refuse(what: str, result: object) -> None:
    raise errors.type_error(
        f"expected {what}, but hook returned '{type(result).__name__}'",
        "A hook returns what replaces the gradient, or None to leave it alone.",
    )


def _checked(hook: Callable, old: Any, result: Any) -> Any:
    """What a hook returned in place of the gradient `old`: of its size and dtype."""
    if result is None:
        return old
    if not hasattr(result, "_array"):
        _refuse("Variable", result)
    if old is None:
        raise errors.runtime_error(
            "can't replace a None gradient with a non-None value",
            "No gradient has come here, or none is wanted: return None in its place.",
        )
    if result.dtype is not old.dtype:
        raise errors.runtime_error(
            f"{_name(hook)} has changed the type of value (was {errors.tensor_type(old.dtype)} "
            f"got {errors.tensor_type(result.dtype)})",
            f"Convert what it returns with .to({old.dtype}).",
        )
    if result.shape != old.shape:
        raise errors.runtime_error(
            f"{_name(hook)} has changed the size of value",
            f"Return a tensor of shape {list(old.shape)}, or None to leave the gradient alone.",
        )
    return result


def call_tensor_hooks(hooks: NodeHooks, gradients: list) -> list:
    """Hooks on what a node made, by output; then `.grad` of those who asked to retain it."""
    for index, functions in hooks.tensor.items():
        for hook in list(functions.values()):
            gradients[index] = _checked(hook, gradients[index], hook(gradients[index]))
    for index, reference in hooks.retained.items():
        tensor, g = reference(), gradients[index]
        if tensor is not None and g is not None:
            with _lock:
                tensor._grad = g.clone() if tensor._grad is None else tensor._grad + g
    return gradients


def call_hooks(hooks: Hooks, values: tuple, *others: tuple) -> tuple:
    """Hooks of a node: each may replace all of `values` by a tuple of as many."""
    for hook in list(hooks.values()):
        result = hook(values, *others)
        if result is None:
            continue
        if not isinstance(result, tuple):
            _refuse("tuple", result)
        if len(result) != len(values):
            raise errors.runtime_error(
                f"{_name(hook)} has returned an incorrect number of values (got "
                f"{len(result)}, but expected {len(values)})",
                "Return one gradient, or None, for each that was given.",
            )
        values = tuple(
            None if new is None else _checked(hook, old, new)
            for old, new in zip(values, result, strict=True)
        )
    return values


def call_after_accumulation(hook: Callable, leaf: Any) -> None:
    """A hook that sees a leaf after its `.grad` has changed; it has nothing to return."""
    result = hook(leaf)
    if result is None:
        return
    _checked(hook, leaf, result)
    raise errors.runtime_error(
        "Tensor post accumulate grad hooks should return None.", "Change tensor.grad instead."
    )


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook on the gradient of a tensor that would be lost if it were stored.

    >>> from tapegrad.utils.hooks import warn_if_has_hooks
    >>> warn_if_has_hooks(torch.ones(1))
    """
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning"
            )
