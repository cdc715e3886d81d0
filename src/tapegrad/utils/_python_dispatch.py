"""`torch.utils._python_dispatch`: modes that are handed operators, tensors that wrap others."""

from collections.abc import Callable
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.overrides.dispatch_mode import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
    _pop_mode_temporarily,
)
from tapegrad.tensors.tensor import Tensor as _Tensor

TorchDispatchMode.__module__ = "torch.utils._python_dispatch"

__all__ = [
    "TorchDispatchMode",
    "_disable_current_modes",
    "_get_current_dispatch_mode",
    "_get_current_dispatch_mode_stack",
    "_pop_mode_temporarily",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


# --- modes ----------------------------------------------------------------------------------------


def _len_torch_dispatch_stack() -> int:
    """How many modes there are around the program."""
    return len(_get_current_dispatch_mode_stack())


def _get_dispatch_stack_at(i: int) -> Any:
    """The mode number `i`, the outermost is 0."""
    return _get_current_dispatch_mode_stack()[i]


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether the program is in the block of a mode.

    >>> from tapegrad.utils._python_dispatch import is_in_torch_dispatch_mode
    >>> is_in_torch_dispatch_mode()
    False
    """
    modes = _get_current_dispatch_mode_stack()
    return any(include_infra_modes or not mode.is_infra_mode() for mode in modes)


def any_torch_dispatch_mode_on_stack(*, include_infra_modes: bool = True) -> bool:
    """The same."""
    return is_in_torch_dispatch_mode(include_infra_modes)


# --- tensors that wrap tensors --------------------------------------------------------------------


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether a class of tensors says what its tensors wrap: `__tensor_flatten__` and back."""
    return (
        issubclass(t, _Tensor)
        and t is not _Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether a tensor is of a class that says what its tensors wrap.

    >>> from tapegrad.utils._python_dispatch import is_traceable_wrapper_subclass
    >>> is_traceable_wrapper_subclass(torch.ones(1))
    False
    """
    return is_traceable_wrapper_subclass_type(type(t))


def transform_subclass(
    t: Any,
    callback: Callable[[str, _Tensor], _Tensor],
    outer_size: Any = None,
    outer_stride: Any = None,
) -> Any:
    """A tensor of the class of `t` that wraps what `callback(name, tensor)` gives for each."""
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(inner, context, size, stride)
    if tuple(made.shape) != tuple(size):
        raise AssertionError(
            f"Expected return value from {type(t)}__tensor_unflatten__() to have "
            f"shape equal to {size}, but got: {made.shape}"
        )
    if tuple(made.stride()) != tuple(stride):
        raise AssertionError(
            f"Expected return value from {type(t)}__tensor_unflatten__() to have "
            f"stride equal to {stride}, but got: {made.stride()}"
        )
    return made


def return_and_correct_aliasing(func: Any, args: tuple, kwargs: dict | None, out: Any) -> Any:
    """The result of `__torch_dispatch__` for `func`: what it writes to, where it writes.

    That a view's memory is its base's need not be said here: the graph records it by the operator.
    """
    if not func._schema.is_mutable:
        return out
    given = kwargs or {}
    return given["out"] if "out" in given else args[0]


__getattr__ = _refuses(__name__)
