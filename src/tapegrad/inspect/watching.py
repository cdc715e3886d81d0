"""Watching a program: which lines made nodes, cut tensors off from their history, ran backward.

What is seen is kept in a `Log` for `explain`, `step` and the pictures of graphs. Nothing in it
keeps a tensor or a graph alive.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.autograd.engine import reachable
from tapegrad.autograd.graph import AccumulateGrad, Port
from tapegrad.autograd.layered import Layered, layer_of
from tapegrad.autograd.mode import MODE, _Decorating
from tapegrad.autograd.profile_names import public_name
from tapegrad.autograd.trace import FREED_BY, Trace, Tracing, trace_of
from tapegrad.autograd.view import edge_of
from tapegrad.op import Op

_MOST = 1000  # cuts that are remembered after the tensors they made have gone


class Cut:
    """One call whose result has lost the history of what went in."""

    def __init__(self, how: str, trace: Trace, leaves: Any):
        self.how = how
        self.trace = trace
        self.leaves = weakref.WeakSet(leaves)  # that the result was computed from
        self.used = False  # whether another operator computed with the result


class Pass:
    """One backward pass: where it was called, and nodes that turned a gradient into zeros."""

    def __init__(self, trace: Trace):
        self.trace = trace
        self.zeroed: list[Zeroed] = []


class Zeroed:
    """A node that received a gradient that is not zero and sent zeros, and the leaves behind it."""

    def __init__(self, node: Any):
        self.name = type(node).__name__
        self.trace = trace_of(node)
        self.leaves = weakref.WeakSet(_leaves([node]))


class ById:
    """What is known of objects that compare element by element, found by identity.

    An entry goes with its object.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref, Any]] = {}

    def __setitem__(self, x: Any, value: Any) -> None:
        key, known = id(x), self._known
        known[key] = weakref.ref(x, lambda _: known.pop(key, None)), value

    def get(self, x: Any) -> Any:
        entry = self._known.get(id(x))
        return entry[1] if entry is not None and entry[0]() is x else None


class Log:
    """What was seen."""

    def __init__(self) -> None:
        self.cuts = ById()  # by tensor: the Cut it stems from
        self.made = ById()  # by tensor: name and trace of the function that made it from data
        self.recent: deque[Cut] = deque(maxlen=_MOST)
        self.reached: weakref.WeakKeyDictionary[AccumulateGrad, tuple[Pass, bool]] = (
            weakref.WeakKeyDictionary()
        )  # by leaf: the last pass that reached it, and whether only zeros came
        self.last: Pass | None = None
        self.flows: weakref.WeakKeyDictionary[Any, Any] | None = None  # by node, if asked for


_latest: Log | None = None


def latest() -> Log | None:
    """What is being watched, or was watched last; None if nothing ever was."""
    mode = layer_of(Watch)
    return _latest if mode is None else mode.log


