"""The graph in the languages of other programs that draw: Graphviz and Mermaid."""

from collections.abc import Iterator

from tapegrad.inspect.record import Edge, Group, Record, Vertex

_FILL = {
    "operator": "#eef1f6",
    "parameter": "#cfe2ff",
    "leaf": "#fff0b8",
    "result": "#d0f0cc",
    "saved": "#ffe3cc",
}
_LINE = {
    "operator": "#8592a6",
    "parameter": "#3f74d6",
    "leaf": "#a88204",
    "result": "#35913f",
    "saved": "#c4651d",
}
_STATE = {"nan": "#c2168f", "exploding": "#d92020", "vanishing": "#1a66d0", "zero": "#8a94a5"}
_STYLE = {"nan": "solid", "exploding": "solid", "vanishing": "dashed", "zero": "dotted"}


def dot(record: Record, saved: bool = False) -> str:
    """DOT: layers are clusters, edges have the norm of the gradient where it is known."""
    lines = [
        "digraph {",
        '  graph [fontname="sans-serif" fontsize=11 fontcolor="#5b6577"]',
        '  node [shape=box style="rounded,filled" fontname="sans-serif" fontsize=11]',
        '  edge [fontname="sans-serif" fontsize=9 color="#74829a" arrowsize=0.7]',
    ]
    for depth, each in _walk(record):
        margin = "  " * (depth + 1)
        if isinstance(each, Group):
            lines.append(f"{margin}subgraph cluster_{each.number} {{")
            lines.append(f"{margin}  label={_quoted(_title(each))} color=gray")
        elif each is None:
            lines.append(f"{margin}}}")
        else:
            lines.append(f"{margin}v{each.number} [{_dot_node(_label(each), each.kind)}]")
            for i, kept in enumerate(each.kept or ()):
                if saved and kept.is_tensor:
                    text, name = f"{kept.name}\n{kept.shape or ''}", f"k{each.number}_{i}"
                    lines.append(f"{margin}{name} [{_dot_node(text, 'saved')} shape=octagon]")
                    lines.append(f"{margin}{name} -> v{each.number} [dir=none style=dotted]")
    for edge in record.edges:
        lines.append(f"  v{edge.source.number} -> v{edge.target.number}{_dot_edge(edge)}")
    return "\n".join([*lines, "}\n"])


def _dot_node(text: str, kind: str) -> str:
    return f'label={_quoted(text)} fillcolor="{_FILL[kind]}" color="{_LINE[kind]}"'


def _dot_edge(edge: Edge) -> str:
    if edge.flow is None:
        return ""
    label = f"label={_quoted(_flow_label(edge))}"
    if not edge.state:
        return f" [{label}]"
    colour = _STATE[edge.state]
    style = f'color="{colour}" fontcolor="{colour}" penwidth=2 style={_STYLE[edge.state]}'
    return f" [{label} {style}]"


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
        lines.append(f"  classDef {kind} fill:{_FILL[kind]},stroke:{_LINE[kind]},color:#1c2430")
    for group in record.groups:
        lines.append(f"  style g{group.number} fill:#f6f7fa,stroke:#a9b2c1,color:#5b6577")
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
    if edge.flow is None or edge.state == "nan":
        return edge.state
    return " ".join(filter(None, [f"{edge.flow.norm:.3g}", edge.state]))


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _mermaid_text(text: str) -> str:
    for sign in '#"<>':  # by number, "#" itself first
        text = text.replace(sign, f"#{ord(sign)};")
    return '"' + text.replace("\n", "<br>") + '"'
