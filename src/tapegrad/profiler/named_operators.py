"""`torch.ops.profiler`: a named block that is entered and left by calls, for graphs to keep."""

from __future__ import annotations

import itertools
import weakref

from tapegrad.core import errors
from tapegrad.core.annotations import Tensor
from tapegrad.core.dtype import uint8
from tapegrad.library import registry
from tapegrad.library.libraries import Library
from tapegrad.operators.creation.tensor import tensor
from tapegrad.profiler.block import record_function

_OPEN: dict[int, record_function] = {}  # blocks that were entered, by the number in their handle
_NUMBERS = itertools.count(1)


def _enter(name: str, args: str | None = None) -> Tensor:
    block = record_function(name, args)
    number = next(_NUMBERS)
    _OPEN[number] = block
    handle = tensor(list(number.to_bytes(8, "little")), dtype=uint8)
    weakref.finalize(handle, _leave, number).atexit = False
    block.__enter__()
    return handle


def _leave(number: int) -> None:
    block = _OPEN.pop(number, None)
    if block is not None:
        block.__exit__(None, None, None)


def _exit(handle: Tensor) -> None:
    number = int.from_bytes(bytes(handle.tolist()), "little")
    if number not in _OPEN:
        raise errors.runtime_error(
            "profiler::_record_function_exit(): no block is open under this handle",
            "Give it what torch.ops.profiler._record_function_enter has returned, once.",
        )
    _leave(number)


def define() -> Library:
    """Define the operators; a second call finds them there."""
    if "profiler::_record_function_enter" not in registry.PACKETS:
        library = Library("profiler", "DEF")
        library.define("_record_function_enter(str name, str? args=None) -> Tensor")
        library.define("_record_function_exit(Tensor handle) -> ()")
        library.impl("_record_function_enter", _enter, "CompositeExplicitAutograd")
        library.impl("_record_function_exit", _exit, "CompositeExplicitAutograd")
        _LIBRARIES.append(library)
    return _LIBRARIES[-1]


_LIBRARIES: list[Library] = []  # held as long as the process
