"""`make_dot`, the picture that the package torchviz draws, in the language of Graphviz."""

import math
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from tapegrad.autograd.node import AccumulateGrad
from tapegrad.core import errors
from tapegrad.core.annotations import Any, NodeLike, OperatorLike, PlanLike
from tapegrad.core.tensor_base import wrap
from tapegrad.tensors.tensor import Tensor

# PyTorch's names and ours, where they are others: of any node, then of some.
_OURS = {"dim": "axis", "keepdim": "keepdims", "end": "stop", "dims": "axes", "p": "order"}
_OURS_OF = {
    "AddmmBackward0": {"mat1": "a", "mat2": "b"},
    "BmmBackward0": {"mat2": "b"},
    "MmBackward0": {"mat2": "b"},
    "MvBackward0": {"vec": "b"},
    "DotBackward0": {"tensor": "b"},
    "LinalgCrossBackward0": {"other": "b"},
    "CdistBackward0": {"x1": "a", "x2": "b"},
    "DiagonalBackward0": {"dim1": "a", "dim2": "b"},
    "EmbeddingBackward0": {"padding_idx": "padding", "scale_grad_by_freq": "by_frequency"},
    "FlipBackward0": {"dims": "axes"},
    "HardtanhBackward0": {"min_val": "low", "max_val": "high"},
    "LinalgInvExBackward0": {"inverse": "y"},
    "LinalgVectorNormBackward0": {"ord": "order"},
    "LinalgSvdBackward0": {"full_matrices": "full"},
    "MvlgammaBackward0": {"p": "p"},
    "NativeGroupNormBackward0": {"group": "groups"},
    "PixelShuffleBackward0": {"upscale_factor": "factor"},
    "PixelUnshuffleBackward0": {"downscale_factor": "factor"},
    "SelectBackward0": {"index": "index"},
    "SigmoidBackwardBackward0": {"grad_output": "grad", "output": "result"},
    "SqueezeBackward2": {"dim": "axes"},
    "SplitBackward0": {"split_size": "size"},
    "SplitWithSizesBackward0": {"split_sizes": "sizes"},
    "TanhBackwardBackward0": {"grad_output": "grad", "output": "result"},
    "TransposeBackward0": {"dim0": "a", "dim1": "b"},
    "TrilBackward0": {"diagonal": "k"},
    "TriuBackward0": {"diagonal": "k"},
    "UnfoldBackward0": {"dimension": "axis"},
}
_ALWAYS: dict[str, dict[str, Any]] = {  # of nodes whose operators here have no such option
    "AddBackward0": {"alpha": 1},
    "SubBackward0": {"alpha": 1},
    "RsubBackward1": {"alpha": 1},
    "EmbeddingBackward0": {"sparse": False},
    "GatherBackward0": {"sparse_grad": False},
}
_WINDOW: dict[str, Any] = {  # of a pooling, from its windows along an axis
    "kernel_size": lambda window: window.n_lanes,
    "stride": lambda window: int(window.start[1] - window.start[0]),
    "padding": lambda window: int(-window.start[0]),
    "dilation": lambda window: window.dilation,
}
_REDUCTION = {"none": 0, "mean": 1, "sum": 2}  # as PyTorch's nodes have them
_NUMBERS = {"MulBackward0", "DivBackward0"}  # which keep numbers as tensors
_ABSENT = object()


@lru_cache(maxsize=1)
def _names() -> dict[str, list[str]]:
    text = (Path(__file__).parent / "saved_names.txt").read_text(encoding="utf-8")
    return {node: names for node, *names in map(str.split, text.splitlines())}


