"""Hooks: functions of the user's that see gradients on their way."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

_numbers = itertools.count()


class RemovableHandle:
    """What registering a hook returns; `remove()` takes the hook away. A context manager, too."""

    def __init__(self, hooks: dict, *, extra_dict: Any = None):
        self.hooks_dict_ref = weakref.ref(hooks)
        self.id = next(_numbers)
        self.extra_dict_ref = () if extra_dict is None else (weakref.ref(extra_dict),)

    def remove(self) -> None:
        """Take the hook away; a second time does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class Hooks(dict):
    """Hooks by number, in the order they were registered (a dict that can be weakly referenced)."""

    __slots__ = ("__weakref__",)

    def add(self, hook: Callable) -> RemovableHandle:
        handle = RemovableHandle(self)
        self[handle.id] = hook
        return handle


class NodeHooks:
    """All hooks of one node, and what else somebody attached to it."""

    __slots__ = ("accumulated", "metadata", "post", "pre", "retained", "tensor")

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {}
        self.tensor: dict[int, Hooks] = {}  # by output: change the gradient of that output
        self.retained: dict[int, Any] = {}  # by output: weak reference to who asked for its .grad
        self.pre = Hooks()
        self.post = Hooks()
        self.accumulated = Hooks()  # of a leaf, after its .grad has changed

    def add(self, when: str, hook: Callable) -> RemovableHandle:
        return getattr(self, when).add(hook)

    def of_tensor(self, index: int) -> Hooks:
        return self.tensor.setdefault(index, Hooks())
