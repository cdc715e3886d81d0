"""Traces: where in the user's files the nodes of a graph were made.

Nodes know nothing of it. Under a `Tracing` mode each call notes who called; what it notes are the
code objects and instructions on the stack, which is quick, and lines are found when one is asked
for.
"""

from __future__ import annotations

import itertools
import os
import sys
import traceback
import weakref
from contextvars import ContextVar
from types import CodeType

from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.core.annotations import Any, Callable, NodeLike
from tapegrad.core.registration import EXPLANATIONS

_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep
_MOST = 24  # frames that a trace has, counted from the innermost one
_is_own: dict[str, bool] = {}  # by file name
_NUMBER = "number of the call"  # no name that a variable could have
_n_calls = itertools.count(1)
anomaly = False, True, False  # of anomaly mode: enabled, check_nan, check_inf
LAYER_CALL: CodeType | None = None  # what runs when a layer is called: nn sets it


class Trace:
    """The user's frames at the call that made a node.

    `parent` is what made a node of a backward pass that was recorded itself: the name of the node
    that ran, its trace (None where it has none), and a weak reference to it. `modules` are the
    layers that were being called, innermost first, None where nobody asked for them, and `calls`
    the same with the number of the call, where calls were told apart. `made` is the shape of what
    the call computed, and its dtype as the array library has it.
    """

    __slots__ = ("_modules", "_numbers", "frames", "made", "parent")

    def __init__(
        self,
        frames: tuple,
        parent: tuple[str, Trace | None, weakref.ref] | None = None,
        modules: list | None = None,
        calls: tuple = (),
    ):
        self.frames = frames  # code and instruction in turn, innermost first
        self.parent = parent
        self.made: tuple[tuple, Any] | None = None
        self._modules = None if modules is None else tuple(map(weakref.ref, modules))
        self._numbers = calls or (0,) * len(self._modules or ())

    @property
    def knows_modules(self) -> bool:
        """Whether somebody asked for the layers."""
        return self._modules is not None

    @property
    def modules(self) -> list:
        """The layers that were being called and still exist, innermost first."""
        return [module for module, _ in self.calls]

    @property
    def calls(self) -> list[tuple]:
        """The same, each with the number of its call."""
        pairs = zip(self._modules or (), self._numbers, strict=True)
        return [(module, n) for ref, n in pairs if (module := ref()) is not None]

    @property
    def module(self) -> str:
        """The innermost layer by the names on the way to it: `Net.body.0`; "" where it is none."""
        names: list[str] = []
        outer = None
        for module in reversed(self.modules):
            children: dict = {} if outer is None else outer._modules
            name = next((n for n, child in children.items() if child is module), None)
            if name is None and outer is not None:  # behind a list of layers, which is not called
                name = next((n for n, each in outer.named_modules() if each is module), None)
            names.append(type(module).__name__ if name is None else name)
            outer = module
        return ".".join(names)

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


def place(trace: Trace | None) -> str:
    """` at file:line`, with the layer where it is known; "" without a trace."""
    where = None if trace is None else trace.line()
    if trace is None or where is None:
        return ""
    return f" at {where[0]}:{where[1]}" + (f" in {trace.module}" if trace.module else "")


def _line(code: CodeType, instruction: int) -> int:
    lines = [line for start, end, line in code.co_lines() if start <= instruction < end]
    return (lines[0] if lines else None) or code.co_firstlineno


def frames_here(modules: list | None = None, calls: list | None = None) -> tuple:
    """The user's frames now: code and instruction in turn, innermost first.

    The layers whose calls lie between are added to `modules`, the numbers of the calls to `calls`.
    """
    found: list[Any] = []
    layer: Any = None
    if modules is not None:
        layer = LAYER_CALL
    frame: Any = sys._getframe(1)
    while frame is not None and len(found) < 2 * _MOST:
        code = frame.f_code
        name = code.co_filename
        own = _is_own.get(name)
        if own is None:
            own = _is_own[name] = name.startswith((_OWN, "<tapegrad", "<frozen runpy"))
        if not own:
            found.append(code)
            found.append(frame.f_lasti)
        elif code is layer:
            known = frame.f_locals  # keeps what is put there as long as the call lasts
            modules.append(known["self"])  # type: ignore[union-attr]
            if calls is not None:
                if _NUMBER not in known:
                    known[_NUMBER] = next(_n_calls)
                calls.append(known[_NUMBER])
        frame = frame.f_back
    return tuple(found)


