"""The state of autocast: for each kind of device whether it is on and its dtype, and the cache.

It is that of the current thread or asynchronous task; a new thread begins with the defaults.
"""

from __future__ import annotations

import warnings

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DTypeLike
from tapegrad.core.device import device
from tapegrad.core.dtype import bfloat16, float16
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.dispatch.autocast_state import IN_USE, STATE

__torch__ = (
    "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_dtype "
    "is_autocast_cache_enabled is_autocast_enabled set_autocast_cache_enabled set_autocast_dtype "
    "set_autocast_enabled get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled "
    "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_gpu_dtype"
)

DTYPES = {
    **dict.fromkeys(("cpu", "xla", "hpu", "maia"), bfloat16),
    **dict.fromkeys(("cuda", "hip", "ipu", "xpu", "mps", "mtia", "privateuseone"), float16),
}
"""The dtype of functions in lower precision, for each kind of device, unless one is set."""


class State:
    """What autocast does in one context. States are not changed: a change makes another one."""

    __slots__ = ("cache", "cache_enabled", "dtypes", "enabled", "nesting")

    def __init__(
        self, enabled: frozenset, dtypes: dict, cache_enabled: bool, nesting: int, cache: dict
    ):
        self.enabled, self.dtypes = enabled, dtypes
        self.cache_enabled, self.nesting = cache_enabled, nesting
        self.cache = cache  # casts of parameters, shared by the states of one outermost block

    def changed(self, kind: str, *, enabled: bool | None = None, dtype: DTypeLike = None) -> State:
        """This state with another setting for one kind of device."""
        on, dtypes = self.enabled, self.dtypes
        if enabled is not None and enabled != (kind in on):
            on = on | {kind} if enabled else on - {kind}
        if dtype is not None and dtypes.get(kind) is not dtype:
            dtypes = {**dtypes, kind: dtype}
        return State(on, dtypes, self.cache_enabled, self.nesting, self.cache)

    def cached(self, on: bool) -> State:
        """This state with the cache switched on or off."""
        return State(self.enabled, self.dtypes, on, self.nesting, self.cache)

    def nested(self, by: int) -> State:
        """This state in a block more, or a block less."""
        return State(self.enabled, self.dtypes, self.cache_enabled, self.nesting + by, self.cache)


def current() -> State:
    """The state of the current context."""
    state = STATE.get()
    return State(frozenset(), DTYPES, True, 0, {}) if state is None else state


def put(state: State) -> None:
    """Make `state` that of the current context."""
    if state.enabled and not IN_USE:
        IN_USE.append(True)
    STATE.set(state)


# --- kinds of devices ------------------------------------------------------------------------


def kind_of(function: str, device_type: Any) -> str:
    """The kind of device that a function was asked about."""
    if not isinstance(device_type, str):
        raise errors.must_be(function, "device_type", 1, "str", device_type)
    return device(device_type).type


def _switchable(function: str, device_type: Any) -> str:
    kind = kind_of(function, device_type)
    if kind not in DTYPES or kind == "hip":
        raise errors.runtime_error(
            "unknown device type for autocast in get_autocast_dispatch_key_from_device_type",
            "Tensors are on the CPU: ask for 'cpu'.",
        )
    return kind


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch has autocast for a kind of device. Here tensors are on the CPU.

    >>> torch.amp.is_autocast_available("cpu")
    True
    """
    kind = kind_of("_is_autocast_available", device_type)
    return kind in DTYPES and kind != "hip"


# --- questions and settings ------------------------------------------------------------------


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a kind of device; without one, for a GPU, as in PyTorch.

    >>> with torch.autocast("cpu"):
    ...     torch.is_autocast_enabled("cpu")
    True
    """
    return _switchable("is_autocast_enabled", device_type) in current().enabled


def set_autocast_enabled(*args: object) -> None:
    """Switch autocast on or off: `set_autocast_enabled(device_type, enabled)`.

    With `enabled` alone it is about the GPU. A block of `autocast` switches it back by itself.

    >>> torch.set_autocast_enabled("cpu", False)
    """
    if not args or len(args) > 2:
        forms = ("str device_type, bool enabled", "bool enabled")
        raise errors.invalid_combination("set_autocast_enabled", args, {}, forms)
    enabled = args[-1]
    if type(enabled) is not bool:
        raise errors.must_be("set_autocast_enabled", "enabled", len(args), "bool", enabled)
    kind = _switchable("set_autocast_enabled", args[0]) if len(args) == 2 else "cuda"
    put(current().changed(kind, enabled=enabled))


