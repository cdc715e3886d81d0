"""Listening to a context, and blocks that have a name there: `record_function`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapegrad.autograd.layered_mode import stripped
from tapegrad.autograd.mode import MODE
from tapegrad.core.errors import assertion_error, runtime_error
from tapegrad.profiler.mode import Profiling
from tapegrad.profiler.recorder import RECORDER, USER, Record, Recorder


class emit_nvtx:
    """Context manager that would mark operators for NVIDIA's tools; there are none on a CPU.

    >>> with torch.autograd.profiler.emit_nvtx(enabled=False):
    ...     y = torch.ones(2) * 2
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes

    def __enter__(self) -> emit_nvtx | None:
        if not self.enabled:
            return None
        if self.entered:
            raise runtime_error(
                "NVTX annotation context manager is not reentrant", "Make a new one for each block."
            )
        raise assertion_error(
            "Torch not compiled with CUDA enabled",
            "There are no CUDA kernels to mark: use torch.profiler.profile().",
        )

    def __exit__(self, *error: object) -> None:
        return None


class emit_itt:
    """Context manager that would mark operators for Intel's VTune, which is not there to listen.

    >>> with torch.autograd.profiler.emit_itt():
    ...     y = torch.ones(2) * 2
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes

    def __enter__(self) -> emit_itt | None:
        if not self.enabled:
            return None
        if self.entered:
            raise runtime_error(
                "ITT annotation context manager is not reentrant", "Make a new one for each block."
            )
        self.entered = True
        return self

    def __exit__(self, *error: object) -> None:
        return None


class record_function:
    """Context manager and decorator that gives a block a name in the profile.

    Args:
        name: what the block is called.
        args: a note, kept as the attribute `args`.

    >>> x = torch.ones(2)
    >>> with torch.autograd.profiler.profile() as prof:
    ...     with torch.autograd.profiler.record_function("my block"):
    ...         y = x * x
    >>> [event.name for event in prof.function_events]
    ['my block', 'aten::mul']
    """

    def __init__(self, name: str, args: str | None = None):
        self.name = name
        self.args = args
        self._open: tuple[Recorder, Record] | None = None

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise runtime_error(
                "profiler::_record_function_enter_new() Expected a value of type 'str' for "
                f"argument 'name' but instead found type '{type(self.name).__name__}'.\n"
                f"Position: 0\nValue: {self.name}\nDeclaration: "
                "profiler::_record_function_enter_new(str name, str? args=None) -> "
                "__torch__.torch.classes.profiler._RecordFunction\n"
                "Cast error details: Unable to cast Python instance of type "
                f"{type(self.name)} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES "
                "or compile in debug mode for details)",
                "Give the block a name: record_function('name').",
            )
        recorder = RECORDER.get()
        if recorder is not None and recorder.on:
            inputs: list | None = [[]] if self.args is not None and recorder.shapes else None
            self._open = recorder, recorder.push(self.name, USER, inputs)
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            recorder, record = self._open
            self._open = None
            recorder.pop(record)

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: object, **kwargs: object) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapper


def attach(recorder: Recorder) -> tuple:
    """Have `recorder` hear of what runs in this context; what is returned is for `detach`."""
    from tapegrad.profiler import composite

    composite.listen()
    profiling = Profiling(stripped(MODE.get(), Profiling), recorder)
    return RECORDER.set(recorder), MODE.set(profiling), profiling


def detach(recorder: Any, token: Any, profiling: Profiling) -> None:
    """Let nobody hear any more: `attach` undone."""
    from tapegrad.profiler import composite

    composite.leave()
    RECORDER.reset(recorder)
    if MODE.get() is profiling:
        MODE.reset(token)
    else:  # inside a block that was entered since
        MODE.set(stripped(MODE.get(), Profiling))
