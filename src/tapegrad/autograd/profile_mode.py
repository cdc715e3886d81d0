"""The mode of a context where a profiler is on: operators are recorded, then run as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.autograd.mode import MODE, Mode
from tapegrad.autograd.profile_recorder import BACKWARD, Recorder, shapes_of

EVALUATE = "autograd::engine::evaluate_function: "
_NAMES = {"AccumulateGrad": "torch::autograd::AccumulateGrad"}


class Profiling(Mode):
    """Records operators on top of the mode `under`, a grad mode or another Mode."""

    __slots__ = ("recorder", "under")

    def __init__(self, under: Any, recorder: Recorder):
        super().__init__(under if type(under) is bool else under.grad)
        self.under = under
        self.recorder = recorder

    def over(self, under: Any) -> Profiling:
        return Profiling(under, self.recorder)

    def with_grad(self, grad: bool) -> Profiling:
        under = self.under
        return self.over(grad if type(under) is bool else under.with_grad(grad))

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        recorder, under = self.recorder, self.under
        shapes = shapes_of(args[1]) if recorder.shapes else None  # args: op, inputs, options
        record = recorder.push("aten::" + name, inputs=shapes)
        try:
            if type(under) is not bool:
                result = under.call(name, function, args, kwargs)
            else:
                token = MODE.set(under)
                try:
                    result = function(*args, **kwargs)
                finally:
                    MODE.reset(token)
            record.sequence = sequence_of(result)
            return result
        finally:
            recorder.pop(record)

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        """Run one node of the graph: `args` are its owner and what reached it, then options."""
        recorder = self.recorder
        name = _NAMES.get(type(node).__name__, type(node).__name__)
        sequence = node.sequence or -1
        shapes = shapes_of(args[1:2]) if recorder.shapes else None
        outer = recorder.push(EVALUATE + name, BACKWARD, sequence=sequence)
        inner = recorder.push(name, BACKWARD, shapes, sequence)
        try:
            return function(*args)
        finally:
            recorder.pop(inner)
            recorder.pop(outer)


def sequence_of(result: Any) -> int:
    """The sequence number of the node that made a tensor; -1 where no operator made it."""
    node = getattr(result, "_node", None)
    node = getattr(node, "node", node)  # one of several outputs
    return getattr(node, "sequence", 0) or -1
