"""Graphs that are alive: how large they are, what they keep, and who holds them."""

import gc
import sys
from collections import deque
from collections.abc import Iterator
from itertools import islice

import numpy as np

from tapegrad.autograd.describe import described, saved_by
from tapegrad.autograd.node import AccumulateGrad, OperatorNode, node_of
from tapegrad.autograd.reachable import reachable
from tapegrad.autograd.trace import trace_of
from tapegrad.core.annotations import Any, OptimizerLike
from tapegrad.core.storage import owner_of
from tapegrad.nn.modules.module import Module
from tapegrad.optim.optimizer import Optimizer
from tapegrad.tensors.tensor import Tensor


class Owners:
    """The layers that have a parameter, by name, and the optimisers that are alive."""

    def __init__(self, x: object):
        # By their type: `isinstance` asks for `__class__`, at which objects of others may fail.
        alive = gc.get_objects()
        self.x = x
        self.modules = [each for each in alive if issubclass(type(each), Module)]
        self.optimizers = [each for each in alive if issubclass(type(each), Optimizer)]
        self.names = [
            (module, name)
            for module in self.modules
            for name, each in module.named_parameters()
            if each is x
        ]

    @property
    def name(self) -> str:
        """The longest name, from the outermost layer: `Net.body.0.weight`; "" without a layer."""
        if not self.names:
            return ""
        module, name = max(self.names, key=lambda each: each[1].count("."))
        return f"{type(module).__name__}.{name}"

    def findings(self) -> list[str]:
        """What is not as it should be between layers, optimisers and the parameter."""
        holding = [o for o in self.optimizers if any(self.x is p for p in _parameters(o))]
        if holding and not self.names:
            others = {id(p) for module in self.modules for p in module.parameters()}
            for each in holding:
                if any(id(p) in others for p in _parameters(each)):
                    return [
                        f"{type(each).__name__} has it, but no layer does: it was replaced by "
                        "another parameter. Make the optimizer anew, or write into the parameter: "
                        "with torch.no_grad(): parameter.copy_(values)."
                    ]
        if holding or not self.optimizers or not self.names:
            return []
        return self._unknown_to_optimizers()

    def _unknown_to_optimizers(self) -> list[str]:
        inner = {id(module) for module, _ in self.names}
        for module in self.modules:
            for name, value in vars(module).items():
                if name.startswith("_") or type(value) not in (list, tuple, dict):
                    continue
                each = value.values() if type(value) is dict else value
                if any(id(child) in inner or child is self.x for child in each):
                    kind = "ModuleDict" if type(value) is dict else "ModuleList"
                    if any(child is self.x for child in each):
                        kind = kind.replace("Module", "Parameter")
                    return [
                        f"{type(module).__name__}.{name} is a {type(value).__name__}, of which "
                        f"{type(module).__name__} does not know what is in it: no optimizer has "
                        f"this parameter. Make it an nn.{kind}."
                    ]
        outer = {id(p) for module, _ in self.names for p in module.parameters()}
        for each in self.optimizers:
            if any(id(p) in outer for p in _parameters(each)):
                return [
                    f"{type(each).__name__} has other parameters of "
                    f"{type(self.names[0][0]).__name__}, but not this one: make the optimizer "
                    "after the layers, or call add_param_group()."
                ]
        return []


def _parameters(optimizer: OptimizerLike) -> list:
    return [p for group in optimizer.param_groups for p in group["params"]]


_OWN = __name__.partition(".")[0]


class LiveGraph:
    """The graph behind one tensor, which no other living tensor's graph contains.

    Attributes:
        tensor: the tensor that holds the graph.
        n_nodes: operators in it.
        n_bytes: bytes of memory that its nodes keep, those of its leaves not counted.
        holders: by which names the tensor is held: `loss in train (train.py:12)`.
        file, line: where it was made, if that was inside `watch()` or anomaly mode; else None.
    """

    def __init__(self, tensor: Tensor, nodes: list, holders: list[str]):
        self.tensor = tensor
        operators = [node for node in nodes if type(node) is not AccumulateGrad]
        self.n_nodes = len(operators)
        self.n_bytes = bytes_kept(nodes)
        self.holders = holders
        trace = trace_of(operators[0])
        where = None if trace is None else trace.line()
        self.file: str | None = None if where is None else where[0]
        self.line: int | None = None if where is None else where[1]

    def __repr__(self) -> str:
        name = type(self.tensor.grad_fn).__name__
        where = "" if self.file is None else f" at {self.file}:{self.line}"
        who = "; ".join(self.holders) or "no variable that can be seen"
        return (
            f"{name}{where}, {described(self.tensor)}: {self.n_nodes:,} nodes keep "
            f"{self.n_bytes:,} bytes, held by {who}"
        )


