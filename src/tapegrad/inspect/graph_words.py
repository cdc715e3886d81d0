"""The graph in the languages of other programs that draw: Graphviz and Mermaid."""

from __future__ import annotations

from collections.abc import Iterator

from tapegrad.inspect.layer_groups import Group
from tapegrad.inspect.record import Edge, Record, Vertex

_FILL = {
    "operator": "#eef1f6",
    "parameter": "#cfe2ff",
    "leaf": "#fff0b8",
    "result": "#d0f0cc",
    "saved": "#ffe3cc",
}
_STATE = {"nan": "#c2168f", "exploding": "#d92020", "vanishing": "#1a66d0", "zero": "#8a94a5"}


def dot(record: Record, saved: bool = False) -> str:
    """DOT: layers are clusters, edges have the norm of the gradient where it is known."""
    lines = [
        "digraph {",
        '  node [shape=box style="rounded,filled" fontname="sans-serif" fontsize=11]',
        '  edge [fontname="sans-serif" fontsize=9]',
    ]
    for depth, each in _walk(record):
        margin = "  " * (depth + 1)
        if isinstance(each, Group):
            lines.append(f"{margin}subgraph cluster_{each.number} {{")
            lines.append(f"{margin}  label={_quoted(_title(each))} color=gray")
        elif each is None:
            lines.append(f"{margin}}}")
        else:
            fill = _FILL[each.kind]
            lines.append(
                f'{margin}v{each.number} [label={_quoted(_label(each))} fillcolor="{fill}"]'
            )
            for i, kept in enumerate(each.kept or ()):
                if saved and kept.is_tensor:
                    text, fill = _quoted(f"{kept.name}\n{kept.shape or ''}"), _FILL["saved"]
                    name = f"k{each.number}_{i}"
                    lines.append(f'{margin}{name} [label={text} fillcolor="{fill}"]')
                    lines.append(f"{margin}{name} -> v{each.number} [dir=none]")
    for edge in record.edges:
        colour = f' color="{_STATE[edge.state]}" penwidth=2' if edge.state else ""
        label = _flow_label(edge)
        label = f" label={_quoted(label)}" if label else ""
        attributes = f" [{(label + colour).strip()}]" if label or colour else ""
        lines.append(f"  v{edge.source.number} -> v{edge.target.number}{attributes}")
    return "\n".join([*lines, "}\n"])


def mermaid(record: Record) -> str:
    """Mermaid: layers are subgraphs, edges have the norm of the gradient where it is known."""
    lines = ["flowchart TD"]
    for depth, each in _walk(record):
        margin = "  " * (depth + 1)
        if isinstance(each, Group):
            lines.append(f"{margin}subgraph g{each.number} [{_mermaid_text(_title(each))}]")
        elif each is None:
            lines.append(f"{margin}end")
        else:
            text = _mermaid_text(_label(each))
            lines.append(f"{margin}v{each.number}[{text}]:::{each.kind}")
    for i, edge in enumerate(record.edges):
        label = _flow_label(edge)
        arrow = f"-->|{_mermaid_text(label)}|" if label else "-->"
        lines.append(f"  v{edge.source.number} {arrow} v{edge.target.number}")
        if edge.state:
            lines.append(f"  linkStyle {i} stroke:{_STATE[edge.state]},stroke-width:3px")
    for kind in dict.fromkeys(v.kind for v in record.vertices):
        lines.append(f"  classDef {kind} fill:{_FILL[kind]},stroke:#98a2b3,color:#1c2430")
    return "\n".join(lines) + "\n"


def _walk(record: Record) -> Iterator[tuple[int, Group | Vertex | None]]:
    """All groups and vertices with their depth, None where a group ends."""
    inside: dict[Group | None, list] = {None: []}
    for group in record.groups:
        inside[group] = []
        inside[group.parent].append(group)
    for vertex in record.vertices:
        inside[vertex.group].append(vertex)
    waiting: list[tuple[int, Group | Vertex | None]] = [(0, x) for x in reversed(inside[None])]
    while waiting:
        depth, each = waiting.pop()
        yield depth, each
        if isinstance(each, Group):
            waiting.append((depth, None))
            waiting += [(depth + 1, x) for x in reversed(inside[each])]


def _title(group: Group) -> str:
    return f"{group.label} {group.kind}" if group.kind != group.label else group.label


def _label(vertex: Vertex) -> str:
    return "\n".join(filter(None, [vertex.name or "leaf", vertex.size]))


def _flow_label(edge: Edge) -> str:
    return (
        "" if edge.flow is None else " ".join(filter(None, [f"{edge.flow.norm:.3g}", edge.state]))
    )


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _mermaid_text(text: str) -> str:
    for sign in '#"<>':  # by number, "#" itself first
        text = text.replace(sign, f"#{ord(sign)};")
    return '"' + text.replace("\n", "<br>") + '"'
