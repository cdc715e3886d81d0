"""Python functions as events of a profile: what `with_stack=True` adds.

Functions of tapegrad itself are left out, and those of NumPy and SciPy that it calls: what they do
is recorded by the name of the operator.
"""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

import numpy as np

from tapegrad.profiler.recorder import PYTHON, Record, Recorder

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_RULES = "<tapegrad"  # the file of rules that were composed
_PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(np.__file__))) + os.sep
_KERNELS = (_PACKAGES + "numpy" + os.sep, _PACKAGES + "scipy" + os.sep)


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith((_PACKAGE, _RULES))


def _title(frame: FrameType, line: int = 0) -> str:
    """`file.py(12): function`, the file as it would be imported; by default its first line."""
    code = frame.f_code
    path = code.co_filename
    for folder in sys.path:
        if folder and path.startswith(folder.rstrip(os.sep) + os.sep):
            path = path[len(folder.rstrip(os.sep)) + 1 :]
            break
    return f"{path}({line or code.co_firstlineno}): {code.co_name}"


class PythonTracer:
    """Records the Python functions of this thread between `start` and `stop`."""

    def __init__(self, recorder: Recorder):
        from tapegrad.nn.module import Module

        self._recorder = recorder
        self._open: list[Record | None] = []
        self._before: Any = None
        self._layers: dict[str, list] = {}  # those that were called, by the name of their class
        self._layer = Module.__call__.__code__

    def start(self) -> None:
        """Begin with the functions that are already running."""
        frames = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if not _is_own(frame):
                frames.append(frame)
            frame = frame.f_back
        for running in reversed(frames):
            self._recorder.push(
                _title(running, running.f_lineno), PYTHON
            )  # ended when the recorder stops
        self._before = sys.getprofile()
        sys.setprofile(self._trace)

    def stop(self) -> None:
        sys.setprofile(self._before)

    def _trace(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            if frame.f_code is self._layer:
                title: str | None = self._layer_title(frame.f_locals["self"])
            else:
                title = None if self._is_hidden(frame) else _title(frame)
            self._open.append(None if title is None else self._recorder.push(title, PYTHON))
        elif event == "c_call":
            hidden = _is_own(frame) or self._in_hidden()
            self._open.append(None if hidden else self._recorder.push(repr_of(arg), PYTHON))
        elif self._open:  # a return, also of what was already running
            record = self._open.pop()
            if record is not None:
                self._recorder.pop(record)

    def _is_hidden(self, frame: FrameType) -> bool:
        if _is_own(frame):
            return True
        return frame.f_code.co_filename.startswith(_KERNELS) and self._in_hidden()

    def _in_hidden(self) -> bool:
        """Whether the innermost function that was called is one that is left out."""
        return bool(self._open) and self._open[-1] is None

    def _layer_title(self, layer: Any) -> str:
        """A layer by its class, and its number among those of this class."""
        name = type(layer).__name__
        known = self._layers.setdefault(name, [])
        for number, each in enumerate(known):
            if each is layer:
                return f"nn.Module: {name}_{number}"
        known.append(layer)
        return f"nn.Module: {name}_{len(known) - 1}"


def repr_of(function: Any) -> str:
    """A built-in by its name, without the address of what it is bound to."""
    return repr(function).partition(" at 0x")[0].rstrip(">") + ">"