class Watch(Tracing):
    """Notes what happens to histories and gradients, on top of another mode."""

    __slots__ = ("log", "n_run")

    def __init__(self, under: Any, log: Log):
        super().__init__(under)
        self.log = log
        self.n_run = 0  # nodes that ran in the pass, counted where what flows is noted

    def over(self, under: Any) -> Layered:
        return Watch(under, self.log)

    # --- forward ---------------------------------------------------------------------------------

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, _ = args
        result = super().call(name, function, args, kwargs)
        if isinstance(op, Op):
            for x in inputs:
                cut = self.log.cuts.get(x)
                if cut is not None:
                    cut.used = True
            outs = result if type(result) is tuple else (result,)
            bare = [x for x in outs if getattr(x, "_node", None) is None and hasattr(x, "_array")]
            for out in bare:
                if len(bare) == len(outs) or not out.dtype.is_floating_point:
                    self._without_history(public_name(op.name, op.node_name), inputs, out)
                # else a statistic of the result, as the mean is that a normalisation gives besides
        elif not inputs:
            self.log.made[result] = (name, self.trace_here())
        return result

    def applied(self, name: str, args: tuple, results: list) -> None:
        super().applied(name, args, results)
        for out in results:
            if getattr(out, "_node", None) is None and hasattr(out, "_array"):
                self._without_history(f"{name}.apply", args, out)

    def _without_history(self, name: str, inputs: Any, out: Any) -> None:
        sources = [x for x in inputs if hasattr(x, "_array") and x.requires_grad]
        if sources:
            if not self.grad:
                how = f"{name}() under torch.no_grad()"
            elif not (out.dtype.is_floating_point or out.dtype.is_complex):
                how = f"{name}(), whose result is {out.dtype}"
            else:
                how = f"{name}(), which has no derivative"
            self._note(sources, out, how)
            return
        for x in inputs:  # what is computed from a tensor that was cut off, is cut off as well
            cut = self.log.cuts.get(x)
            if cut is not None:
                cut.used = True
                self.log.cuts[out] = cut
                return

    def _note(self, sources: list, out: Any, how: str) -> None:
        cut = Cut(how, self.trace_here(), _leaves([edge_of(x) for x in sources]))
        self.log.cuts[out] = cut
        self.log.recent.append(cut)

    def cut(self, x: Any, result: Any, how: str) -> None:
        if x.requires_grad:
            self._note([x], result, how)
        super().cut(x, result, how)

    # --- backward --------------------------------------------------------------------------------

    def backward_begins(self, walk: Any) -> None:
        self.log.last = Pass(self.trace_here())
        self.n_run = 0
        super().backward_begins(walk)

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        now = self.log.last
        assert now is not None  # a pass has begun
        if type(node) is AccumulateGrad:
            self.log.reached[node] = now, not _any(args[1])
            if self.log.flows is not None:
                self._flows(node, list(args[1]), [], None)
            return super().backward_node(node, function, args)
        kept = None if self.log.flows is None else kept_now(node)
        grads = super().backward_node(node, function, args)
        if self.log.flows is not None:
            self._flows(node, args[1], grads, kept)
        FREED_BY[node] = now.trace
        sent = [g for g in grads if g is not None]
        if sent and not _any(sent) and _any([args[1]]):
            now.zeroed.append(Zeroed(node))
        return grads

    def _flows(self, node: Any, received: Any, sent: Any, kept: Any) -> None:
        from tapegrad.inspect.flow import NodeFlow, flows_of

        assert self.log.flows is not None
        self.log.flows[node] = NodeFlow(self.n_run, flows_of(received), flows_of(list(sent)), kept)
        self.n_run += 1


def kept_now(node: Any) -> Any:
    """What a node keeps before a pass frees it, in words."""
    from tapegrad.inspect.record import kept_of

    return kept_of(node, set())


def _any(gradients: Any) -> bool:
    """Whether anything in these gradients is not zero."""
    for g in gradients:
        if isinstance(g, (list, tuple)):
            if _any(g):
                return True
        elif g is not None and np.any(getattr(g, "_array", g)):
            return True
    return False


def _leaves(edges: list) -> list[AccumulateGrad]:
    return [node for node in reachable(edges) if type(node) is AccumulateGrad]


def node_behind(x: Any) -> Any:
    """The node of a tensor: an operator's, that of a leaf, or None."""
    edge = edge_of(x)
    return edge.node if type(edge) is Port else edge


class watch(_Decorating):
    """Context manager and decorator: remember what happens inside, for `explain`, `step`, `graph`.

    Every operator notes the line of your code that called it and the layer it was called in; every
    tensor that loses its history (`detach()`, `.data`, `no_grad`, a cast to integers, an operator
    without derivative) where that was; every backward pass what it reached and freed. It costs some
    microseconds for each operator, and keeps no tensor alive.

    Args:
        gradients: note the gradients of the last backward pass as well, in a few numbers for each
            edge (norm, range, histogram), for the pictures of `graph`. That costs more.

    >>> w = torch.ones(2, requires_grad=True)
    >>> with tapegrad.inspect.watch():
    ...     hidden = (w * 3).detach()
    ...     loss = (hidden * torch.ones(2, requires_grad=True)).sum()
    ...     loss.backward()
    >>> print(tapegrad.inspect.explain(w))
    This is a leaf that requires grad: [2] float32.
    Its .grad is None: no backward pass has reached it.
    It was used, but what was computed from it lost its history:
      detach() at <doctest tapegrad.inspect.watching.watch[1]>:2
    """

    def __init__(self, gradients: bool = False) -> None:
        self._log = Log()
        if gradients:
            self._log.flows = weakref.WeakKeyDictionary()
        self._tokens: list[Any] = []

    def _fresh(self) -> Any:
        return watch(self._log.flows is not None)

    def _mode(self) -> Any:
        global _latest
        _latest = self._log
        return Watch(MODE.get(), self._log)
