"""Blocks and functions that run in lower precision, and custom Functions in them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from tapegrad.amp.autocast_state import (
    current,
    get_autocast_dtype,
    is_autocast_available,
    kind_of,
    put,
)
from tapegrad.amp.cast import cast_value
from tapegrad.core.dtype import bfloat16, float16
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.errors import assertion_error, deprecated, runtime_error, value_error, warn
from tapegrad.core.tensor_base import TensorBase

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]
__torch__ = "autocast"


def warn_of_device(device: str, name: str) -> None:
    """The warning of the older names in `torch.cuda.amp` and `torch.cpu.amp`."""
    deprecated(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}('{device}', args...)` instead.",
        3,
    )


def autocast_decorator(autocast_instance: Any, func: Callable) -> Callable:
    """`func` as it runs in a block of autocast."""

    @functools.wraps(func)
    def wrapper(*args: object, **kwargs: object) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return wrapper


class autocast:
    """A block, or a function, that computes in mixed precision.

    Matrix products, convolutions, attention and the like run in `dtype`; losses and what needs
    every digit in float32; all else in the dtype of its arguments. Tensors are cast on their way
    in, and a cast is an operator: the gradients of float32 parameters are float32. Leave the block
    before `backward()`.

    Args:
        device_type: the kind of device, "cpu"; blocks for others change nothing here
        dtype: `torch.bfloat16` (the default on the CPU) or `torch.float16`
        enabled: whether the block is in mixed precision; `False` inside another block ends it
        cache_enabled: whether parameters are cast once for each outermost block; as it was before
            if not given

    Raises:
        RuntimeError: there is no such kind of device, or it has no autocast.
        ImportError: bfloat16 is wanted and ml_dtypes is missing: the extra `bfloat16` has it.

    Source: Micikevicius et al., Mixed Precision Training, 2018.

    >>> layer = torch.nn.Linear(3, 2)
    >>> with torch.autocast("cpu"):
    ...     y = layer(torch.ones(4, 3))
    ...     loss = torch.nn.functional.mse_loss(y, torch.zeros(4, 2))
    >>> y.dtype, loss.dtype
    (torch.bfloat16, torch.float32)
    >>> loss.backward()
    >>> layer.weight.grad.dtype
    torch.float32
    """

    def __init__(
        self,
        device_type: str,
        dtype: Dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        _check_type(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        if not is_autocast_available(device_type):
            raise runtime_error(
                f"User specified an unsupported autocast device_type '{device_type}'",
                "Tensors are on the CPU: torch.autocast('cpu').",
            )
        self.custom_backend_name = "privateuseone"
        if device_type == self.custom_backend_name:
            raise assertion_error(
                "Tried to use AMP with the `privateuseone` backend, but the backend has not "
                "registered a module or  the module miss some necessary funcs.",
                "Tensors are on the CPU: torch.autocast('cpu').",
            )
        self._cache_enabled = current().cache_enabled if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._is_supported()
        self._before: list[tuple] = []

    def _is_supported(self) -> bool:
        """Whether the block can do what it is asked to; a warning says why not."""
        if self.device == "cuda":
            reason = "CUDA is not available or torch_xla is imported. Disabling autocast."
        elif self.fast_dtype not in (bfloat16, float16):
            kind = self.device.upper()
            reason = (
                f"In {kind} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{kind} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
            )
        else:
            return True
        warn(reason, 3)
        return False

    def __enter__(self) -> autocast:
        state = current()
        kind = kind_of("autocast", self.device)
        self._before.append((kind in state.enabled, state.dtypes[kind], state.cache_enabled))
        state = state.changed(kind, enabled=self._enabled, dtype=self.fast_dtype)
        put(state.cached(self._cache_enabled).nested(1))
        return self

    def __exit__(self, *error: object) -> None:
        enabled, dtype, cache_enabled = self._before.pop()
        state = current().nested(-1)
        if state.nesting == 0:
            state.cache.clear()
        kind = kind_of("autocast", self.device)
        put(state.changed(kind, enabled=enabled, dtype=dtype).cached(cache_enabled))

    def __call__(self, func: Callable) -> Callable:
        return autocast_decorator(self, func)


def _check_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise value_error(
            f"Expected `device_type` of type `str`, got: `{type(device_type)}`", "Pass 'cpu'."
        )


# --- custom Functions ------------------------------------------------------------------------


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Floating-point tensors of a tree of arguments in `dtype`, those of float64 as they are."""
    if isinstance(value, TensorBase):
        return cast_value(value, dtype) if value.device.type == device_type else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {
            _cast(key, device_type, dtype): _cast(x, device_type, dtype) for key, x in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(x, device_type, dtype) for x in value])
    return value


def custom_fwd(
    fwd: Callable | None = None, *, device_type: str, cast_inputs: Dtype | None = None
) -> Any:
    """Decorate the `forward` of a custom Function that may run in a block of autocast.

    With `cast_inputs` tensors of floating-point numbers are cast to it, and `forward` runs without
    autocast; else `forward` runs as its surroundings do. `custom_bwd` brings `backward` to the
    same state.

    >>> @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    ... def forward(ctx, x):
    ...     return x @ x
    """
    _check_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        enabled = kind_of("custom_fwd", device_type) in current().enabled
        if cast_inputs is None:
            ctx._fwd_used_autocast = enabled
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        if not enabled:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(
                *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs)
            )

    return decorate_fwd


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Any:
    """Decorate the `backward` of a custom Function: autocast is as it was in `forward`.

    >>> @torch.amp.custom_bwd(device_type="cpu")
    ... def backward(ctx, g):
    ...     return 2 * g
    """
    _check_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd
