"""The mode of a context where a profiler is on: operators are recorded, then run as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.autograd.layered import Layered
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.profile_recorder import BACKWARD, Recorder, shapes_of

EVALUATE = "autograd::engine::evaluate_function: "
_SUFFIXES = ("_along", "_axes", "_of_number")  # of names of our own where PyTorch has overloads
_TITLES: dict[str, str] = {}  # of operators, made as they are met
_NAMES = {"AccumulateGrad": "torch::autograd::AccumulateGrad"}


class Profiling(Layered):
    """Records operators on top of the mode `under`, a grad mode or another Mode."""

    __slots__ = ("recorder",)

    def __init__(self, under: Any, recorder: Recorder):
        super().__init__(under)
        self.recorder = recorder

    def over(self, under: Any) -> Profiling:
        return Profiling(under, self.recorder)

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        recorder = self.recorder
        op, inputs, _ = args
        title = _TITLES.get(name)
        if title is None:
            public = name if name.endswith("_") else public_name(name, op.node_name)
            title = _TITLES[name] = "aten::" + public
        record = recorder.push(title, inputs=shapes_of(inputs) if recorder.shapes else None)
        try:
            result = self.below(name, function, args, kwargs)
            record.sequence = sequence_of(result)
            return result
        finally:
            recorder.pop(record)

    def around(self, name: str, run: Callable) -> Any:
        record = self.recorder.push(name)
        try:
            return super().around(name, run)
        finally:
            self.recorder.pop(record)

    def in_place(self, name: str, compute: Callable, x: Any) -> Any:
        recorder = self.recorder
        record = recorder.push("aten::" + name, inputs=[list(x.shape)] if recorder.shapes else None)
        under = self.under
        token = MODE.set(under)
        try:
            return compute(x) if type(under) is bool else under.in_place(name, compute, x)
        finally:
            MODE.reset(token)
            recorder.pop(record)

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        recorder = self.recorder
        name = _NAMES.get(type(node).__name__, type(node).__name__)
        sequence = node.sequence or -1
        shapes = shapes_of(args[1:2]) if recorder.shapes else None
        outer = recorder.push(EVALUATE + name, BACKWARD, sequence=sequence)
        inner = recorder.push(name, BACKWARD, shapes, sequence)
        try:
            return super().backward_node(node, function, args)
        finally:
            recorder.pop(inner)
            recorder.pop(outer)


def public_name(name: str, node: str) -> str:
    """What PyTorch calls an operator: its nodes are named after it, whatever our own name is.

    >>> from tapegrad.autograd.profile_mode import public_name
    >>> public_name("add_tensors", "AddBackward0"), public_name("log1p", "Log1PBackward0")
    ('add', 'log1p')
    """
    words = node.partition("Backward")[0]
    public = "".join("_" + c.lower() if c.isupper() else c for c in words).removeprefix("_")
    if node in ("", "NotImplemented"):
        public = name
    elif public.replace("_", "") == name.replace("_", ""):
        public = min(public, name, key=len)  # "log1p", not "log1_p"
    for suffix in _SUFFIXES:
        public = public.removesuffix(suffix)
    return public


def sequence_of(result: Any) -> int:
    """The sequence number of the node that made a tensor; -1 where no operator made it."""
    node = getattr(result, "_node", None)
    node = getattr(node, "node", node)  # one of several outputs
    return getattr(node, "sequence", 0) or -1
