"""Watching a program: which lines made nodes, cut tensors off from their history, ran backward."""

import copy as copy_module
import sys
import weakref
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from tapegrad.autograd.anomaly_mode import squares
from tapegrad.autograd.describe import array_of, described, saved_by, saved_name
from tapegrad.autograd.layered_mode import layer_of
from tapegrad.autograd.mode import MODE, _Decorating, is_inference
from tapegrad.autograd.node import AccumulateGrad, node_of
from tapegrad.autograd.operator_base import public_name
from tapegrad.autograd.reachable import reachable
from tapegrad.autograd.trace import FREED_BY, TRACES, Trace, Tracing, is_own, trace_of, whole
from tapegrad.autograd.view import edge_of
from tapegrad.core.annotations import Any, Callable, ModeLike, NodeLike, Sequence
from tapegrad.core.registration import EXPLANATIONS
from tapegrad.dispatch.op import Op
from tapegrad.inspect.record import kept_of
from tapegrad.inspect.stepping import NodeFlow, flows_of

MOST = 8  # cuts that one tensor is said to stem from


@dataclass(eq=False, slots=True)
class Call:
    """One call of an operator or function: its name and where it was."""

    name: str
    trace: Trace | None


class Cut:
    """Calls on one line whose results have lost the history of what went in.

    `kind` is why: the name of what was called, or "no_grad", "integers", "constant".
    """

    def __init__(self, kind: str, how: str, trace: Trace):
        self.kind, self.how, self.trace = kind, how, trace
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

    def __init__(self, node: NodeLike, edges: list, silent: bool):
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

    def __init__(self, node: NodeLike, calls: list[Call], hooks: bool):
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

    def __setitem__(self, x: object, value: object) -> None:
        key, known = id(x), self._known
        known[key] = weakref.ref(x, lambda _: known.pop(key, None)), value

    def get(self, x: object, default: Any = None) -> Any:
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


_in_function: ContextVar[bool] = ContextVar("tapegrad_in_function", default=False)
_OPTIMIZERS = f"{__name__.partition('.')[0]}.optim."


class WatchingForward(Tracing):
    """Notes in a log what happens to histories, on top of another mode."""

    __slots__ = given = ("log",)
    log: Log

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, _ = args
        op = getattr(op, "op", op)
        result = super().call(name, function, args, kwargs)
        if isinstance(op, Op):
            if not _in_function.get():
                tensors = [x for x in _flat(inputs) if hasattr(x, "_array")]
                outs = _outputs(result, tensors)
                # beside a result, statistics such as the mean of a normalization are no loss
                lost = [x for x in outs if x._node is None]
                if len(lost) < len(outs):
                    lost = [x for x in lost if not x.dtype.is_floating_point]
                public = _WRITTEN.get(op.name) or public_name(op.name, op.node_name)
                self._operator(public, tensors, outs, lost)
        elif not inputs:
            self.log.made[result] = Call(name, self.trace_here())
        return result

    def around(self, name: str, run: Callable) -> Any:
        token = _in_function.set(True)  # what the forward of a custom function does is its business
        try:
            return super().around(name, run)
        finally:
            _in_function.reset(token)

    def applied(self, name: str, args: tuple, results: list) -> None:
        super().applied(name, args, results)
        if not _in_function.get():
            tensors = [x for x in args if hasattr(x, "_array")]
            outs = [x for x in results if hasattr(x, "_array")]
            self._operator(f"{name}.apply", tensors, outs, outs)

    def _operator(self, name: str, inputs: list, outs: list, lost: list) -> None:
        """One operator computed `outs` from `inputs`; of `lost` it matters if they have a node."""
        log = self.log
        nodes = [node_of(x._node) for x in outs]
        bare = [x for x in lost if x._node is None]
        trace = next((TRACES[node] for node in nodes if node in TRACES), None)
        cuts: dict[Cut, None] = {}
        for x in inputs:
            node = x._node
            if type(node) is AccumulateGrad and self.grad:
                trace = trace or self.trace_here()
                log.uses[node] = Call(name, trace)
            elif node is None and x.dtype.is_floating_point:
                trace = trace or self.trace_here()
                log.unrecorded[x] = Call(name, trace)
            for cut in log.cuts.get(x, ()):
                cut.used = True
                cuts[cut] = None
        known = tuple(cuts)[:MOST]
        if known:
            for node in nodes:
                if type(node) is not AccumulateGrad and node is not None:
                    log.fed[node] = known
        if bare:
            self._without_history(name, inputs, bare, known)

    def _without_history(self, name: str, inputs: list, outs: list, cuts: tuple) -> None:
        sources = [x for x in inputs if x.requires_grad]
        for out in outs:
            if sources:
                kind, how = self._reason(name, out)
                inside = any(cut.kind == kind == "no_grad" for cut in cuts)  # the same block
                self.log.cuts[out] = cuts
                self._note(sources, None if inside else out, kind, how)
            elif cuts:  # what is computed from a tensor that was cut off, is cut off as well
                self.log.cuts[out] = cuts
            elif inputs:
                self.log.computed[out] = Call(name, self.trace_here())

    def _reason(self, name: str, out: Any) -> tuple[str, str]:
        if not self.grad:
            block = "inference_mode" if is_inference(self) else "no_grad"
            return "no_grad", f"{name}() under torch.{block}()"
        if not (out.dtype.is_floating_point or out.dtype.is_complex):
            return "integers", f"{name}(), whose result is {out.dtype}"
        return "constant", f"{name}(), which has no derivative"

    def _note(self, sources: list, out: Any, kind: str, how: str) -> Cut | None:
        if _in_function.get() or _in_optimizer():
            return None
        cut = self.log.cut_at(kind, how, self.trace_here())
        edges = [whole(x)._node for x in sources]  # `edge_of` raises where a view is out of date
        for leaf in leaves_behind([edge for edge in edges if edge is not None]):
            cut.leaves.add(leaf)
        if out is not None:
            self.log.cuts[out] = tuple(dict.fromkeys((*self.log.cuts.get(out, ()), cut)))[:MOST]
        return cut

    def cut(self, x: Any, result: object, how: str) -> None:
        super().cut(x, result, how)
        if x.requires_grad:
            kind, how = _by_library(how)
            cut = self._note([x], result, kind, how)
            if cut is not None and result is None:
                cut.used = True
            return
        known = self.log.cuts.get(x, ())
        if known and result is not None:
            self.log.cuts[result] = known
        elif known and not _in_function.get():
            for each in known:
                each.left = Call(how, self.trace_here())

    def copied(self, x: object, copy: bool | None, how: str) -> None:
        super().copied(x, copy, how)
        trace = self.trace_here()
        while trace.frames and trace.frames[0].co_filename == copy_module.__file__:
            trace.frames = trace.frames[2:]
        self.log.made[copy] = Call(how, trace)

    def cleared(self, leaves: Any, how: str) -> None:
        super().cleared(leaves, how)
        call = Call(how, self.trace_here())
        for x in leaves:
            if type(x._node) is AccumulateGrad:
                self.log.cleared[x._node] = call


