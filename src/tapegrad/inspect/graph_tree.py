"""The graph of a tensor as a tree of text, from the result back to the leaves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tapegrad.core import errors


def graph_text(tensor_or_node, params: dict | None = None, max_nodes: int | None = 1000) -> str:
    """Draw the graph behind a tensor, one node a line.

    A node stands above the nodes its inputs come from: a single one right below it, several as
    branches. A leaf shows its shape. A node with several users carries a number, is drawn with what
    is behind it once, and is pointed back to (`↑`) after that. Inputs that need no gradient have no
    node and no line.

    Args:
        tensor_or_node: the tensor, or its `grad_fn`.
        params: names of leaves, such as `dict(model.named_parameters())`.
        max_nodes: stop after this many nodes and say how many are missing; None draws all.

    Raises:
        ValueError: the tensor does not require grad.

    >>> w = torch.ones(3, requires_grad=True)
    >>> y = (w * 2).exp()
    >>> print(graph_text((y * w + y).sum(), params={"w": w}))
    SumBackward0
    AddBackward0
    ├─ MulBackward0
    │  ├─ ExpBackward0 #1
    │  │  MulBackward0
    │  │  AccumulateGrad w (3,) #2
    │  └─ ↑ AccumulateGrad #2
    └─ ↑ ExpBackward0 #1
    """
    names = {id(param): name for name, param in (params or {}).items()}
    if not hasattr(tensor_or_node, "next_functions") and tensor_or_node.grad_fn is None:
        return _lone_leaf(tensor_or_node, names)
    root = getattr(tensor_or_node, "grad_fn", tensor_or_node)
    tree = _Tree(_inputs, lambda node: type(node).__name__, lambda node: _label(node, names))
    return tree.text([(root, 0)], max_nodes)


def record_text(record: Any, max_nodes: int | None) -> str:
    """The tree of a recorded graph: shapes, lines of code and what is kept besides."""
    inputs = record.inputs_of()

    def sources(vertex: Any) -> list:
        return [(edge.source, edge.port) for edge in inputs[vertex.number]]

    roots = [each for v in record.vertices if v.kind == "result" for each in sources(v)]
    return _Tree(sources, _short_name, _full_name, _notes).text(roots, max_nodes)


def _short_name(vertex: Any) -> str:
    return vertex.name if vertex.kind == "operator" else "AccumulateGrad"


def _full_name(vertex: Any) -> str:
    size = " ".join(filter(None, [vertex.size, vertex.dtype]))
    if vertex.kind != "operator":
        return " ".join(filter(None, ["AccumulateGrad", vertex.name, size]))
    where = "" if vertex.line is None else f"  {vertex.file}:{vertex.line}"
    layer = f" in {vertex.module}" if vertex.module else ""
    return f"{vertex.name} {size}".rstrip() + where + layer


def _notes(vertex: Any) -> list[str]:
    if vertex.kept is None:
        return ["what it kept was freed"]
    tensors = [f"keeps {each.name}: {each.text}" for each in vertex.kept if each.is_tensor]
    options = [f"{each.name}={each.text}" for each in vertex.kept if each.is_option]
    return tensors + [f"with {', '.join(options)}"] * bool(options)


@dataclass
class _Tree:
    """Draws trees: `inputs(node)` are pairs (node, its output), `name` and `label` are words."""

    inputs: Callable
    name: Callable
    label: Callable
    notes: Callable = lambda node: ()  # lines that stand below a node

    def text(self, roots: list, max_nodes: int | None) -> str:
        n_users = self._count_users(roots)
        lines: list[str] = []
        drawn: dict = {}  # node -> its mark
        n_marks = 0
        # node, its output in question, what its line and the next begin with
        waiting = [(*root, "", "") for root in reversed(roots)]
        while waiting:
            node, output, start, margin = waiting.pop()
            port = f", output {output}" if output else ""
            if node in drawn:
                lines.append(f"{start}↑ {self.name(node)}{drawn[node]}{port}")
                continue
            if len(drawn) == max_nodes:
                lines.append(f"… and {len(n_users) - len(drawn):,} more")
                break
            if n_users[node] > 1:
                n_marks += 1
            drawn[node] = f" #{n_marks}" if n_users[node] > 1 else ""
            lines.append(f"{start}{self.label(node)}{drawn[node]}{port}")
            inputs = self.inputs(node)
            lines += [f"{margin}{'│' if inputs else ' '} {note}" for note in self.notes(node)]
            waiting.extend(reversed(_branches(inputs, margin)))
        return "\n".join(lines)

    def _count_users(self, roots: list) -> dict:
        """Every node that is reached from the roots, and how many use it."""
        n_users: dict = {}
        for root, _ in roots:  # whoever asked for it uses it
            n_users[root] = n_users.get(root, 0) + 1
        waiting = list(n_users)
        while waiting:
            for source, _ in self.inputs(waiting.pop()):
                if source not in n_users:
                    n_users[source] = 0
                    waiting.append(source)
                n_users[source] += 1
        return n_users


def _inputs(node):
    """The edges of a node along which a gradient goes."""
    return [(source, output) for source, output in node.next_functions if source is not None]


def _branches(inputs, margin):
    """The inputs of a node with what their lines begin with."""
    if len(inputs) == 1:
        return [(*inputs[0], margin, margin)]
    last = len(inputs) - 1
    return [
        (*each, margin + ("└─ " if i == last else "├─ "), margin + ("   " if i == last else "│  "))
        for i, each in enumerate(inputs)
    ]


def _label(node, names):
    kind = type(node).__name__
    return f"{kind} {_leaf_label(node.variable, names)}" if kind == "AccumulateGrad" else kind


def _leaf_label(leaf, names):
    name = names.get(id(leaf))
    shape = tuple(leaf.shape)
    return f"{shape}" if name is None else f"{name} {shape}"


def no_graph() -> ValueError:
    return errors.value_error(
        "the tensor has no graph: it does not require grad",
        "Compute it from a tensor with requires_grad=True, outside torch.no_grad().",
    )


def _lone_leaf(tensor, names):
    """The graph of a tensor that nothing made: itself."""
    if not tensor.requires_grad:
        raise no_graph()
    return f"AccumulateGrad {_leaf_label(tensor, names)}"
