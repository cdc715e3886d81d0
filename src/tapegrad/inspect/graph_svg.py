"""The graph as a still picture: SVG, light or dark as the page that it stands in."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from tapegrad.inspect.layers import layered
from tapegrad.inspect.record import Edge, Record, Vertex

_MARGIN = 12
_STYLE = """
.op{fill:#eef1f6;stroke:#8592a6}.parameter{fill:#cfe2ff;stroke:#3f74d6}
.leaf{fill:#fff0b8;stroke:#a88204}.result{fill:#d0f0cc;stroke:#35913f}
text{fill:#1c2430;font:12px system-ui,sans-serif;text-anchor:middle}
.dim{fill:#5b6577;font-size:11px}path{fill:none;stroke:#74829a;stroke-width:1.4}
.head{fill:#74829a;stroke:none}.flow{stroke-width:2}.nan{stroke:#c2168f;stroke-width:3}
.exploding{stroke:#d92020;stroke-width:3}.vanishing{stroke:#1a66d0;stroke-dasharray:5 4}
.zero{stroke-dasharray:2 4}
@media (prefers-color-scheme: dark){.op{fill:#2a3240;stroke:#76849b}
.parameter{fill:#1f4373;stroke:#74a5f5}.leaf{fill:#4e400f;stroke:#d6b13c}
.result{fill:#22512a;stroke:#6cc57a}text{fill:#e8ebf1}.dim{fill:#a3adbd}path{stroke:#8c9ab2}
.head{fill:#8c9ab2}.nan{stroke:#ff70d8}.exploding{stroke:#ff6b6b}.vanishing{stroke:#62a5ff}}
"""


def svg(record: Record) -> str:
    """The picture of a whole record; a node's title tells its line and what it keeps."""
    vertices, edges = record.vertices, record.edges
    sizes = [_size(v) for v in vertices]
    places, routes = layered(sizes, [(e.source.number, e.target.number) for e in edges])
    width = max(x + w / 2 for (x, _), (w, _) in zip(places, sizes, strict=True)) + 2 * _MARGIN
    height = max(y + h / 2 for (_, y), (_, h) in zip(places, sizes, strict=True)) + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_MARGIN} {-_MARGIN} '
        f'{width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">',
        f"<style>{_STYLE}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        '<path class="head" d="M0 0L8 4L0 8z"/></marker></defs>',
    ]
    for edge, route in zip(edges, routes, strict=True):
        parts.append(_edge(edge, route, sizes))
    for vertex, place, size in zip(vertices, places, sizes, strict=True):
        parts.append(_vertex(vertex, place, size))
    return "\n".join([*parts, "</svg>\n"])


def _name(vertex: Vertex) -> str:
    return vertex.name or vertex.kind


def _size(vertex: Vertex) -> tuple[float, float]:
    longest = max(len(_name(vertex)), len(vertex.size))
    return 7.6 * longest + 16, 38.0 if vertex.size else 24.0


def _edge(edge: Edge, route: list[tuple[float, float]], sizes: list) -> str:
    """A curve that leaves downwards, through the points of the route, and arrives from above."""
    points = [
        (route[0][0], route[0][1] + sizes[edge.source.number][1] / 2),
        *route[1:-1],
        (route[-1][0], route[-1][1] - sizes[edge.target.number][1] / 2),
    ]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) / 2
        path += f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    kind = edge.state or ("flow" if edge.flow else "")
    title = f"<title>gradient: norm {edge.flow.norm:.4g}</title>" if edge.flow else ""
    return f'<path class="{kind}" marker-end="url(#head)" d="{path}">{title}</path>'


def _vertex(vertex: Vertex, place: tuple[float, float], size: tuple[float, float]) -> str:
    (x, y), (width, height) = place, size
    kind = "op" if vertex.kind == "operator" else vertex.kind
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
