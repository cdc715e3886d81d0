"""Graphs that are alive: how large they are, what they keep, and who holds them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapegrad.autograd.describe import described, kept_by
from tapegrad.autograd.engine import reachable
from tapegrad.autograd.graph import AccumulateGrad, OperatorNode, Port
from tapegrad.autograd.trace import trace_of
from tapegrad.tensor import Tensor

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

    def __init__(self, tensor: Tensor, nodes: list):
        self.tensor = tensor
        operators = [node for node in nodes if type(node) is not AccumulateGrad]
        self.n_nodes = len(operators)
        self.n_bytes = bytes_kept(nodes)
        self.holders = list(_holders(tensor))
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
        for array in arrays_in(list(kept_by(node).values())):
            owner = owner_of(array)
            if id(owner) not in own:
                found[id(owner)] = owner.nbytes
    return sum(found.values())


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from arrays_in(each)
    else:
        array = getattr(value, "_array", value)
        if isinstance(array, np.ndarray):
            yield array


def owner_of(array: Any) -> Any:
    """The array whose memory an array is."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array


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
        if issubclass(type(x), Tensor) and isinstance(_node(x), OperatorNode)
    ]
    inner: set[int] = set()  # nodes that are part of the graph of a younger tensor
    found = []
    for x in sorted(tensors, key=lambda x: -_node(x).sequence):
        node = _node(x)
        if id(node) in inner:
            continue
        nodes = reachable([node])
        inner.update(map(id, nodes))
        found.append((x, nodes))
    return sorted((LiveGraph(*each) for each in found), key=lambda graph: -graph.n_bytes)


def _node(x: Tensor) -> Any:
    node = x._node
    return node.node if type(node) is Port else node


# --- who holds a tensor ---


def _holders(x: Any) -> Iterator[str]:
    """Local and global variables that are the tensor, or contain it."""
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            code = frame.f_code
            if not _is_own(frame.f_globals) and code.co_name != "<module>":
                place = f"{code.co_name} ({code.co_filename}:{frame.f_lineno})"
                for name, value in list(frame.f_locals.items()):
                    yield from (f"{path} in {place}" for path in _paths(x, name, value))
            frame = frame.f_back  # type: ignore[assignment]
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        if not _is_own(names) and getattr(module, "__file__", "") is not None:
            for name, value in list(names.items()):
                for path in _paths(x, name, value):
                    yield f"{path} in module {module.__name__}"


def _is_own(names: dict) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] == _OWN


def _paths(x: Any, name: str, value: Any) -> Iterator[str]:
    """How to get from a variable to the tensor: itself, an element, an attribute."""
    if value is x:
        yield name
    elif type(value) in (list, tuple):
        for i, each in enumerate(value):
            if each is x:
                yield f"{name}[{i}]"
    elif type(value) is dict:
        for key, each in list(value.items()):
            if each is x and not name.startswith("__"):
                yield f"{name}[{key!r}]"
    elif not issubclass(type(value), type) and type(value).__module__ != "builtins":
        for key, each in _attributes(value).items():
            if each is x:
                yield f"{name}.{key}"


def _attributes(value: Any) -> dict:
    """What an object has of its own, without running code of its class."""
    try:
        return dict(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        return {}
