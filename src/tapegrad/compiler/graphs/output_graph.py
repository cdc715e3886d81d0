"""The graphs of one call, for `torch._dynamo.explain`.

The function runs as it is, and each call of a function or method of tensors becomes a node. What
PyTorch finds in the bytecode is found here while it happens: a graph ends where Python reads the
values of a tensor, at `graph_break()`, and at functions that `torch.compiler.disable` was given.
"""

import operator
import re
import sys
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain, count
from types import FrameType
from typing import Any

import tapegrad
from tapegrad.autograd.mode import MODE, is_grad_enabled
from tapegrad.compiler.decorators import disabled
from tapegrad.compiler.graphs.program_calls import call_form, program_stack, variable_of
from tapegrad.fx.graph import Graph
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.node import Node
from tapegrad.fx.proxy import TracerBase
from tapegrad.jit.recorder import CustomFunctions
from tapegrad.overrides import TorchFunctionMode
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree import tree_leaves

_READING = {
    "__bool__": "Data-dependent branching: a tensor is asked whether it is true",
    "item": "Unsupported Tensor.item() call",
    "tolist": "Unsupported Tensor.tolist() call",
    "numpy": "Unsupported Tensor.numpy() call: what NumPy computes is not recorded",
    "__array__": "A tensor becomes an array of NumPy, whose operators are not recorded",
    "backward": "Unsupported Tensor.backward() call",
    "data_ptr": "Unsupported Tensor.data_ptr() call",
    **dict.fromkeys(("__int__", "__float__", "__complex__", "__index__"), "A tensor as a number"),
    **dict.fromkeys(("__repr__", "__str__", "__format__"), "A tensor as text"),
}
"""Methods after which a graph cannot go on, and why."""


@dataclass
class GraphCompileReason:
    """Why a graph ended, and the calls of the program at that place, the innermost last."""

    reason: str
    user_stack: list[traceback.FrameSummary]
    graph_break: bool = True


_RECORDING: ContextVar["OutputGraphs | None"] = ContextVar("recording", default=None)


def break_graph(reason: str) -> None:
    """End the graph of the call that is being recorded, if one is."""
    recording = _RECORDING.get()
    if recording is not None:
        recording.end_graph(reason)


class _Segment(TracerBase):
    """A graph in the making; `nodes` are those of its tensors."""

    def __init__(self, owner: "OutputGraphs"):
        self.graph = Graph()
        self.owner = owner
        self.nodes: dict[int, Node] = {}
        self.parts: dict[int, tuple[Node, int]] = {}  # of tuples, which are taken out when used
        self.inputs: dict[Node, Any] = {}
        self.outputs: dict[Node, None] = {}
        self.grad = owner.grad
        self._last_input: Node | None = None

    def create_arg(self, a: Any) -> Any:
        """An argument of a node, with a node for each tensor and for what no graph can hold."""
        if isinstance(a, Tensor):
            return self.node_of(a)
        try:
            return super().create_arg(a)
        except NotImplementedError:
            return self.node_of(a)

    def made_here(self, x: Any) -> Node | None:
        """The node of a tensor that the graph computed, or has as an input."""
        if id(x) in self.parts:
            node, place = self.parts.pop(id(x))
            self.nodes[id(x)] = self.graph.call_function(operator.getitem, (node, place))
        return self.nodes.get(id(x))

    def node_of(self, x: Any) -> Node:
        found = self.made_here(x)
        if found is None:
            self.owner.is_used(x)
            with self.graph.inserting_after(self._last_input or self.graph._root):
                found = self.graph.placeholder(self._input_name(self.owner.name_of(x)))
            self._last_input = self.nodes[id(x)] = found
            self.inputs[found] = x
        return found

    def _input_name(self, name: str) -> str:
        """An argument's name that no other input of the graph has."""
        name = re.sub(r"\W", "_", f"L_{name}_")
        taken = {node.target for node in self.graph.nodes if node.op == "placeholder"}
        return next(n for n in chain([name], (f"{name}{i}" for i in count(1))) if n not in taken)

    def add(
        self, call: tuple[str, Any, tuple, dict], result: Any, variable: str | None = None
    ) -> None:
        """A node for a call, named after the variable that takes its result; and its tensors."""
        kind, target, args, kwargs = call
        given = self.create_arg(args), self.create_arg(kwargs)
        if self.grad != is_grad_enabled():
            self._set_grad(is_grad_enabled())
        self._name(self.graph.create_node(kind, target, *given, name=variable), result)

    def _set_grad(self, enabled: bool) -> None:
        self.grad = enabled
        self.graph.call_function(tapegrad._C._set_grad_enabled, (enabled,))

    def _name(self, node: Node, result: Any) -> None:
        if isinstance(result, Tensor):
            self.parts.pop(id(result), None)
            self.nodes[id(self.owner.kept(result))] = node
        elif isinstance(result, (tuple, list)):
            for place, each in enumerate(result):
                if isinstance(each, Tensor) and id(each) not in self.nodes:
                    self.parts[id(self.owner.kept(each))] = node, place

    def is_empty(self) -> bool:
        return all(node.op == "placeholder" for node in self.graph.nodes)

    def finished(self, with_unused: bool = True) -> GraphModule:
        """The module of the graph, which leaves the grad mode as it was."""
        if self.grad != self.owner.grad:
            self._set_grad(self.owner.grad)
        unused = [n for n in self.nodes.values() if not n.users and n.op != "placeholder"]
        self.graph.output(tuple(dict.fromkeys([*self.outputs, *(unused if with_unused else ())])))
        return GraphModule({}, self.graph)


