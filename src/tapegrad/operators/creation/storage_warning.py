"""The warning that storages with a dtype are deprecated: once, or at every use."""

import warnings
from collections.abc import Callable
from functools import wraps

from tapegrad.core.annotations import Any

_DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the "
    "only storage class. This should only matter to you if you are using storages directly.  To "
    "access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)
_state = {"always": False, "warned": False}


def _warn_typed_storage_removal(stacklevel: int = 2) -> None:
    """PyTorch's warning, the first time that a storage with a dtype is used."""
    if _state["always"] or not _state["warned"]:
        warnings.warn(_DEPRECATED, UserWarning, stacklevel=stacklevel + 1)
        _state["warned"] = True


def _reset_warn_typed_storage_removal() -> None:
    """Let the next use of a storage with a dtype warn again."""
    _state["warned"] = False


def _get_always_warn_typed_storage_removal() -> bool:
    """Whether every use warns, not only the first."""
    return _state["always"]


def _set_always_warn_typed_storage_removal(always_warn: bool) -> None:
    """Let every use warn, or only the first."""
    _state["always"] = always_warn


def _warning(method: Callable) -> Any:
    """The public form of a method, which warns."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        _warn_typed_storage_removal()
        return method(self, *args, **kwargs)

    call.__name__ = method.__name__.removeprefix("_")
    call.__qualname__ = f"TypedStorage.{call.__name__}"
    return call
