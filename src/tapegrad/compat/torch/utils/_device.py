"""A default device as a mode, which modules in development ask for by its insides."""

import functools
from collections.abc import Callable
from typing import Any

import tapegrad as torch
from tapegrad.compat.torch.utils._contextlib import context_decorator
from tapegrad.core import device as _home
from tapegrad.overrides import TorchFunctionMode

__all__ = ["DeviceContext", "device_decorator", "set_device"]

_NAMES = (
    "arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided "
    "eye full hamming_window hann_window kaiser_window linspace logspace ones rand randint randn "
    "randperm range scalar_tensor tensor tril_indices triu_indices zeros"
)
_open: list[torch.device] = []


def __getattr__(name: str) -> Any:
    if name == "CURRENT_DEVICE":
        if _open:
            return _open[-1]
        # `with torch.device(...)` does not count, as in PyTorch: only what was set
        found = _home._defaults.before[0] if _home._defaults.before else _home._defaults.device
        return None if found == _home.CPU else found
    raise AttributeError(f"module 'torch.utils._device' has no attribute {name!r}")


@functools.cache
def _device_constructors() -> set[Callable]:
    """The functions that make tensors on a device of their own choice.

    >>> from tapegrad.compat.torch.utils._device import _device_constructors
    >>> torch.zeros in _device_constructors(), torch.zeros_like in _device_constructors()
    (True, False)
    """
    fft = {torch.fft.fftfreq, torch.fft.rfftfreq}
    return fft | {getattr(torch, name) for name in _NAMES.split()}


class DeviceContext(TorchFunctionMode):
    """A block in which tensors are made on `device` when no other is said.

    >>> from tapegrad.compat.torch.utils._device import DeviceContext
    >>> with DeviceContext("meta"):
    ...     print(torch.ones(2).device, torch.ones(2, device="cpu").device)
    meta cpu
    """

    def __init__(self, device: Any) -> None:
        super().__init__()
        self.device = torch.device(device)

    def __enter__(self) -> Any:
        _open.append(self.device)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        _open.pop()
        return super().__exit__(*error)

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)


def device_decorator(device: Any, func: Callable) -> Callable:
    """`func`, each call of which runs in a block of the context that `device()` makes.

    >>> from tapegrad.compat.torch.utils._device import device_decorator
    >>> device_decorator(lambda: torch.device("meta"), torch.ones)(2).device
    device(type='meta')
    """

    return context_decorator(device, func)


def set_device(device: Any) -> Callable:
    """A decorator: the function makes its tensors on `device`.

    >>> from tapegrad.compat.torch.utils._device import set_device
    >>> @set_device("meta")
    ... def made():
    ...     return torch.zeros(2)
    >>> made().device
    device(type='meta')
    """
    return lambda func: device_decorator(lambda: torch.device(device), func)
