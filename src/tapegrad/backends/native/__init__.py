"""Kernels in C for eager tensors, where a C compiler is found: off unless asked for.

The kernels are those that compiled programs use. Each is compiled once, in the background, and kept
on disk; until it is there, and for whatever it does not cover, NumPy computes. Numbers are the same
up to rounding. The switch holds for the whole process; the environment variable `TAPEGRAD_NATIVE=1`
sets it from the start.
"""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

from tapegrad.core import errors

__all__ = ["enabled", "flags", "is_available", "wait"]

enabled: bool
"""Whether kernels in C are used; assign to it to switch."""

_is_on = False


def is_available() -> bool:
    """Whether there is a C compiler that kernels can be made with.

    >>> torch.backends.native.is_available() in (True, False)
    True
    """
    from tapegrad.compiler.c_backend.toolchain import CompilerMissing, compiler

    try:
        compiler()
    except CompilerMissing:
        return False
    return True


def wait() -> None:
    """Wait until no kernel is being compiled: the next calls of those used so far are in C.

    >>> torch.backends.native.wait()
    """
    if "tapegrad.backends.native.libraries" in sys.modules:
        from tapegrad.backends.native import libraries

        libraries.wait()


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """While it lasts, the switch has another position.

    >>> with torch.backends.native.flags(enabled=False):
    ...     torch.backends.native.enabled
    False
    """
    before = _is_on
    _switch(enabled)
    try:
        yield
    finally:
        _switch(before)


def _switch(on: bool) -> None:
    global _is_on
    if type(on) is not bool:
        raise errors.runtime_error(
            f"expected a bool, but got {errors.type_name(on)}",
            "torch.backends.native.enabled is True or False.",
        )
    if on == _is_on:
        return
    from tapegrad.backends.native.served import serve

    serve(on)
    _is_on = on


def switch_by_environment(given: str) -> None:
    """Set the switch as the environment variable TAPEGRAD_NATIVE says.

    Raises: ValueError for something else than 1, 0 or nothing.
    """
    if given not in ("", "0", "1"):
        raise errors.value_error(f"TAPEGRAD_NATIVE is {given!r}", "It is 1 or 0.")
    _switch(given == "1")


class _Switches(types.ModuleType):
    """The module: its attribute `enabled` switches when it is set."""

    @property
    def enabled(self) -> bool:
        return _is_on

    @enabled.setter
    def enabled(self, on: bool) -> None:
        _switch(on)


sys.modules[__name__].__class__ = _Switches
