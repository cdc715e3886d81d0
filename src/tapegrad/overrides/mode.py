"""Function modes: blocks in which every call of a public function is handed over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapegrad.core.torch_function import ALL_OFF, MODES, STATE
from tapegrad.tensors.overriding import enter_mode, leave_mode


class TorchFunctionMode:
    """A block in which every call of a function or a method is handed to the mode.

    Derive from it and write `__torch_function__(self, func, types, args=(), kwargs=None)`, which
    gives the result. The mode is off while it runs. Modes nest: what the inner one calls goes to
    the outer one. A mode acts in the thread in which its block was entered.

    >>> from tapegrad.overrides import TorchFunctionMode, resolve_name
    >>> class Log(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(resolve_name(func))
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     y = torch.ones(2) * 3
    torch.ones
    torch.Tensor.mul
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, *error: object) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """A mode of the class."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that computes: what a mode stands on where there is no other."""

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        return func(*args, **kwargs or {})


def _is_torch_function_mode_enabled() -> bool:
    return bool(MODES.get()) and STATE.get() != ALL_OFF


def _len_torch_function_stack() -> int:
    return len(MODES.get())


def _get_function_stack_at(i: int) -> Any:
    return MODES.get()[i]


def _get_current_function_mode() -> Any:
    """The innermost mode; None where there is none."""
    modes = MODES.get()
    return modes[-1] if modes else None


def _get_current_function_mode_stack() -> list[Any]:
    """The modes of the context, the outermost first."""
    return list(MODES.get())


def _push_mode(mode: Any) -> None:
    enter_mode(mode)


def _pop_mode() -> Any:
    mode = MODES.get()[-1]
    leave_mode()
    return mode


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    """A block without the innermost mode, which it gives."""
    modes = MODES.get()
    token = MODES.set(modes[:-1])
    try:
        yield modes[-1]
    finally:
        MODES.reset(token)


for _each in (TorchFunctionMode, BaseTorchFunctionMode):
    _each.__module__ = "torch.overrides"
