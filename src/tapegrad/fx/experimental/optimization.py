"""Making a network quicker before it is used: batch norms fused into convolutions, no dropout."""

import copy
from collections.abc import Iterable
from typing import Any

from tapegrad import nn
from tapegrad.core.missing import missing as _missing
from tapegrad.fx._symbolic_trace import symbolic_trace
from tapegrad.fx.graph import Graph
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.interpreter import Transformer
from tapegrad.fx.node import Node
from tapegrad.nn.utils.fusion import fuse_conv_bn_eval

__all__ = [
    "extract_subgraph", "fuse", "matches_module_pattern", "remove_dropout", "replace_node_module",
]  # fmt: skip

_FUSED = ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d))


def _parent_name(target: str) -> tuple[str, str]:
    """The path of the module that has a module, and its name there.

    >>> from tapegrad.fx.experimental.optimization import _parent_name
    >>> _parent_name("a.b.c")
    ('a.b', 'c')
    """
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(
    pattern: Iterable[type], node: Node, modules: dict[str, nn.Module]
) -> bool:
    """Whether a node calls a module of the second class, on what one of the first gives."""
    if not node.args:
        return False
    for expected, each in zip(pattern, (node.args[0], node), strict=False):
        if not isinstance(each, Node) or each.op != "call_module" or each.target not in modules:
            return False
        if type(modules[each.target]) is not expected:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, nn.Module], new_module: nn.Module) -> None:
    """Put another module where the one is that a node calls."""
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Convolutions followed by a batch norm become one convolution; for models in `eval`.

    `inplace` changes `model` itself; `no_trace` says that it is a `GraphModule` already.

    Raises: NotImplementedError for a batch norm without running statistics.

    >>> from tapegrad.fx.experimental.optimization import fuse
    >>> model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2)).eval()
    >>> [name for name, _ in fuse(model).named_modules()]
    ['', '0']
    """
    if not inplace:
        model = copy.deepcopy(model)
    traced: Any = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for pattern in _FUSED:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules):
                continue
            if len(node.args[0].users) > 1:
                continue
            norm: Any = modules[node.target]
            if not norm.track_running_stats:
                continue
            fused = fuse_conv_bn_eval(modules[node.args[0].target], norm)
            replace_node_module(node.args[0], modules, fused)
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model: nn.Module) -> nn.Module:
    """The traced model without its dropouts."""

    class Without(Transformer):
        def call_module(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
            if isinstance(self.submodules[target], nn.Dropout):
                return args[0]
            return super().call_module(target, args, kwargs)

    return Without(symbolic_trace(model)).transform()


def extract_subgraph(
    orig_module: nn.Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """The module of these nodes alone, with these inputs; it gives a list of the outputs."""
    graph = Graph()
    values = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        values[node] = graph.node_copy(node, values.__getitem__)
    graph.output([values[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
