"""The forward half of watching: which lines used, cut off, copied and cleared which tensors."""

from __future__ import annotations

import copy as copy_module
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from tapegrad.autograd.mode import is_inference
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.autograd.operator_base import public_name
from tapegrad.autograd.trace import TRACES, Tracing, is_own, whole
from tapegrad.dispatch.op import Op
from tapegrad.inspect.log import MOST, Call, Cut, Log, leaves_behind

_in_function: ContextVar[bool] = ContextVar("tapegrad_in_function", default=False)
_OPTIMIZERS = f"{__name__.partition('.')[0]}.optim."


class WatchingForward(Tracing):
    """Notes in a log what happens to histories, on top of another mode."""

    __slots__ = ("log",)

    def __init__(self, under: Any, log: Log):
        super().__init__(under)
        self.log = log

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, _ = args
        op = getattr(op, "op", op)
        result = super().call(name, function, args, kwargs)
        if isinstance(op, Op):
            if not _in_function.get():
                tensors = [x for x in _flat(inputs) if hasattr(x, "_array")]
                outs = _outputs(result, tensors)
                # beside a result, statistics such as the mean of a normalization are no loss
                lost = [x for x in outs if _node(x) is None]
                if len(lost) < len(outs):
                    lost = [x for x in lost if not x.dtype.is_floating_point]
                self._operator(_public(op), tensors, outs, lost)
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
        nodes = [_node(x) for x in outs]
        bare = [x for x in lost if _node(x) is None]
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

    def cut(self, x: Any, result: Any, how: str) -> None:
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

    def copied(self, x: Any, copy: Any, how: str) -> None:
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


def _public(op: Op) -> str:
    return _WRITTEN.get(op.name) or public_name(op.name, op.node_name)


_WRITTEN = {"to_copy": "to"}  # by name of the operator, what users write


def _flat(inputs: tuple) -> list:
    return [y for x in inputs for y in (x if isinstance(x, (list, tuple)) else (x,))]


def _outputs(result: Any, inputs: list) -> list:
    """The tensors that an operator gave; one that writes gives none and changes its first input."""
    if result is None:
        return [whole(x) for x in inputs[:1]]
    return [x for x in (result if type(result) is tuple else (result,)) if hasattr(x, "_array")]


def _node(x: Any) -> Any:
    edge = x._node
    return edge.node if type(edge) is Port else edge


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
