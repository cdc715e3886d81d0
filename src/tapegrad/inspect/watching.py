"""Watching a program: which lines made nodes, cut tensors off from their history, ran backward."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.autograd.anomaly_report import squares
from tapegrad.autograd.describe import array_of
from tapegrad.autograd.layered_mode import Layered, layer_of
from tapegrad.autograd.mode import MODE, _Decorating
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.autograd.trace import FREED_BY, trace_of
from tapegrad.autograd.view import edge_of
from tapegrad.core.registration import EXPLANATIONS
from tapegrad.inspect.log import Blocked, Call, Changed, Log, Pass, Sent
from tapegrad.inspect.watching_forward import WatchingForward

_latest: Log | None = None


def latest() -> Log | None:
    """What is being watched, or was watched last; None if nothing ever was."""
    mode = layer_of(Watch)
    return _latest if mode is None else mode.log


class Watch(WatchingForward):
    """Notes what happens to histories and to gradients, on top of another mode."""

    __slots__ = ("n_run", "now")

    def __init__(self, under: Any, log: Log):
        super().__init__(under, log)
        self.now: Pass | None = None  # the backward pass that runs in this mode
        self.n_run = 0  # nodes that ran in it, counted where what flows is noted

    def over(self, under: Any) -> Layered:
        return Watch(under, self.log)

    def backward_begins(self, walk: Any) -> None:
        self.now = Pass(self.trace_here(), walk)
        self.n_run = 0
        super().backward_begins(walk)

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        now, log = self.now, self.log
        assert now is not None  # a pass has begun
        log.last = now
        if type(node) is AccumulateGrad:
            received = _any(args[1])
            self._look_at_received(node, received)
            log.reached[node] = now, not received
            log.cleared.pop(node, None)
            if log.flows is not None:
                self._flows(node, list(args[1]), [], None)
            return super().backward_node(node, function, args)
        received = _any([args[1]])
        self._look_at_received(node, received)
        kept = None if log.flows is None else kept_now(node)
        grads = super().backward_node(node, function, args)
        if log.flows is not None:
            self._flows(node, args[1], grads, kept)
        if now.frees:
            FREED_BY[node] = now.trace
        for cut in log.fed.get(node, ()):
            cut.fed = weakref.ref(now)
        self._look_at_sent(node, grads, received)
        return grads

    def _look_at_received(self, node: Any, received: bool) -> None:
        """Note where gradients that are not zero have become zero on their way to a node."""
        now = self.now
        assert now is not None
        sent = now.sent.get(node)
        if sent is not None and sent.calls and not received:
            now.changed.append(Changed(node, sent.calls, node.hooks is not None or sent.n < 2))

    def _look_at_sent(self, node: Any, grads: Any, received: bool) -> None:
        """Note what a node did with a gradient; `received`: with one that is not zero."""
        now = self.now
        assert now is not None
        call = Call(type(node).__name__, trace_of(node))
        silent, zeros, any_sent = [], [], False
        for edge, g in zip(node.edges, grads, strict=False):
            if edge is None:
                continue
            if g is None:
                silent.append(edge)
                continue
            target = edge.node if type(edge) is Port else edge
            found = now.sent.setdefault(target, Sent())
            found.n += 1
            if _any([g]):
                any_sent = True
                found.calls.append(call)
            else:
                zeros.append(edge)
            if now.bad is None:
                total = squares(g)
                if total != total:
                    now.bad = "nan", call
                elif not np.isfinite(total) and np.isinf(array_of(g)).any():
                    now.bad = "infinity", call
        if zeros and received:
            now.blocked.append(Blocked(node, zeros, False))
        if silent and received and not any_sent and not now.restricted:
            now.blocked.append(Blocked(node, silent, True))

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
        elif g is not None and np.any(array_of(g)):
            return True
    return False


def node_behind(x: Any) -> Any:
    """The node of a tensor: an operator's, that of a leaf, or None."""
    edge = edge_of(x)
    return edge.node if type(edge) is Port else edge


class watch(_Decorating):
    """Context manager and decorator: remember what happens inside, for `explain`, `step`, `graph`.

    Every operator notes the line of your code that called it and the layer it was called in; every
    tensor that loses its history (`detach()`, `.data`, `no_grad`, a cast to integers, NumPy, an
    operator without derivative) where that was; every backward pass what it reached and freed. It
    costs some microseconds for each operator, and keeps no tensor alive.

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
    ...
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


def lost_by(x: Any) -> str:
    """How and where a tensor lost its history, in sentences."""
    from tapegrad.inspect.explanation import origin

    return " ".join(["", *origin(x, latest())])


def missed_by(x: Any) -> str:
    """Why a pass did not reach a tensor, in sentences."""
    log = latest()
    if log is None or type(getattr(x, "_node", None)) is not AccumulateGrad:
        return ""
    from tapegrad.inspect.leaf_explanation import lost_on_the_way

    lines = lost_on_the_way(x._node, log)
    places = [line.strip() for line in lines if line.startswith(" ")]
    if not lines:
        return ""
    return " ".join(["", lines[0], ", ".join(places) + ".", *lines[len(places) + 1 :]])


EXPLANATIONS.register_module(__name__)
