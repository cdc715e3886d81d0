"""`torch.fx`: a program as a graph of calls, which can be read, changed and turned into code.

`symbolic_trace` records a module or a function; the result is a module whose `graph` may be changed
and whose `code` is the Python that it runs.

    node.py               a call, an input, an attribute, the output
    graph.py              the nodes in order: adding, removing, checking, printing them
    codegen.py            the source of the function, namespace.py and qualified_name.py its names
    proxy.py              values that record what is done with them
    _symbolic_trace.py    running a program with them, patching.py what is replaced meanwhile
    graph_module.py       the module made of a graph
    interpreter.py        running a graph node by node
    subgraph_rewriter.py  replacing patterns
    operator_schemas.py   arguments by their names
"""

from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from tapegrad.fx.graph import CodeGen, Graph
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.interpreter import Interpreter, Transformer
from tapegrad.fx.node import Node, has_side_effect, map_arg
from tapegrad.fx.proxy import Proxy
from tapegrad.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "PH", "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "ProxyableClassMeta",
    "Tracer", "Transformer", "has_side_effect", "map_arg", "replace_pattern", "symbolic_trace",
    "wrap",
]  # fmt: skip

_refuse = _refuses(__name__)


def __getattr__(name: str) -> Any:
    if name == "operator_schemas":  # which needs the signatures of all operators
        from importlib import import_module

        return import_module("tapegrad.fx.operator_schemas")
    return _refuse(name)
