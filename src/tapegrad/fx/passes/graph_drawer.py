"""Graphs as pictures: `FxGraphDrawer` writes them for Graphviz, with the package `pydot`."""

import hashlib
import re
from importlib.util import find_spec
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.missing import torch_name
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.node import Node, _format_arg
from tapegrad.fx.passes.shape_prop import TensorMetadata
from tapegrad.fx.qualified_name import _get_qualified_name

__all__ = ["FxGraphDrawer"]

HAS_PYDOT = find_spec("pydot") is not None

_COLOR_MAP = {
    "placeholder": '"AliceBlue"', "call_module": "LemonChiffon1", "get_param": "Yellow2",
    "get_attr": "LightGrey", "output": "PowderBlue",
}  # fmt: skip
_HASH_COLOR_MAP = (
    "CadetBlue1 Coral DarkOliveGreen1 DarkSeaGreen1 GhostWhite Khaki1 LavenderBlush1 LightSkyBlue "
    "MistyRose1 MistyRose2 PaleTurquoise2 PeachPuff1 Salmon Thistle1 Thistle3 Wheat1"
).split()
"""Colours of functions and methods, chosen by their name."""

_WEIGHT_TEMPLATE = {"fillcolor": "Salmon", "style": '"filled,rounded"', "fontcolor": "#000000"}


