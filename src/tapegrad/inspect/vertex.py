"""What a graph that is written down consists of: vertices, edges, and what vertices keep."""

from __future__ import annotations

import os
from typing import Any

from tapegrad.arrays.signature import Like
from tapegrad.autograd.describe import described
from tapegrad.inspect.flow import Flow
from tapegrad.inspect.layer_groups import Group
from tapegrad.inspect.living import arrays_in, owner_of
from tapegrad.inspect.rule_text import RuleText


class Kept:
    """One thing that a node keeps for its rules.

    `source` is the number of the vertex that computed it, where that is part of the graph.
    """

    def __init__(self, name: str, value: Any, own: set[int]):
        arrays = list(arrays_in(value))
        self.name = name
        self.text = described(value)
        self.is_tensor = bool(arrays)
        self.is_option = not arrays and type(value) is not Like  # of a Like only the shape is kept
        self.shape = tuple(arrays[0].shape) if len(arrays) == 1 else None
        owners = {id(owner_of(a)): owner_of(a) for a in arrays}
        self.memory = {key: a.nbytes for key, a in owners.items() if key not in own}

    @property
    def n_bytes(self) -> int:
        """Memory that the graph keeps for it; none where it is the memory of a leaf."""
        return sum(self.memory.values())


class Vertex:
    """One node of the graph.

    Attributes:
        number: its place in the list of all, inputs before those who use them.
        kind: "operator", "parameter", "leaf" or "result" (a tensor that was asked for).
        name: `MulBackward0`, or what a tensor is called.
        shape, dtype: of what it computed, where that is known; else None.
        doc: what the operator computes, in a sentence.
        rules: its derivative rules as text.
        kept: what it keeps, None once that is freed.
        file, line, code: the user's line that made it, "" and None where nobody noted it.
        module: the layer that called it; "" where there is none.
        group: the innermost group that it is drawn in, or None.
        received: the gradients that reached it in a pass, one for each output.
        time: how many nodes ran before it in that pass; None if it did not run.
    """

    def __init__(self, number: int, kind: str, name: str):
        self.number = number
        self.kind = kind
        self.name = name
        self.shape: tuple | None = None
        self.dtype: str | None = None
        self.doc = ""
        self.rules: list[RuleText] = []
        self.kept: list[Kept] | None = []
        self.file = ""
        self.line: int | None = None
        self.code = ""
        self.module = ""
        self.group: Group | None = None
        self.received: list[Flow | None] = []
        self.time: int | None = None
        self.values = ""

    @property
    def place(self) -> str:
        """File and line, as seen from the current folder; "" where they are unknown."""
        if self.line is None:
            return ""
        here = os.getcwd() + os.sep
        return f"{self.file.removeprefix(here)}:{self.line}"

    @property
    def size(self) -> str:
        """The shape as it prints, "" where it is unknown."""
        return "" if self.shape is None else str(tuple(self.shape))


class Edge:
    """From a vertex to one that uses it: `input` is what that one calls it.

    `port` says which output of `source` it is, `flow` what went back along it, and `state` whether
    that stands out: "nan", "exploding", "vanishing", "zero" or "".
    """

    def __init__(self, source: Vertex, target: Vertex, input: str, port: int = 0):
        self.source = source
        self.target = target
        self.input = input
        self.port = port
        self.flow: Flow | None = None
        self.state = ""