class OutputGraphs(TorchFunctionMode):
    """Records the calls that are made while it is on; `names` are those of tensors, by their id."""

    def __init__(self, names: dict[int, str]):
        super().__init__()
        self.break_reasons: list[GraphCompileReason] = []
        self.grad = is_grad_enabled()
        self._left_alone: FrameType | None = None
        self._around: FrameType | None = None  # that of the recorder, which calls the function
        self._names = names
        self._kept: list[Any] = []  # so that ids stay theirs
        self._segments = [_Segment(self)]

    def call(self, function: Callable, args: tuple, kwargs: dict) -> Any:
        """What the function gives, recorded."""
        self._around = sys._getframe()
        mode = MODE.set(CustomFunctions(MODE.get(), self))
        recording = _RECORDING.set(self)
        try:
            with self:
                return function(*args, **kwargs)
        finally:
            _RECORDING.reset(recording)
            MODE.reset(mode)
            self._around = None

    def kept(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def name_of(self, x: Any) -> str:
        self.kept(x)
        return self._names.get(id(x), "value")

    def is_used(self, x: Any) -> None:
        """Have the graph that computed a tensor give it back."""
        for segment in reversed(self._segments):
            node = segment.made_here(x)
            if node is not None:
                if node.op != "placeholder":
                    segment.outputs.setdefault(node)
                return

    def end_graph(self, reason: str, frame: FrameType | None = None) -> None:
        """The graph ends here, where it has an operator, and another one begins."""
        self.break_reasons.append(GraphCompileReason(reason, program_stack(frame, self._around)))
        if not self._segments[-1].is_empty():
            self._segments.append(_Segment(self))

    def finished(self, result: Any) -> list[GraphModule]:
        """Modules of all graphs that have an operator, of a call that gave `result`."""
        for each in tree_leaves(result):
            self.is_used(each)
        return [each.finished() for each in self._segments if not each.is_empty()]

    def one_graph(self, results: list) -> tuple[GraphModule, list[Any], list[int | None]]:
        """The module of a call that gave `results` and read no values.

        With it the tensors that it reads, and for each result its place in what the module gives,
        None for what the call has not computed.
        """
        (segment,) = self._segments
        nodes = [segment.made_here(x) if isinstance(x, Tensor) else None for x in results]
        made = [None if x is None or x.op == "placeholder" else x for x in nodes]
        segment.outputs = dict.fromkeys(x for x in made if x is not None)
        places = {node: i for i, node in enumerate(segment.outputs)}
        nodes_before = list(segment.graph.nodes)  # the module has a copy
        inputs = [segment.inputs[node] for node in nodes_before if node.op == "placeholder"]
        module = segment.finished(with_unused=False)
        return module, inputs, [None if x is None else places[x] for x in made]

    def __torch_function__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs, here = kwargs or {}, sys._getframe(1)
        name = getattr(func, "__name__", "")
        if name in _READING and isinstance(args[0], Tensor) and not self._is_disabled(here):
            self.is_used(args[0])
            self.end_graph(_READING[name])
            return func(*args, **kwargs)
        result = func(*args, **kwargs)
        if self._is_disabled(here):
            return result
        if name == "__setitem__" or _has_tensor(result):
            call = call_form(func, args, kwargs, here)
            self._segments[-1].add(call, result, variable_of(here))
        return result

    def _is_disabled(self, frame: FrameType | None) -> bool:
        """Whether a function that the compiler is to leave alone makes the call."""
        while frame is not None and frame is not self._around:
            if frame.f_code in disabled:
                if frame is not self._left_alone:
                    self._left_alone = frame
                    self.end_graph(
                        "Skip calling `torch.compiler.disable()`d function", frame.f_back
                    )
                return True
            frame = frame.f_back
        return False

    def custom(self, function: Any, args: tuple, results: list) -> None:
        """A custom function was called, which is one operator."""
        if self._is_disabled(sys._getframe(1)):
            return
        result = tuple(results) if len(results) > 1 else results[0]
        self._segments[-1].add(("call_function", function.apply, args, {}), result)


def _has_tensor(result: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return any(map(_has_tensor, result))
    return isinstance(result, Tensor)
