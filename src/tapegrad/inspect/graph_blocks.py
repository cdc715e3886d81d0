"""Where the boxes of a still picture stand: leaves beside what uses them, the rest in layers.

A leaf, or what only prepares one, such as the transpose of a weight, stands on one side above its
user; both are one block for the layers, so that what flows through goes straight down. A leaf with
many users is drawn beside each of them.
"""

from __future__ import annotations

import re
from typing import Any

from tapegrad.inspect.layers import layered
from tapegrad.inspect.record import Record
from tapegrad.inspect.vertex import Edge, Vertex

_COPIED = 3  # a leaf with more users is drawn several times
_PREPARES = re.compile(r"(T|Mt|Transpose|Permute|View|Unsqueeze|Squeeze|Expand|ToCopy)Backward")
_APART, _LANE, _ABOVE = 14.0, 30.0, 26.0  # between columns, for what flows through, above the user

Point = tuple[float, float]


class Box:
    """A vertex as it is drawn, or one of several copies of a leaf; `at` is its centre."""

    def __init__(self, vertex: Vertex, size: Point, is_copy: bool = False):
        self.vertex = vertex
        self.width, self.height = size
        self.is_copy = is_copy
        self.at: Point = (0.0, 0.0)


class Line:
    """An edge as it is drawn: from a box to a box, through the points between."""

    def __init__(self, edge: Edge, source: int, target: int):
        self.edge = edge
        self.source = source
        self.target = target
        self.between: list[Point] = []


def arranged(record: Record, size_of: Any) -> tuple[list[Box], list[Line]]:
    """The boxes and lines of a record, with their places."""
    boxes, lines = _boxes(record, size_of)
    sides = _sides(boxes, lines)
    beside = {i for columns in sides.values() for column in columns for i in column}
    mains = [i for i in range(len(boxes)) if i not in beside]
    number = {i: n for n, i in enumerate(mains)}
    through = [line for line in lines if line.source in number and line.target in number]
    entered = {line.target for line in through}
    blocks = [_Block(boxes, i, sides.get(i, []), i in entered) for i in mains]
    places, routes = layered(
        [(block.width, block.height) for block in blocks],
        [(number[line.source], number[line.target]) for line in through],
    )
    for block, place in zip(blocks, places, strict=True):
        block.put(place)
    for line, route in zip(through, routes, strict=True):
        line.between = route[1:-1]
        block = blocks[number[line.target]]
        if block.columns:
            line.between.append((route[-1][0], route[-1][1] - block.height / 2))
    return boxes, lines


def _boxes(record: Record, size_of: Any) -> tuple[list[Box], list[Line]]:
    """Boxes, inputs first, and lines between their numbers."""
    users: dict[int, set[int]] = {}
    for edge in record.edges:
        users.setdefault(edge.source.number, set()).add(edge.target.number)
    copied = {
        v.number
        for v in record.vertices
        if v.kind in ("parameter", "leaf") and len(users.get(v.number, ())) > _COPIED
    }
    inputs = record.inputs_of()
    boxes: list[Box] = []
    lines: list[Line] = []
    number: dict[int, int] = {}
    for vertex in record.vertices:
        if vertex.number in copied:
            continue
        copies: dict[int, int] = {}
        for edge in inputs[vertex.number]:
            leaf = edge.source
            if leaf.number in copied and leaf.number not in copies:
                copies[leaf.number] = len(boxes)
                boxes.append(Box(leaf, size_of(leaf), True))
        number[vertex.number] = len(boxes)
        boxes.append(Box(vertex, size_of(vertex)))
        for edge in inputs[vertex.number]:
            source = copies.get(edge.source.number, number.get(edge.source.number, -1))
            lines.append(Line(edge, source, number[vertex.number]))
    return boxes, lines


def _sides(boxes: list[Box], lines: list[Line]) -> dict[int, list[list[int]]]:
    """By the number of a box: the columns beside it, each from the top down."""
    into: list[set[int]] = [set() for _ in boxes]
    out: list[set[int]] = [set() for _ in boxes]
    for line in lines:
        into[line.target].add(line.source)
        out[line.source].add(line.target)
    is_source = [
        not into[i] and len(out[i]) == 1 and box.vertex.kind in ("parameter", "leaf")
        for i, box in enumerate(boxes)
    ]
    found: dict[int, list[list[int]]] = {}
    for i, box in enumerate(boxes):
        column = [i] if is_source[i] else []
        if len(into[i]) == 1 == len(out[i]) and _PREPARES.match(box.vertex.name):
            (source,) = into[i]
            column = [source, i] if is_source[source] else []
        for user in out[i] if column else ():
            if len(into[user]) > 1:
                found.setdefault(user, []).append(column)
    return found


class _Block:
    """A box with the columns beside it; the box is in the middle of its lower end."""

    def __init__(self, boxes: list[Box], main: int, columns: list[list[int]], is_entered: bool):
        self.main = boxes[main]
        self.columns = [[boxes[i] for i in column] for column in columns]
        half = (len(columns) + 1) // 2
        self.left, self.right = self.columns[:half], self.columns[half:]
        self.lane = _LANE if is_entered else _APART
        self.width, self.height = self.main.width, self.main.height
        if columns:
            self.above = max(map(_high, self.columns))
            widest = max(_across(self.left), _across(self.right))
            self.width = max(2 * widest + self.lane, self.width)
            self.height += self.above + _ABOVE

    def put(self, centre: Point) -> None:
        x, y = centre
        lower = y + self.height / 2
        self.main.at = (x, lower - self.main.height / 2)
        if not self.columns:
            return
        bottom = y - self.height / 2 + self.above
        for side, columns in ((-1, self.left[::-1]), (1, self.right)):
            edge = x + side * self.lane / 2
            for column in columns:
                wide = max(box.width for box in column)
                self._stack(column, edge + side * wide / 2, bottom)
                edge += side * (wide + _APART)

    def _stack(self, column: list[Box], x: float, bottom: float) -> None:
        for box in reversed(column):
            box.at = (x, bottom - box.height / 2)
            bottom -= box.height + _APART


def _high(column: list[Box]) -> float:
    return sum(box.height for box in column) + _APART * (len(column) - 1)


def _across(columns: list[list[Box]]) -> float:
    widths = [max(box.width for box in column) for column in columns]
    return sum(widths) + _APART * max(len(columns) - 1, 0)
