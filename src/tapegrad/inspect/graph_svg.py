"""The graph as a still picture: SVG, light or dark as the page that it stands in."""

import re
from html import escape
from itertools import pairwise
from typing import Any

from tapegrad.inspect.record import Edge, Record, Vertex

SWEEPS = 8
_LONG = 40  # layers; an edge across more of them is drawn straight, lest its points be millions


def layered(
    sizes: list[tuple[float, float]],
    edges: list[tuple[int, int]],
    gap: tuple[float, float] = (18.0, 34.0),
) -> tuple[list[tuple[float, float]], list[list[tuple[float, float]]]]:
    """The centre of each node, and the points that each edge goes through.

    Args:
        sizes: width and height of each node.
        edges: pairs (from, to) of numbers of nodes, `from < to` in all of them.
        gap: between nodes of a layer, and between layers.

    >>> from tapegrad.inspect.graph_svg import layered
    >>> places, routes = layered([(10, 10)] * 3, [(0, 1), (1, 2)], gap=(5, 5))
    >>> places
    [(5.0, 5.0), (5.0, 20.0), (5.0, 35.0)]
    """
    rank = _ranks(len(sizes), edges)
    widths = [width for width, _ in sizes]
    heights = [0.0] * (max(rank, default=-1) + 1)
    for (_, height), layer in zip(sizes, rank, strict=True):
        heights[layer] = max(heights[layer], height)
    chains = []  # of each edge: its ends, and a point in every layer between
    for start, end in edges:
        is_long = rank[end] - rank[start] > _LONG
        between = range(0) if is_long else range(rank[start] + 1, rank[end])
        points = list(range(len(widths), len(widths) + len(between)))
        widths += [2.0] * len(between)
        rank += between
        chains.append([start, *points, end])
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for chain in chains:
        for a, b in pairwise(chain):
            below[a].append(b)
            above[b].append(a)
    layers: list[list[int]] = [[] for _ in heights]
    for i, layer in enumerate(rank):
        layers[layer].append(i)
    _order(layers, above, below)
    x = _positions(layers, above, below, widths, gap[0])
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + gap[1])
    left = min((x[i] - widths[i] / 2 for i in range(len(x))), default=0.0)
    places = [(x[i] - left, tops[rank[i]] + heights[rank[i]] / 2) for i in range(len(x))]
    return places[: len(sizes)], [[places[i] for i in chain] for chain in chains]


def _ranks(n: int, edges: list[tuple[int, int]]) -> list[int]:
    """The layer of each node: below all its inputs, as high as that allows.

    What is computed from leaves alone, for a single user, stands right above that.
    """
    rank = [0] * n
    inputs: list[list[int]] = [[] for _ in range(n)]
    users: list[list[int]] = [[] for _ in range(n)]
    for start, end in edges:
        inputs[end].append(start)
        users[start].append(end)
    free = [True] * n
    for i in range(n):  # inputs come before their users
        for source in inputs[i]:
            rank[i] = max(rank[i], rank[source] + 1)
            free[i] = free[i] and free[source] and len(users[source]) == 1
    for i in reversed(range(n)):
        if free[i] and users[i]:
            rank[i] = min(rank[user] for user in users[i]) - 1
    return rank


