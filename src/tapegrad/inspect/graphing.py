"""`graph`: the graph behind tensors as text and as pictures."""

import os
import sys
from collections.abc import Iterator
from functools import partial

from tapegrad.core import errors
from tapegrad.core.annotations import Any
from tapegrad.inspect.graph_tree import no_graph, record_text
from tapegrad.inspect.record import Edge, Group, Names, Record, Vertex, add_paths
from tapegrad.inspect.stepping import walk
from tapegrad.inspect.watching import latest, watch
from tapegrad.operators.creation.like import ones_like
from tapegrad.tensors.tensor import Tensor


class Graph:
    """The graph behind one or several tensors, as it was when `graph` was called.

    It holds no tensor: what it shows is written down in `record`. In a notebook it shows itself.
    """

    def __init__(self, record: Any, title: str):
        self.record, self.title = record, title

    def text(self, max_nodes: int | None = 1000) -> str:
        """A tree for the terminal, from the result back to the leaves; see `graph`.

        A node has shape and dtype of what it computed and the line that called it, where they are
        known, and below it what it keeps. With several users it is drawn once and pointed back to
        (`↑`).
        """
        return record_text(self.record, max_nodes)

    def dot(self, saved: bool = False) -> str:
        """The graph in the language of Graphviz, with the saved tensors if asked for.

        >>> x = torch.ones(2, requires_grad=True)
        >>> print(tapegrad.inspect.graph(x.exp()).dot().splitlines()[0])
        digraph {
        """
        return dot(self.record, saved)

    def mermaid(self) -> str:
        """The graph in the language of Mermaid, which Markdown pages of many sites draw.

        >>> x = torch.ones(2, requires_grad=True)
        >>> print(tapegrad.inspect.graph(x.exp()).mermaid().splitlines()[0])
        flowchart TD
        """
        return mermaid(self.record)

    def svg(self) -> str:
        """The graph as a still picture, drawn without a browser and without Graphviz.

        >>> x = torch.ones(2, requires_grad=True)
        >>> tapegrad.inspect.graph(x.exp()).svg()[:4]
        '<svg'
        """
        from tapegrad.inspect.graph_svg import svg

        return svg(self.record)

    def html(self, path: Any = None) -> str:
        """One page with everything in it, for a browser, without a network; written to `path`.

        >>> x = torch.ones(2, requires_grad=True)
        >>> tapegrad.inspect.graph(x.exp()).html()[:15]
        '<!doctype html>'
        """
        from tapegrad.inspect.graph_page import page

        text = page(self)
        if path is not None:
            _write(path, text)
        return text

    def save(self, path: Any) -> None:
        """Write it to a file: its ending says how, .html .svg .dot .mmd .md or .txt.

        Raises:
            ValueError: another ending.
        """
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending in (".html", ".htm"):
            text = self.html()
        elif ending == ".svg":
            text = self.svg()
        elif ending in (".dot", ".gv"):
            text = self.dot()
        elif ending in (".mmd", ".mermaid"):
            text = self.mermaid()
        elif ending == ".md":
            text = f"```mermaid\n{self.mermaid()}```\n"
        elif ending == ".txt":
            text = self.text(None) + "\n"
        else:
            raise errors.value_error(
                f"cannot tell from {os.fspath(path)!r} how to draw the graph",
                "End the name in .html, .svg, .dot, .mmd, .md or .txt.",
            )
        _write(path, text)

    def show(self) -> None:
        """Open the page in the browser; in a notebook, show it right there.

        Where there is no browser, as on a server, it says where the page is.
        """
        from tapegrad.inspect.graph_frame import in_notebook
        from tapegrad.inspect.graph_page import folder, opened

        if in_notebook():
            from IPython.display import display

            display(self)
            return
        path = os.path.join(folder(), "graph.html")
        self.html(path)
        if not opened(path):
            print(f"no browser was found; the page is {path}")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from tapegrad.inspect.graph_frame import framed

        return {"text/plain": self.text(), "text/html": framed(self)}

    def __repr__(self) -> str:
        return self.text()


