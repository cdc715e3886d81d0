"""Where in the user's files the nodes of a graph were made.

Nodes know nothing of it. Under a `Tracing` mode each call notes who called; what it notes are the
code objects and instructions on the stack, which is quick, and lines are found when one is asked
for.
"""

from __future__ import annotations

import os
import sys
import traceback
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

from tapegrad.autograd.graph import AccumulateGrad, Port
from tapegrad.autograd.mode import Layered

_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep
_MOST = 24  # frames that a trace has, counted from the innermost one
_is_own: dict[str, bool] = {}  # by file name


class Trace:
    """The user's frames at the call that made a node.

    `parent` is what made a node of a backward pass that was recorded itself: the name of the node
    that ran, and its trace (None where it has none).
    """

    __slots__ = ("frames", "parent")

    def __init__(self, frames: tuple, parent: tuple[str, Trace | None] | None):
        self.frames = frames  # code and instruction in turn, innermost first
        self.parent = parent

    def summary(self) -> traceback.StackSummary:
        """The frames, outermost first, as `traceback` has them."""
        pairs = list(zip(self.frames[::2], self.frames[1::2], strict=True))
        return traceback.StackSummary.from_list(
            [
                (code.co_filename, _line(code, at), code.co_name, None)
                for code, at in reversed(pairs)
            ]
        )

    def text(self) -> str:
        """The frames as a traceback prints them."""
        return "".join(self.summary().format())

    def line(self) -> tuple[str, int] | None:
        """File and line of the innermost frame."""
        if not self.frames:
            return None
        code = self.frames[0]
        return code.co_filename, _line(code, self.frames[1])


def _line(code: CodeType, instruction: int) -> int:
    lines = [line for start, end, line in code.co_lines() if start <= instruction < end]
    return (lines[0] if lines else None) or code.co_firstlineno


def frames_here() -> tuple:
    """The user's frames now: code and instruction in turn, innermost first."""
    found: list[Any] = []
    frame: Any = sys._getframe(1)
    while frame is not None and len(found) < 2 * _MOST:
        code = frame.f_code
        name = code.co_filename
        own = _is_own.get(name)
        if own is None:
            own = _is_own[name] = name.startswith(_OWN) or name.startswith("<tapegrad")
        if not own:
            found.append(code)
            found.append(frame.f_lasti)
        frame = frame.f_back
    return tuple(found)


def n_own_frames() -> int:
    """How many frames of tapegrad lie between the caller, counted, and the user's code."""
    n, frame = 0, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_OWN, "<tapegrad")):
        n, frame = n + 1, frame.f_back  # type: ignore[assignment]
    return n


TRACES: weakref.WeakKeyDictionary[Any, Trace] = weakref.WeakKeyDictionary()  # by node


def trace_of(node: Any) -> Trace | None:
    """Where a node was made, if that was under a mode that notes it."""
    trace = TRACES.get(node)
    if trace is None and type(node).__name__ == "CopySlices" and node.saved is not None:
        return TRACES.get(node.saved[0])  # it runs the operator that wrote
    return trace


class Tracing(Layered):
    """Notes where nodes are made, on top of another mode."""

    __slots__ = ("parent",)

    def __init__(self, under: Any, parent: tuple[str, Trace | None] | None = None):
        super().__init__(under)
        self.parent = parent  # the node that is running, in a recorded backward pass

    def over(self, under: Any) -> Tracing:
        return Tracing(under, self.parent)

    def note(self, x: Any) -> None:
        """Note where the node behind a tensor was made, if nobody did so before."""
        node = getattr(x, "_node", None)
        if type(node) is Port:
            node = node.node
        if node is not None and type(node) is not AccumulateGrad and node not in TRACES:
            TRACES[node] = Trace(frames_here(), self.parent)

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        result = self.below(name, function, args, kwargs)
        if self.grad:
            for x in result if type(result) is tuple else (result,):
                self.note(x)
        return result

    def wrote(self, x: Any, result: Any) -> None:
        self.note(x)
        super().wrote(x, result)
