"""What the node that is being run knows of the program, while an interpreter runs it."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from tapegrad.core.missing import refuses as _refuses

_META: ContextVar[dict[str, Any]] = ContextVar("tapegrad_fx_meta", default={})  # noqa: B039

_PRESERVED: ContextVar[bool] = ContextVar("tapegrad_fx_preserved", default=False)


@contextlib.contextmanager
def set_current_meta(node: Any, pass_name: str = "") -> Iterator[None]:
    """A block in which `get_current_meta` gives what `node` knows."""
    token = _META.set(node.meta.copy())
    try:
        yield
    finally:
        _META.reset(token)


@contextlib.contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """A block in which nodes that are made take on the `meta` of the one that is being run."""
    token = _PRESERVED.set(enable)
    try:
        yield
    finally:
        _PRESERVED.reset(token)


def has_preserved_node_meta() -> bool:
    """Whether there is such a block."""
    return _PRESERVED.get()


def get_current_meta() -> dict[str, Any]:
    """What the node that is being run knows."""
    return _META.get()


__getattr__ = _refuses(__name__)