def _write(path: Any, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def graph(
    of: Any,
    *inputs: Tensor,
    params: dict | None = None,
    gradients: bool = False,
    grad_tensors: Any = None,
    title: str = "",
    **options: object,
) -> Graph:
    """The graph behind a tensor, several tensors or a call of a model, to be looked at.

    `.show()` opens it in the browser; `.text()`, `.dot()`, `.mermaid()`, `.svg()` and `.html()`
    give it in other forms, and `.save("graph.svg")` writes them to a file. Lines of your code and
    the layers of a model are known of what ran inside `tapegrad.inspect.watch()`.

    What a node keeps is there until a backward pass has freed it. What flowed in a backward pass is
    known of one that ran inside `watch(gradients=True)`, or is found by `gradients=True`, which
    walks the graph here and now and leaves everything as it was: every `.grad`, and what the graph
    keeps.

    Args:
        of: a tensor, a tuple or list of them, or a function such as a module, which is called with
            `inputs` and `options` inside `watch()`. What `torch.compile` gave, without these, is
            not called: its program is drawn.
        params: names of leaves, such as `dict(model.named_parameters())`. Without, they are named
            as the layers and your variables name them.
        gradients: run the backward pass on the side and note what flows through every edge.
        grad_tensors: what that pass begins with, as in `backward()`; without, ones.
        title: what the page is called.

    Raises:
        ValueError: nothing there requires grad.
        TypeError: `of` is none of these.

    >>> w = torch.ones(3, requires_grad=True)
    >>> y = (w * 2).exp()
    >>> print(tapegrad.inspect.graph((y * w + y).sum()).text())
    SumBackward0 () float32
    AddBackward0 (3,) float32
    ├─ MulBackward0 (3,) float32
    │  │ keeps other: [3] float32, all 1
    │  │ keeps input: [3] float32, all 7.389
    │  ├─ ExpBackward0 (3,) float32 #1
    │  │  │ keeps y: [3] float32, all 7.389
    │  │  MulBackward0 (3,) float32
    │  │  │ with other=2
    │  │  AccumulateGrad w (3,) float32 #2
    │  └─ ↑ AccumulateGrad #2
    └─ ↑ ExpBackward0 #1
    """
    variables, paths = _named_by(sys._getframe(1))
    if callable(of) and not isinstance(of, Tensor):
        compiled = None if inputs or options else _compiled(of)
        if compiled is not None:
            from tapegrad.inspect.program import ProgramGraph

            return ProgramGraph(compiled, title)
        title = title or getattr(of, "__name__", type(of).__name__)
        with watch():
            given = of(*inputs, **options)
        tensors = _tensors_in(given)
        if not tensors:
            raise errors.type_error(
                f"{title}() gave no tensors but {type(given).__name__}",
                "Let it give tensors, alone or in tuples, lists, dicts or dataclasses.",
            )
        if hasattr(of, "named_parameters"):
            paths.update({id(p): name for name, p in of.named_parameters()})
    elif inputs or options:
        raise TypeError("graph() takes inputs for a function or module, not for a tensor")
    else:
        tensors = _tensors_in(of)
    if not tensors:
        raise errors.type_error(
            f"graph() takes tensors or a function of tensors, not {type(of).__name__}",
            "Give it the loss, a tuple of tensors, or a model and its inputs.",
        )
    tensors = [x for x in tensors if x.requires_grad]
    if not tensors:
        raise no_graph()
    given_names = {id(p): name for name, p in (params or {}).items()}
    log = latest()
    if gradients:
        flows: Any = walk(tensors, _cotangents(tensors, grad_tensors))
    else:
        flows = {} if log is None or log.flows is None else log.flows
    return Graph(Record(tensors, Names(variables, paths, given_names), flows), title or "graph")


def _compiled(x: Any) -> Any:
    """What is called where `x` is, if that is compiled: a function, a method or a module."""
    x = x.func if isinstance(x, partial) else getattr(x, "dynamo_ctx", x)
    return x if getattr(type(x), "is_compiled", False) else None


def _tensors_in(value: Any) -> list[Tensor]:
    """The tensors in what a model returns, in order."""
    if isinstance(value, Tensor):
        return [value]
    if hasattr(type(value), "__dataclass_fields__"):
        value = [getattr(value, name) for name in value.__dataclass_fields__]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [x for each in value for x in _tensors_in(each)]
    return []


def _cotangents(tensors: list, given: object) -> list:
    if given is None:
        return [ones_like(x) if x.numel() != 1 or x.is_complex() else None for x in tensors]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _named_by(frame: Any) -> tuple[dict[int, str], dict[int, str]]:
    """Tensors by the variables of the caller, and the parameters of its modules by their paths."""
    tensors: dict[int, str] = {}
    paths: dict[int, str] = {}
    for variables in (frame.f_globals, frame.f_locals):
        for name, value in list(variables.items()):
            if name.startswith("_"):
                continue
            if isinstance(value, Tensor):
                tensors[id(value)] = name
            elif hasattr(type(value), "named_parameters"):
                add_paths(paths, value)
    return tensors, paths


# --- other languages: Graphviz and Mermaid ---

_COLOURS = {  # of a kind of vertex: inside, outline
    "operator": ("#eef1f6", "#8592a6"),
    "parameter": ("#cfe2ff", "#3f74d6"),
    "leaf": ("#fff0b8", "#a88204"),
    "result": ("#d0f0cc", "#35913f"),
    "saved": ("#ffe3cc", "#c4651d"),
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
    fill, outline = _COLOURS[kind]
    return f'label={_quoted(text)} fillcolor="{fill}" color="{outline}"'


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
            lines.append(f"{margin}v{each.number}[{_mermaid_text(_label(each))}]:::{each.kind}")
    for i, edge in enumerate(record.edges):
        label = _flow_label(edge)
        arrow = f"-->|{_mermaid_text(label)}|" if label else "-->"
        lines.append(f"  v{edge.source.number} {arrow} v{edge.target.number}")
        if edge.state:
            lines.append(f"  linkStyle {i} stroke:{_STATE[edge.state]},stroke-width:3px")
    for kind in dict.fromkeys(v.kind for v in record.vertices):
        fill, outline = _COLOURS[kind]
        lines.append(f"  classDef {kind} fill:{fill},stroke:{outline},color:#1c2430")
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