def attributes(node: NodeLike) -> dict[str, Any]:
    """What the node of an operator keeps; nothing once that is freed.

    >>> from tapegrad.inspect.dot import attributes
    >>> x = torch.ones(2, 3, requires_grad=True)
    >>> attributes(x.sum(1).grad_fn)
    {'dim': (1,), 'keepdim': False, 'self_sym_sizes': (2, 3)}
    """
    plan: Any = getattr(node, "plan", None)
    op = getattr(plan, "op", None)
    if op is None or node.saved is None or not hasattr(plan, "saves"):
        return {}
    kept = _Kept(node, plan, op)
    names = _names().get(type(node).__name__)
    if names is None:  # a node that PyTorch does not have
        names = [name for where, _, name in plan.saves if not where.startswith("like")]
    found = {name: kept.find(name) for name in sorted(names)}
    return {name: value for name, value in found.items() if value is not _ABSENT}


class _Kept:
    """What one node keeps, found by PyTorch's names."""

    def __init__(self, node: NodeLike, plan: PlanLike, op: OperatorLike):
        self.op = op
        self.kind = type(node).__name__
        self.sent = {op.inputs[i] for i, _ in plan.rules} if not op.variadic else set()
        self.shapes: dict[str, tuple] = {}  # of inputs of which only that is kept
        self.values: dict[str, Any] = {}
        for i, (where, _, name) in enumerate(plan.saves):
            if where == "like":
                self.shapes[name.removesuffix("_like")] = tuple(node.saved[i].shape)
            elif where != "input_metadata":
                self.values[name] = plan.tensor_at(node, i)

    def find(self, name: str) -> Any:
        if name == "self_sym_numel":
            shape = self._shape(self._own("self"))
            return _ABSENT if shape is _ABSENT else math.prod(shape)
        for ending, look in (("_sym_sizes", self._shape), ("_sym_strides", self._strides)):
            base, found, rest = name.partition(ending)
            if found and rest in ("", "_opt"):
                return look(self._own(base))
        base, found, axis = name.partition("_sym_argsize_")
        if found:
            shape = self._shape(self._own(base))
            return shape if shape is _ABSENT else shape[int(axis.replace("minus_", "-"))]
        own = self._own(name)
        if own in self.values:
            return self._as_there(name, self.values[own])
        windows = self.values.get("windows")
        if name in _WINDOW and windows and all(w.n_out > 1 for w in windows):
            return tuple(_WINDOW[name](w) for w in windows)
        if name in _ALWAYS.get(self.kind, ()):
            return _ALWAYS[self.kind][name]
        return None if own in self._tensors() else _ABSENT

    def _tensors(self) -> set[str]:
        return {*self.op.inputs, *(self.op.output_names or ()), "y"}

    def _own(self, name: str) -> str:
        """Our name for one of PyTorch's."""
        op = self.op
        special = _OURS_OF.get(self.kind, {}).get(name)
        if special is not None:
            return special
        if name in ("self", "input") and name not in op.inputs and not op.variadic:
            return op.inputs[0]
        if name == "other" and name not in op.inputs and len(op.inputs) > 1:
            return op.inputs[1]
        if name == "result" or (name.startswith("result") and name[6:].isdigit()):
            outputs = op.output_names or ("y",)
            i = int(name[6:] or 0)
            return outputs[i] if i < len(outputs) else name
        known = {*self.values, *op.inputs, *op.params}
        if name not in known and name == "dim" and "axes" in known:
            return "axes"
        return name if name in known else _OURS.get(name, name)

    def _shape(self, own: str) -> Any:
        value = self.values.get(own)
        if isinstance(value, Tensor):
            return tuple(value.shape)
        return self.shapes.get(own, _ABSENT)

    def _strides(self, own: str) -> Any:
        if own in self.op.inputs and own not in self.sent:
            return ()  # they are for the gradient of that input, which nobody wants
        value = self.values.get(own)
        return tuple(value.stride()) if isinstance(value, Tensor) else _ABSENT

    def _as_there(self, name: str, value: Any) -> Any:
        """A value in PyTorch's words for it."""
        if name == "reduction":
            return _REDUCTION.get(value, value)
        if name == "ignore_index" and value is None:
            return -100
        if self.kind in _NUMBERS and isinstance(value, (int, float, complex)):
            return wrap(np.array(value))
        return value