def _order(layers: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sort the layers so that fewer edges cross, down and up in turn."""
    at = [0.0] * len(above)
    for layer in layers:
        for i, node in enumerate(layer):
            at[node] = float(i)
    for sweep in range(SWEEPS):
        down = not sweep % 2
        near = above if down else below
        for layer in layers if down else reversed(layers):
            mean = {
                v: sum(at[u] for u in near[v]) / len(near[v]) if near[v] else at[v] for v in layer
            }
            layer.sort(key=mean.__getitem__)
            for i, node in enumerate(layer):
                at[node] = float(i)


def _positions(
    layers: list[list[int]],
    above: list[list[int]],
    below: list[list[int]],
    widths: list[float],
    gap: float,
) -> list[float]:
    x = [0.0] * len(above)
    for layer in layers:
        right = 0.0
        for node in layer:
            x[node] = right + widths[node] / 2
            right += widths[node] + gap
    for sweep in range(SWEEPS):
        down = not sweep % 2
        near = above if down else below
        for layer in layers if down else reversed(layers):
            wanted = [sum(x[u] for u in near[v]) / len(near[v]) if near[v] else x[v] for v in layer]
            apart = [(widths[a] + widths[b]) / 2 + gap for a, b in pairwise(layer)]
            for node, place in zip(layer, _spread(wanted, apart), strict=True):
                x[node] = place
    return x


def _spread(wanted: list[float], apart: list[float]) -> list[float]:
    """The places closest to those wanted, in their order and at least so far apart.

    Less the distances this is isotonic regression: neighbours in the wrong order share their mean.
    """
    offsets = [0.0]
    for distance in apart:
        offsets.append(offsets[-1] + distance)
    blocks: list[list[float]] = []  # sum and number of what shares a place
    for place, offset in zip(wanted, offsets, strict=False):
        blocks.append([place - offset, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, n = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += n
    means = [total / n for total, n in blocks for _ in range(int(n))]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]


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
        self.edge, self.source, self.target = edge, source, target
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


_MARGIN = 12
_STATES = ("flow", "nan", "exploding", "vanishing", "zero")
_STYLE = """
.op{fill:#eef1f6;stroke:#8592a6}.parameter{fill:#cfe2ff;stroke:#3f74d6}
.leaf{fill:#fff0b8;stroke:#a88204}.result{fill:#d0f0cc;stroke:#35913f;stroke-width:2}
.copy{stroke-dasharray:4 3}text{fill:#1c2430;font:12px system-ui,sans-serif;text-anchor:middle}
.dim{fill:#5b6577;font-size:11px}path{fill:none;stroke:#74829a;stroke-width:1.4}
.flow{stroke-width:2}.nan{stroke:#c2168f;stroke-width:3}.exploding{stroke:#d92020;stroke-width:3}
.vanishing{stroke:#1a66d0;stroke-width:2;stroke-dasharray:5 4}.zero{stroke-dasharray:2 4}
path.head{stroke:none;fill:#74829a}path.head.nan{fill:#c2168f}path.head.exploding{fill:#d92020}
path.head.vanishing{fill:#1a66d0}text.state{text-anchor:start;font-size:11px}text.nan{fill:#c2168f}
text.exploding{fill:#d92020}text.state{stroke:none}
@media (prefers-color-scheme: dark){.op{fill:#2a3240;stroke:#76849b}
.parameter{fill:#1f4373;stroke:#74a5f5}.leaf{fill:#4e400f;stroke:#d6b13c}
.result{fill:#22512a;stroke:#6cc57a}text{fill:#e8ebf1}.dim{fill:#a3adbd}path{stroke:#8c9ab2}
.nan{stroke:#ff70d8}.exploding{stroke:#ff6b6b}.vanishing{stroke:#62a5ff}
path.head{fill:#8c9ab2}path.head.nan,text.nan{fill:#ff70d8}
path.head.exploding,text.exploding{fill:#ff6b6b}path.head.vanishing{fill:#62a5ff}}
"""


def svg(record: Record) -> str:
    """The picture of a whole record; a node's title tells its line and what it keeps."""
    boxes, lines = arranged(record, _size)
    right = max(box.at[0] + box.width / 2 for box in boxes)
    width = max([right, *(x for line in lines for x, _ in line.between)]) + 2 * _MARGIN
    height = max(box.at[1] + box.height / 2 for box in boxes) + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_MARGIN} {-_MARGIN} '
        f'{width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">',
        f"<style>{_STYLE}</style>",
        f"<defs>{''.join(map(_head, _STATES))}</defs>",
        *[_edge(line, boxes) for line in lines],
        *[_vertex(box) for box in boxes],
    ]
    return "\n".join([*parts, "</svg>\n"])


def _head(state: str) -> str:
    """The head of an arrow."""
    return (
        f'<marker id="head-{state}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path class="head {state}" d="M0 0L8 4L0 8z"/></marker>'
    )


def _name(vertex: Vertex) -> str:
    return vertex.name or vertex.kind


def _size(vertex: Vertex) -> tuple[float, float]:
    return 7.6 * max(len(_name(vertex)), len(vertex.size)) + 16, 38.0 if vertex.size else 24.0


def _edge(line: Line, boxes: list[Box]) -> str:
    """A curve that leaves downwards, through the points between, and arrives from above."""
    source, target, edge = boxes[line.source], boxes[line.target], line.edge
    start = (source.at[0], source.at[1] + source.height / 2)
    points = [start, *line.between, (target.at[0], target.at[1] - target.height / 2)]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) / 2
        path += f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    kind = edge.state or ("flow" if edge.flow else "")
    title = f"<title>gradient: norm {edge.flow.norm:.4g}</title>" if edge.flow else ""
    drawn = (
        f'<path class="{kind}" marker-end="url(#head-{kind or "flow"})" d="{path}">{title}</path>'
    )
    if edge.state not in ("nan", "exploding"):
        return drawn
    place = f'x="{points[-1][0] + 8:.1f}" y="{points[-1][1] - 6:.1f}"'
    return f'{drawn}<text class="state {edge.state}" {place}>{edge.state}</text>'


def _vertex(box: Box) -> str:
    vertex, (x, y), width, height = box.vertex, box.at, box.width, box.height
    kind = "op" if vertex.kind == "operator" else vertex.kind + " copy" * box.is_copy
    notes = [vertex.doc, vertex.place, vertex.code]
    notes += [f"keeps {kept.name}: {kept.text}" for kept in vertex.kept or ()]
    title = escape("\n".join(filter(None, notes)))
    first = y - 2 if vertex.size else y + 4
    text = f'<text x="{x:.1f}" y="{first:.1f}">{escape(_name(vertex))}</text>'
    if vertex.size:
        text += f'<text class="dim" x="{x:.1f}" y="{y + 12:.1f}">{vertex.size}</text>'
    return (
        f'<g><title>{title}</title><rect class="{kind}" x="{x - width / 2:.1f}" '
        f'y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"/>{text}</g>'
    )
