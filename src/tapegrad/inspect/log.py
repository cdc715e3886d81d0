"""What `watch` remembers of a program. Nothing in it keeps a tensor or a graph alive."""

from __future__ import annotations

import weakref
from typing import Any

from tapegrad.autograd.describe import described, saved_by, saved_name
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.reachable import reachable
from tapegrad.autograd.trace import Trace, trace_of

MOST = 8  # cuts that one tensor is said to stem from


class Call:
    """One call of an operator or function: its name and where it was."""

    __slots__ = ("name", "trace")

    def __init__(self, name: str, trace: Trace | None):
        self.name = name
        self.trace = trace


class Cut:
    """Calls on one line whose results have lost the history of what went in.

    `kind` is why: the name of what was called, or "no_grad", "integers", "constant".
    """

    def __init__(self, kind: str, how: str, trace: Trace):
        self.kind = kind
        self.how = how
        self.trace = trace
        self.leaves: weakref.WeakSet[AccumulateGrad] = weakref.WeakSet()  # it was computed from
        self.used = False  # whether another operator computed with a result
        self.left: Call | None = None  # how a result went on to Python or NumPy
        self.fed: weakref.ref | None = None  # the last pass through what was computed with it


class Sent:
    """What nodes sent to one other node in a pass."""

    __slots__ = ("calls", "n")

    def __init__(self) -> None:
        self.calls: list[Call] = []  # of those that sent something else than zeros
        self.n = 0


class Blocked:
    """A node that received a gradient that is not zero and let none of it through.

    It sent zeros, or None where `silent`. `kept` says what it computed with.
    """

    def __init__(self, node: Any, edges: list, silent: bool):
        self.node = type(node).__name__
        self.custom = hasattr(node, "saved_values")
        self.trace = trace_of(node)
        self.leaves = weakref.WeakSet(leaves_behind(edges))
        self.silent = silent
        self.kept = [
            f"{saved_name(name)}: {described(value)}"
            for name, value in saved_by(node).items()
            if hasattr(value, "dtype") and not name.endswith("_like")
        ]


class Changed:
    """A node, or leaf, that received zeros though what was sent to it was not zero."""

    def __init__(self, node: Any, calls: list[Call], hooks: bool):
        self.leaves = weakref.WeakSet(leaves_behind([node]))
        self.calls = calls
        self.hooks = hooks  # whether hooks saw the gradient first
        self.trace = trace_of(node)


class Pass:
    """One backward pass."""

    def __init__(self, trace: Trace, walk: Any):
        self.trace = trace
        roots = [getattr(edge, "node", edge) for edge, _ in walk.roots]
        self.began = [Call(type(node).__name__, trace_of(node)) for node in roots]
        self.leaves = weakref.WeakSet(leaves_behind(roots))
        self.restricted = walk.restricted
        self.returns = self.restricted and not walk.keep  # and returned
        self.frees = not walk.retain_graph
        self.blocked: list[Blocked] = []
        self.changed: list[Changed] = []
        self.sent: weakref.WeakKeyDictionary[Any, Sent] = weakref.WeakKeyDictionary()
        self.bad: tuple[str, Call] | None = None  # the first "nan" or "infinity", and who made it


class ById:
    """What is known of objects that compare element by element, found by identity.

    An entry goes with its object.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref, Any]] = {}

    def __setitem__(self, x: Any, value: Any) -> None:
        key, known = id(x), self._known
        known[key] = weakref.ref(x, lambda _: known.pop(key, None)), value

    def get(self, x: Any, default: Any = None) -> Any:
        entry = self._known.get(id(x))
        return entry[1] if entry is not None and entry[0]() is x else default


class Log:
    """What was seen."""

    def __init__(self) -> None:
        self.cuts = ById()  # by tensor: a tuple of the cuts that it stems from
        self.lines: dict[tuple, Cut] = {}  # all cuts, by kind and place
        self.fed: weakref.WeakKeyDictionary[Any, tuple[Cut, ...]] = weakref.WeakKeyDictionary()
        # by node: cuts of the inputs of its operator
        self.made = ById()  # by tensor: the Call that made it from data, or copied it
        self.computed = ById()  # by tensor: the Call that computed it from others without history
        self.unrecorded = ById()  # by tensor: the last Call that used it while it had no history
        self.uses: weakref.WeakKeyDictionary[AccumulateGrad, Call] = weakref.WeakKeyDictionary()
        # by leaf: the last call that used it
        self.cleared: weakref.WeakKeyDictionary[AccumulateGrad, Call] = weakref.WeakKeyDictionary()
        # by leaf: what set its .grad to None
        self.reached: weakref.WeakKeyDictionary[AccumulateGrad, tuple[Pass, bool]] = (
            weakref.WeakKeyDictionary()
        )  # by leaf: the last pass that reached it, and whether only zeros came
        self.last: Pass | None = None
        self.flows: weakref.WeakKeyDictionary[Any, Any] | None = None  # by node, if asked for

    def cut_at(self, kind: str, how: str, trace: Trace) -> Cut:
        """The cut of a line, made where there is none."""
        key = (kind, how, trace.frames[:2])
        found = self.lines.get(key)
        if found is None:
            found = self.lines[key] = Cut(kind, how, trace)
        return found


def leaves_behind(edges: list) -> list[AccumulateGrad]:
    """The leaves of the graph behind edges."""
    return [node for node in reachable(edges) if type(node) is AccumulateGrad]