class FxGraphDrawer:
    """Draws a graph: a box for each node, parameters and buffers beside their modules.

    Args:
        graph_module: the module; those in it that are made of a graph are drawn apart.
        name: the name of the drawing.
        ignore_getattr: leave `get_attr` nodes out.
        ignore_parameters_and_buffers: leave parameters and buffers of modules out.
        skip_node_names_in_args: show of the arguments only what is no node.
        parse_stack_trace: say where in the program a node comes from.
        dot_graph_shape: Graphviz's name of the shape of a box.

    Raises: RuntimeError where `pydot` is not installed.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        if not HAS_PYDOT:
            raise RuntimeError(
                "FXGraphDrawer requires the pydot package to be installed. Please install pydot "
                "through your favorite Python package manager."
            )
        if normalize_args:
            raise NotImplementedError("tapegrad's FxGraphDrawer has no normalize_args")
        self._name = name
        self._shape = dot_graph_shape if dot_graph_shape is not None else "record"
        self._ignore_getattr = ignore_getattr
        self._ignore_held = ignore_parameters_and_buffers
        self._skip_nodes, self._traces = skip_node_names_in_args, parse_stack_trace
        self._dot_graphs = {name: self._drawn(graph_module, name)}
        for node in graph_module.graph.nodes:
            if node.op != "call_module":
                continue
            inner = graph_module.get_submodule(node.target)
            if isinstance(inner, GraphModule):
                path = f"{name}_{node.target}"
                self._dot_graphs[path] = self._drawn(inner, path)

    def get_dot_graph(self, submod_name: str | None = None) -> Any:
        """The drawing as a `pydot.Dot`, of the whole or of one inner module."""
        if submod_name is None:
            return self.get_main_dot_graph()
        return self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> Any:
        """The drawing of the whole."""
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Any:
        """The drawing of an inner module."""
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Any]:
        """All drawings by name."""
        return self._dot_graphs

    # ------------------------------------------------------------------------------- drawing

    def _drawn(self, module: GraphModule, name: str) -> Any:
        import pydot  # type: ignore[import-untyped, import-not-found, unused-ignore]

        dot = pydot.Dot(name, rankdir="TB")
        shown = [n for n in module.graph.nodes if not (self._ignore_getattr and n.op == "get_attr")]
        for node in shown:
            label = self._label(module, node)
            dot.add_node(pydot.Node(node.name, label=label, **self._style(node)))
            if node.op == "call_module" and not self._ignore_held:
                self._draw_held(pydot, dot, module.get_submodule(node.target), node)
        for node in shown:
            for user in node.users:
                dot.add_edge(pydot.Edge(node.name, user.name))
        return dot

    def _draw_held(self, pydot: Any, dot: Any, module: Any, node: Node) -> None:
        if isinstance(module, GraphModule):
            return
        owner = node.name
        held = [
            (f"{owner}.{name}", f"{owner}.{name}|op_code=get_parameter", x)
            for name, x in module.named_parameters()
        ]
        held += [(f"{owner}.{name}", "buffer\\l", x) for name, x in module.named_buffers()]
        for name, head, x in held:
            label = f"{{{head}{x.dtype}{list(x.shape)}\\n}}"
            dot.add_node(pydot.Node(name, label=label, **_WEIGHT_TEMPLATE, shape=self._shape))
            dot.add_edge(pydot.Edge(name, node.name))

    def _style(self, node: Node) -> dict[str, str]:
        if node.op in _COLOR_MAP:
            color = _COLOR_MAP[node.op]
        else:
            shown = node._pretty_print_target(node.target)
            digest = int(hashlib.md5(shown.encode()).hexdigest()[:8], 16)
            color = _HASH_COLOR_MAP[digest % len(_HASH_COLOR_MAP)]
        return {
            "shape": self._shape, "fillcolor": color, "style": '"filled,rounded"',
            "fontcolor": "#000000",
        }  # fmt: skip

    # --------------------------------------------------------------------------------- labels

    def _label(self, module: GraphModule, node: Node) -> str:
        text = f"{{name=%{node.name}|op_code={node.op}\n"
        if node.op == "call_module":
            leaf = module.get_submodule(node.target)
            constants = getattr(leaf, "__constants__", [])
            extra = "\\n".join(f"{name}: {getattr(leaf, name)}" for name in constants)
            text += f"\\n{_typename(type(leaf))}\\n|{extra}\\n"
        else:
            text += f"|target={_typename(node.target)}\\n"
            text += f"|{self._arguments(node)}num_users={len(node.users)}\\n"
        text += _tensor_label(node.meta.get("tensor_meta"))
        if self._traces and node.stack_trace:
            text += _source(node.stack_trace)
        return text + "}"

    def _arguments(self, node: Node) -> str:
        args = [_format_arg(value) for value in node.args]
        kwargs = [(name, _format_arg(value)) for name, value in node.kwargs.items()]
        if self._skip_nodes:  # the edges show these
            args = [text for text in args if "%" not in text]
            kwargs = [(name, text) for name, text in kwargs if "%" not in text]
        items = [f"{name}: {text}" for name, text in kwargs]
        return _bracketed("args=(", ")", args) + _bracketed("kwargs=\\{", "\\}", items)


def _bracketed(opening: str, closing: str, items: list[str]) -> str:
    items = [item.replace("{", "\\{").replace("}", "\\}") for item in items]
    if not items:
        return ""
    if len(items) == 1:
        return f"{opening}{items[0]},{closing}|"
    inside = ",\\n".join(items)
    return f"{opening}\\l{inside},\\n{closing}\\l|"


def _typename(target: Any) -> str:
    if isinstance(target, str):
        return target
    if isinstance(target, type):
        return torch_name(f"{target.__module__}.{target.__qualname__}")
    if getattr(target, "__module__", None) in ("_operator", "builtins"):
        return f"{target.__module__}.{target.__name__}"
    return _get_qualified_name(target)


def _tensor_label(meta: Any) -> str:
    if isinstance(meta, TensorMetadata):
        return (
            f"|dtype={meta.dtype}\\n|shape={tuple(meta.shape)}\\n"
            f"|requires_grad={meta.requires_grad}\\n|stride={meta.stride}\\n"
        )
    if isinstance(meta, dict):
        return "".join(map(_tensor_label, meta.values()))
    if isinstance(meta, (tuple, list)):
        return "".join(map(_tensor_label, meta))
    return ""


def _source(trace: str) -> str:
    """The last place of a stack trace: two parts of the path, the line and what stands there."""
    found = re.findall(r'File "(.*)", line (\d+), in .*\n\s*(.*)', trace)
    if not found:
        return ""
    path, line, code = found[-1]
    short = "/".join(path.split("/")[-2:])
    escaped = re.sub(r"([{}<>|])", r"\\\1", code)
    return f"|file={short}:{line} {escaped}\\n"


__getattr__ = _refuses(__name__)