def get_autocast_dtype(device_type: str) -> Dtype:
    """The dtype of functions that autocast runs in lower precision.

    >>> torch.get_autocast_dtype("cpu")
    torch.bfloat16
    """
    found = current().dtypes.get(kind_of("get_autocast_dtype", device_type))
    if found is None:
        raise errors.runtime_error(
            "unsupported scalarType", "Tensors are on the CPU: ask for 'cpu'."
        )
    return found


def set_autocast_dtype(device_type: str, dtype: Dtype) -> None:
    """Set the dtype of functions that autocast runs in lower precision.

    >>> torch.set_autocast_dtype("cpu", torch.float16)
    >>> torch.get_autocast_dtype("cpu")
    torch.float16
    >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    kind = kind_of("set_autocast_dtype", device_type)
    if not isinstance(dtype, Dtype):
        raise errors.must_be("set_autocast_dtype", "dtype", 2, "torch.dtype", dtype)
    put(current().changed(_switchable("set_autocast_dtype", kind), dtype=dtype))


def is_autocast_cache_enabled() -> bool:
    """Whether parameters are cast once for each outermost block, not once for each use.

    >>> torch.is_autocast_cache_enabled()
    True
    """
    return current().cache_enabled


def set_autocast_cache_enabled(enabled: bool, /) -> None:
    """Let parameters be cast once for each outermost block, or once for each use.

    >>> torch.set_autocast_cache_enabled(True)
    """
    check_bool(enabled)
    put(current().cached(enabled))


def clear_autocast_cache() -> None:
    """Forget the casts of parameters, as the end of the outermost block does.

    >>> torch.clear_autocast_cache()
    """
    current().cache.clear()


def autocast_increment_nesting() -> int:
    """Begin a block; returns how many there are now.

    >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    (1, 0)
    """
    put(current().nested(1))
    return current().nesting


def autocast_decrement_nesting() -> int:
    """End a block; returns how many there are now.

    >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    (1, 0)
    """
    put(current().nested(-1))
    return current().nesting


def check_bool(enabled: Any) -> None:
    if type(enabled) is not bool:
        raise errors.type_error(
            f"enabled must be a bool (got {errors.type_name(enabled)})", "Pass True or False."
        )


def _deprecated(name: str, call: str, instead: str) -> None:
    warnings.warn(
        f"torch.{name}({call}) is deprecated. Please use torch.{instead} instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def _check_dtype(dtype: DTypeLike) -> None:
    if not isinstance(dtype, Dtype):
        raise errors.type_error(
            f"dtype must be a torch.dtype (got {errors.type_name(dtype)})",
            "Pass a dtype such as torch.bfloat16.",
        )


def get_autocast_cpu_dtype() -> Dtype:
    """Older name of `get_autocast_dtype("cpu")`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.get_autocast_cpu_dtype()
    torch.bfloat16
    """
    _deprecated("get_autocast_cpu_dtype", "", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Dtype:
    """Older name of `get_autocast_dtype("cuda")`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.get_autocast_gpu_dtype()
    torch.float16
    """
    _deprecated("get_autocast_gpu_dtype", "", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_cpu_dtype(dtype: Dtype, /) -> None:
    """Older name of `set_autocast_dtype("cpu", dtype)`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_autocast_cpu_dtype(torch.bfloat16)
    """
    _check_dtype(dtype)
    _deprecated("set_autocast_cpu_dtype", "dtype", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Dtype, /) -> None:
    """Older name of `set_autocast_dtype("cuda", dtype)`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_autocast_gpu_dtype(torch.float16)
    """
    _check_dtype(dtype)
    _deprecated("set_autocast_gpu_dtype", "dtype", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def is_autocast_cpu_enabled() -> bool:
    """Older name of `is_autocast_enabled("cpu")`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.is_autocast_cpu_enabled()
    False
    """
    _deprecated("is_autocast_cpu_enabled", "", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool, /) -> None:
    """Older name of `set_autocast_enabled("cpu", enabled)`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_autocast_cpu_enabled(False)
    """
    check_bool(enabled)
    _deprecated("set_autocast_cpu_enabled", "enabled", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)