_GRAY, _BLUE, _ORANGE = "", "lightblue", "orange"
_GREEN, _DARK_GREEN = "darkolivegreen1", "darkolivegreen3"
_HEAD = (
    "digraph {",
    "\tnode [align=left fontname=monospace fontsize=10 height=0.2 ranksep=0.1 shape=box "
    "style=filled]",
)


class Dot:
    """A graph in the language of Graphviz: `source`.

    `render`, `view` and `pipe` are those of the package graphviz, which wants the program of that
    name; `save` wants neither. `format` and `engine` are what these take if they are not told.
    """

    def __init__(self, body: list[str]):
        self.body = body
        self.format = "pdf"
        self.engine = "dot"

    @property
    def source(self) -> str:
        size = max(12.0, 0.15 * len(self.body))
        head = [_HEAD[0], f'\tgraph [size="{size:g},{size:g}"]', _HEAD[1]]
        return "\n".join([*head, *("\t" + line for line in self.body), "}\n"])

    def save(self, filename: Any = "Digraph.gv", directory: Any = None) -> str:
        """Write the source to a file; returns its path."""
        path = os.path.join(directory, filename) if directory else os.fspath(filename)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.source)
        return path

    def render(self, filename: Any = None, directory: Any = None, **options: object) -> str:
        """Let Graphviz draw it into a file; returns its path."""
        return self._program().render(filename, directory=directory, **options)

    def view(self, filename: Any = None, directory: Any = None, **options: object) -> str:
        """Let Graphviz draw it into a file, and open that."""
        return self._program().view(filename, directory=directory, **options)

    def pipe(self, format: str | None = None, **options: object) -> Any:
        """Let Graphviz draw it; returns the bytes."""
        return self._program().pipe(format, **options)

    def _program(self) -> Any:
        try:
            import graphviz
        except ModuleNotFoundError as error:
            raise errors.advised(
                ImportError("drawing with Graphviz needs the package graphviz"),
                "pip install 'tapegrad[graphviz]' and the program of that name; "
                "tapegrad.inspect.graph(...) draws without either.",
            ) from error
        return graphviz.Source(self.source, format=self.format, engine=self.engine)

    def __str__(self) -> str:
        return self.source


def make_dot(
    var: Any,
    params: dict | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    max_attr_chars: int = 50,
) -> Dot:
    """The graph behind `var` as torchviz draws it.

    Operators are gray, leaves that require grad blue, results green, the base of a result that is a
    view dark green, saved tensors orange. Those of custom functions are always shown.

    Args:
        var: a tensor, or a tuple or list of them.
        params: names of leaves, such as `dict(model.named_parameters())`.
        show_attrs: show in the node of an operator what it keeps that is no tensor.
        show_saved: show the tensors that operators keep.
        max_attr_chars: how much of each is shown.

    Raises:
        TypeError: `var` is something else.

    >>> x = torch.ones(2, requires_grad=True)
    >>> dot = tapegrad.inspect.make_dot(x.exp(), params={"x": x})
    >>> [line for line in dot.body if "label" in line][1].partition(" ")[2]
    '[label=ExpBackward0]'
    """
    drawing = _Drawing(params or {}, show_attrs, show_saved, max_attr_chars)
    for x in var if isinstance(var, (tuple, list)) else (var,):
        if not isinstance(x, Tensor):
            raise errors.type_error(
                f"make_dot() takes tensors, not {type(x).__name__}",
                "Give it the loss, or a tuple of tensors.",
            )
        drawing.add_result(x, _GREEN)
    return Dot(drawing.body)


