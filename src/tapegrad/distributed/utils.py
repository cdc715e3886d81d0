"""Helpers for wrappers of modules that packages import."""

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.missing import refuses as _refuses
from tapegrad.tensors.tensor import Tensor


def _p_assert(condition: Any, message: str, raise_assertion_error: bool = True) -> None:
    """AssertionError with a message unless a condition holds."""
    if not condition and raise_assertion_error:
        raise AssertionError(message)


def _apply_to_tensors(function: Callable, container: Any) -> Any:
    """A structure of the same kind with `function` of each tensor."""
    if isinstance(container, Tensor):
        return function(container)
    if isinstance(container, dict):
        items = {key: _apply_to_tensors(function, x) for key, x in container.items()}
        return type(container)(items)
    if isinstance(container, tuple) and hasattr(container, "_fields"):
        return type(container)(*(_apply_to_tensors(function, x) for x in container))
    if isinstance(container, (list, tuple, set)):
        return type(container)(_apply_to_tensors(function, x) for x in container)
    return container


def _replace_by_prefix(state_dict: dict, old_prefix: str, new_prefix: str) -> None:
    """Give keys that begin with one prefix another instead."""
    if old_prefix == new_prefix:
        raise ValueError("old_prefix and new_prefix must be distinct")
    for key in list(state_dict):
        if key.startswith(old_prefix):
            state_dict[new_prefix + key[len(old_prefix) :]] = state_dict.pop(key)


__getattr__ = _refuses(__name__)
