"""The classes and functions that users let files name."""

from __future__ import annotations

from threading import Lock
from typing import Any

from tapegrad.core.errors import type_error

_lock = Lock()
_added: list[Any] = []


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let files name these classes and functions, which `load` then calls as the file says.

    Each is a class or function, or a pair of it and the name that files have for it. Those that
    run code of a file's choice, such as `eval`, must never be among them.

    >>> class Options:
    ...     pass
    >>> torch.serialization.add_safe_globals([Options])
    >>> torch.serialization.clear_safe_globals()
    """
    given = list(safe_globals)
    for each in given:
        name_of(each)
    with _lock:
        _added.extend(each for each in given if each not in _added)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has added.

    >>> torch.serialization.get_safe_globals()
    []
    """
    return list(_added)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` has added.

    >>> torch.serialization.clear_safe_globals()
    """
    with _lock:
        _added.clear()


class safe_globals:
    """While it lasts, files may name these classes and functions: see `add_safe_globals`.

    >>> class Options:
    ...     pass
    >>> with torch.serialization.safe_globals([Options]):
    ...     len(torch.serialization.get_safe_globals())
    1
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self._given = list(safe_globals)

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._given)

    def __exit__(self, *exception: Any) -> None:
        with _lock:
            _added[:] = self._before


def name_of(given: Any) -> str:
    """What files call a safe global."""
    if isinstance(given, tuple) and len(given) == 2 and type(given[1]) is str:
        return given[1]
    if not callable(given) or not hasattr(given, "__qualname__"):
        raise type_error(
            f"a safe global is a class or function, not {type(given).__name__}",
            "For another name than its own, pass the pair (object, 'module.name').",
        )
    return f"{given.__module__}.{given.__qualname__}"


def object_of(given: Any) -> Any:
    """The class or function of a safe global."""
    return given[0] if isinstance(given, tuple) else given