class _Drawing:
    def __init__(self, params: dict, show_attrs: bool, show_saved: bool, max_attr_chars: int):
        self.names = {id(x): name for name, x in params.items()}
        self.show_attrs, self.show_saved = show_attrs, show_saved
        self.most = max(max_attr_chars, 3)
        self.body: list[str] = []
        self.seen: dict[int, Any] = {}  # what was drawn, kept so that its id stays its own
        self.tensors: dict[tuple[int, int], Tensor] = {}  # by array and place in the graph

    def _one(self, x: Tensor) -> Tensor:
        """The one that was drawn for what is the same tensor, or this one."""
        return self.tensors.setdefault((id(x._array), id(x._node)), x)

    def add_result(self, x: Tensor, colour: str) -> None:
        x = self._one(x)
        if id(x) in self.seen:
            return
        self.seen[id(x)] = x
        self._node(x, self._tensor_label(x), colour)
        if x.grad_fn is not None:
            waiting = [] if id(x.grad_fn) in self.seen else [self._add_node(x.grad_fn)]
            while waiting:
                source = next(waiting[-1], None)
                if source is None:
                    waiting.pop()
                elif id(source) not in self.seen:
                    waiting.append(self._add_node(source))
            self._edge(x.grad_fn, x)
        if x._is_view():
            self.add_result(x._base, _DARK_GREEN)
            self._edge(x._base, x, " [style=dotted]")

    def _add_node(self, node: NodeLike) -> Any:
        self.seen[id(node)] = node
        if self.show_saved:
            for name, value in attributes(node).items():
                for i, x in (
                    enumerate(value) if isinstance(value, (tuple, list)) else [(None, value)]
                ):
                    if isinstance(x, Tensor):
                        self._saved(node, x, name if i is None else f"{name}[{i}]", to_node=False)
        if type(node) is AccumulateGrad:
            leaf = self._one(node.variable)
            self.seen[id(leaf)] = leaf
            self._node(leaf, self._tensor_label(leaf), _BLUE)
            self._edge(leaf, node)
        self._node(node, self._node_label(node), _GRAY)
        for source, _ in node.next_functions:
            if source is not None:
                self._edge(source, node)
                yield source
        if hasattr(node, "saved_tensors"):
            for x in node.saved_tensors:
                if x is not None:
                    self._saved(node, x, None, to_node=True)

    def _saved(self, node: NodeLike, x: Tensor, name: str | None, to_node: bool) -> None:
        if x.grad_fn is not node:  # a node's own result is unpacked as another tensor
            x = self._one(x)
        self.seen[id(x)] = x
        start, end = (x, node) if to_node else (node, x)
        self._edge(start, end, " [dir=none]")
        self._node(x, self._tensor_label(x, name), _ORANGE)

    def _tensor_label(self, x: Tensor, name: str | None = None) -> str:
        return f"{name or self.names.get(id(x), '')}\n ({', '.join(map(str, x.shape))})"

    def _node_label(self, node: NodeLike) -> str:
        name = type(node).__name__
        kept = attributes(node) if self.show_attrs else {}
        if not kept:
            return name
        texts = {key: _in_words(value) for key, value in kept.items()}
        left = max(map(len, texts))
        right = min(max(map(len, texts.values())), self.most)
        lines = [name, "-" * max(left + right + 2, len(name))]
        for key, text in texts.items():
            if len(text) > right:
                text = text[: right - 3] + "..."
            lines.append(f"{key:<{left}}: {text:>{right}}")
        return "\n".join(lines)

    def _node(self, x: object, label: str, colour: str) -> None:
        plain = label.isidentifier()
        text = label if plain else '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'
        fill = f" fillcolor={colour}" if colour else ""
        self.body.append(f"{id(x)} [label={text}{fill}]")

    def _edge(self, a: Any, b: Any, attributes: str = "") -> None:
        self.body.append(f"{id(a)} -> {id(b)}{attributes}")


def _in_words(value: object) -> str:
    if isinstance(value, Tensor):
        return "[saved tensor]"
    if isinstance(value, (tuple, list)) and any(isinstance(x, Tensor) for x in value):
        return "[saved tensors]"
    return str(value)