def bytes_kept(nodes: list) -> int:
    """The memory that nodes keep, each array once; the memory of leaves among them not counted."""
    own = {id(owner_of(node.array)) for node in nodes if type(node) is AccumulateGrad}
    found: dict[int, int] = {}
    for node in nodes:
        for array in arrays_in(list(saved_by(node).values())):
            owner = owner_of(array)
            if id(owner) not in own:
                found[id(owner)] = owner.nbytes
    return sum(found.values())


def arrays_in(value: object) -> Iterator[np.ndarray]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from arrays_in(each)
    else:
        array = getattr(value, "_array", value)
        if isinstance(array, np.ndarray):
            yield array


def live_graphs() -> list[LiveGraph]:
    """The graphs that living tensors hold, those that keep most bytes first.

    A graph that stays alive from one iteration to the next is what fills the memory of a training
    loop: the losses in a list, a hidden state that was never detached. A tensor counts if no other
    living tensor was computed from it.

    >>> x = torch.ones(1000, requires_grad=True)
    >>> losses = [(x * x).exp().sum()]
    >>> graph = tapegrad.inspect.live_graphs()[0]
    >>> graph.n_nodes, graph.n_bytes
    (3, 4000)
    >>> del losses[:], graph
    """
    gc.collect()  # what only cycles hold is not alive
    # By their type: `isinstance` asks for `__class__`, at which objects of others may warn or fail.
    tensors = [
        x
        for x in gc.get_objects()
        if issubclass(type(x), Tensor) and isinstance(node_of(x._node), OperatorNode)
    ]
    inner: set[int] = set()  # nodes that are part of the graph of a younger tensor
    found = []
    for x in sorted(tensors, key=lambda x: -node_of(x._node).sequence):
        node = node_of(x._node)
        if id(node) in inner:
            continue
        nodes = reachable([node])
        inner.update(map(id, nodes))
        found.append((x, nodes))
    held = holders_of([x for x, _ in found])
    graphs = [LiveGraph(x, nodes, holders) for (x, nodes), holders in zip(found, held, strict=True)]
    return sorted(graphs, key=lambda graph: -graph.n_bytes)


# --- who holds a tensor ---

_DEEP = 3  # containers within each other, as in trainer.history["loss"][0]
_LONG = 10_000  # elements of a container that are looked at; of the first all are


def holders_of(tensors: list) -> list[list[str]]:
    """For each tensor the local and global variables that are it, or contain it."""
    found: dict[int, list[str]] = {id(x): [] for x in tensors}
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            code = frame.f_code
            if not _is_own(frame.f_globals) and code.co_name != "<module>":
                place = f"{code.co_name} ({code.co_filename}:{frame.f_lineno})"
                for name, value in list(frame.f_locals.items()):
                    for key, path in _paths(found, name, value, _DEEP):
                        found[key].append(f"{path} in {place}")
            frame = frame.f_back  # type: ignore[assignment]
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        file = getattr(module, "__file__", "")
        if not _is_own(names) and file is not None:
            depth = 1 if file.startswith((sys.prefix, sys.base_prefix)) else _DEEP
            for name, value in list(names.items()):
                for key, path in _paths(found, name, value, depth):
                    found[key].append(f"{path} in module {module.__name__}")
    return list(found.values())


def _is_own(names: dict) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] == _OWN


def _paths(wanted: dict, name: str, value: Any, depth: int) -> Iterator[tuple[int, str]]:
    """How to get from a variable to the tensors: itself, an element, an attribute."""
    if id(value) in wanted:
        yield id(value), name
        return
    kind = type(value)
    if not depth or name.startswith("__") or issubclass(kind, (type, Tensor)):
        return
    inner: Any
    if kind in (list, tuple, deque):
        inner = ((f"[{i}]", each) for i, each in enumerate(tuple(value)))
    elif issubclass(kind, dict):
        inner = ((f"[{key!r}]", each) for key, each in list(dict.items(value)))
    elif not kind.__module__.startswith(("builtins", f"{_OWN}.inspect")):
        inner = ((f".{key}", each) for key, each in _attributes(value).items())
    else:
        return
    for step, each in inner if depth == _DEEP else islice(inner, _LONG):
        if type(each) not in _PLAIN:
            yield from _paths(wanted, name + step, each, depth - 1)


_PLAIN = {int, float, str, bool, bytes, type(None), np.ndarray}  # nothing is to be found in them


def _attributes(value: object) -> dict:
    """What an object has of its own, without running code of its class."""
    try:
        return dict(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        return {}
