"""The graph as a still picture: SVG, light or dark as the page that it stands in."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from tapegrad.inspect.graph_blocks import Box, Line, arranged
from tapegrad.inspect.record import Record
from tapegrad.inspect.vertex import Vertex

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
    longest = max(len(_name(vertex)), len(vertex.size))
    return 7.6 * longest + 16, 38.0 if vertex.size else 24.0


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