_WRITTEN = {"to_copy": "to"}  # by name of the operator, what users write


def _flat(inputs: tuple) -> list:
    return [y for x in inputs for y in (x if isinstance(x, (list, tuple)) else (x,))]


def _outputs(result: object, inputs: list) -> list:
    """The tensors that an operator gave; one that writes gives none and changes its first input."""
    if result is None:
        return [whole(x) for x in inputs[:1]]
    return [x for x in (result if type(result) is tuple else (result,)) if hasattr(x, "_array")]


def _by_library(how: str) -> tuple[str, str]:
    """The kind of a cut, and its words: who called detach(), if a function of tapegrad did."""
    called, frame = "", sys._getframe(2)
    while is_own(frame):
        called, frame = frame.f_code.co_name, frame.f_back  # type: ignore[assignment]
    if how in ("detach()", ".data") and called not in ("detach", "data"):
        return "library", f"{called}()"
    return how, how


def _in_optimizer() -> bool:
    """Whether the function of tapegrad that the user called is a step of an optimiser."""
    frame: Any = sys._getframe(1)
    while is_own(frame):
        if frame.f_globals["__name__"].startswith(_OPTIMIZERS):
            return True
        frame = frame.f_back
    return False


_latest: Log | None = None


def latest() -> Log | None:
    """What is being watched, or was watched last; None if nothing ever was."""
    mode = layer_of(Watch)
    return _latest if mode is None else mode.log


class Watch(WatchingForward):
    """Notes what happens to histories and to gradients, on top of another mode."""

    __slots__ = ("n_run", "now")

    def __init__(self, under: ModeLike, log: Log):
        super().__init__(under, log)
        self.now: Pass | None = None  # the backward pass that runs in this mode
        self.n_run = 0  # nodes that ran in it, counted where what flows is noted

    def backward_begins(self, walk: Any) -> None:
        self.now = Pass(self.trace_here(), walk)
        self.n_run = 0
        super().backward_begins(walk)

    def backward_node(self, node: NodeLike, function: Callable, args: tuple) -> Any:
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

    def _look_at_received(self, node: NodeLike, received: bool) -> None:
        """Note where gradients that are not zero have become zero on their way to a node."""
        now = self.now
        assert now is not None
        sent = now.sent.get(node)
        if sent is not None and sent.calls and not received:
            now.changed.append(Changed(node, sent.calls, node.hooks is not None or sent.n < 2))

    def _look_at_sent(self, node: NodeLike, grads: Sequence, received: bool) -> None:
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
            found = now.sent.setdefault(node_of(edge), Sent())
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

    def _flows(self, node: NodeLike, received: object, sent: Any, kept: Any) -> None:
        assert self.log.flows is not None
        self.log.flows[node] = NodeFlow(self.n_run, flows_of(received), flows_of(list(sent)), kept)
        self.n_run += 1


def kept_now(node: NodeLike) -> Any:
    """What a node keeps before a pass frees it, in words."""
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


def node_behind(x: object) -> Any:
    """The node of a tensor: an operator's, that of a leaf, or None."""
    return node_of(edge_of(x))


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


def lost_by(x: object) -> str:
    """How and where a tensor lost its history, in sentences."""
    from tapegrad.inspect.explanation import origin

    return " ".join(["", *origin(x, latest())])


def missed_by(x: Any) -> str:
    """Why a pass did not reach a tensor, in sentences."""
    log = latest()
    if log is None or type(getattr(x, "_node", None)) is not AccumulateGrad:
        return ""
    from tapegrad.inspect.explanation import lost_on_the_way

    lines = lost_on_the_way(x._node, log)
    places = [line.strip() for line in lines if line.startswith(" ")]
    if not lines:
        return ""
    return " ".join(["", lines[0], ", ".join(places) + ".", *lines[len(places) + 1 :]])


EXPLANATIONS.register_module(__name__)