def n_own_frames() -> int:
    """How many frames of tapegrad lie between the caller, counted, and the user's code."""
    n, frame = 0, sys._getframe(1)
    while is_own(frame):
        n, frame = n + 1, frame.f_back  # type: ignore[assignment]
    return n


def is_own(frame: Any) -> bool:
    """Whether a frame is of tapegrad; False for None."""
    return frame is not None and frame.f_code.co_filename.startswith((_OWN, "<tapegrad"))


TRACES: weakref.WeakKeyDictionary[Any, Trace] = weakref.WeakKeyDictionary()  # by node


def trace_of(node: NodeLike) -> Trace | None:
    """Where a node was made, if that was under a mode that notes it."""
    trace = TRACES.get(node)
    if trace is None and type(node).__name__ == "CopySlices" and node.saved is not None:
        return TRACES.get(node.saved[0])  # it runs the operator that wrote
    return trace


RUNNING: ContextVar[Any] = ContextVar(
    "tapegrad_running", default=None
)  # the node that a backward pass in anomaly mode runs


def note_node(node: NodeLike) -> None:
    """Note who makes a node, and which node of a backward pass did, if one runs."""
    running = RUNNING.get()
    parent = None
    if running is not None:
        parent = running.name(), trace_of(running), weakref.ref(running)
    TRACES[node] = Trace(frames_here(), parent)


FREED_BY: weakref.WeakKeyDictionary[Any, Trace] = weakref.WeakKeyDictionary()  # by node


def freed_by(node: NodeLike) -> str:
    """Which backward pass freed what a node saved, as `" (file:line)"`; "" if nobody knows."""
    trace = FREED_BY.get(node)
    where = None if trace is None else trace.line()
    return "" if where is None else f" ({where[0]}:{where[1]})"


def lost_by(x: object) -> str:
    """How and where a tensor lost its history, in sentences; "" if nobody watched."""
    return EXPLANATIONS().lost_by(x) if EXPLANATIONS else ""


def missed_by(x: object) -> str:
    """Why a pass did not reach a tensor, in sentences; "" if nobody watched."""
    return EXPLANATIONS().missed_by(x) if EXPLANATIONS else ""


def whole(x: Any) -> Any:
    """The tensor whose history changes with a write into `x`: that of which it is a view."""
    return x if x._view is None else x._view.base


class Tracing(Layered):
    """Notes where nodes are made, and in which layers, on top of another mode."""

    __slots__ = ()

    def note(self, x: Any) -> None:
        """Note where the node behind a tensor was made, if nobody did so before."""
        node = getattr(x, "_node", None)
        if type(node) is Port:
            node = node.node
        if node is None or type(node) is AccumulateGrad:
            return
        known = TRACES.get(node)
        if known is None or not known.knows_modules:  # anomaly mode does not ask for layers
            TRACES[node] = trace = self.trace_here()
            if type(x._node) is not Port:
                trace.made = x._array.shape, x._array.dtype
            if known is not None:
                trace.parent = known.parent

    def trace_here(self) -> Trace:
        """Where the user's code is now."""
        modules: list[Any] = []
        calls: list[int] = []
        return Trace(frames_here(modules, calls), None, modules, tuple(calls))

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        result = self.below(name, function, args, kwargs)
        if self.grad:
            if result is None and args[1]:  # it has written into its first input
                self.note(whole(args[1][0]))
            elif type(result) is tuple:
                for x in result:
                    self.note(x)
            else:
                self.note(result)
        return result

    def applied(self, name: str, args: tuple, results: list) -> None:
        for x in results:
            self.note(x)
        super().applied(name, args, results)

    def wrote(self, x: object, result: object) -> None:
        self.note(x)
        super().wrote(x, result)
