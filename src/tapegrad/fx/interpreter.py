"""Running a graph node by node: `Interpreter`, and `Transformer`, which records what it runs."""

import contextlib
from collections.abc import Iterator
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx import traceback as fx_traceback
from tapegrad.fx.codegen import last_uses
from tapegrad.fx.graph import Graph
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.node import Argument, Node, Target, map_aggregate, map_arg
from tapegrad.fx.proxy import Proxy, TracerBase
from tapegrad.nn import Module


class Interpreter:
    """Runs the graph of a module; subclasses change what each kind of node does.

    Args:
        module: a module with a graph.
        garbage_collect_values: whether a value is let go after its last use.
        graph: another graph to run in its place.

    >>> from tapegrad import fx
    >>> class Shout(fx.Interpreter):
    ...     def run_node(self, n):
    ...         print(n.op, n)
    ...         return super().run_node(n)
    >>> Shout(fx.symbolic_trace(lambda x: x + 1)).run(torch.ones(2))
    placeholder x
    call_function add
    output output
    tensor([2., 2.])
    """

    def __init__(
        self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module: Any = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = graph if graph is not None else self.module.graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        nodes = list(self.graph.nodes)
        self.user_to_last_uses = last_uses(nodes) if garbage_collect_values else {}

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """The result of the graph for these inputs; `initial_env` has values already known."""
        self.env = initial_env if initial_env is not None else {}
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _say_where(error, node)
                raise
            for used in self.user_to_last_uses.get(node, ()):
                del self.env[used]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """`run` with the inputs in a list, which is emptied."""
        args = tuple(args_list)
        args_list.clear()
        return self.run(*args, enable_io_processing=False)

    @contextlib.contextmanager
    def _set_current_node(self, node: Node) -> Iterator[None]:
        with fx_traceback.set_current_meta(node):
            yield

    def run_node(self, n: Node) -> Any:
        """The value of a node: what the method called as its `op` gives."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    # ----------------------------------------------------------------------------- what nodes do

    def placeholder(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The next input, or the default.

        Raises: RuntimeError where there is neither.
        """
        if isinstance(target, str) and target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from None

    def get_attr(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What the module has under a path."""
        return self.fetch_attr(str(target))

    def call_function(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of a function."""
        if isinstance(target, str):
            raise AssertionError(f"target {target} is no function")
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of a method of the first argument."""
        owner, *rest = args
        return getattr(owner, str(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of a submodule."""
        return self.fetch_attr(str(target))(*args, **kwargs)

    def output(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of the graph."""
        return args[0]

    # ---------------------------------------------------------------------------------- values

    def fetch_attr(self, target: str) -> Any:
        """What the module has under a path.

        Raises: RuntimeError where there is nothing.
        """
        value = self.module
        parts = target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(value, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}")
            value = getattr(value, part)
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple, dict]:
        """The arguments of a node, with values for the nodes in them."""
        args, kwargs = self.map_nodes_to_values((n.args, n.kwargs), n)
        return tuple(args), dict(kwargs)

    def map_nodes_to_values(self, args: Argument, n: Node) -> Any:
        """`args` with values for the nodes in them.

        Raises: RuntimeError where one was not run before `n`.
        """

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose "
                    "such issues"
                )
            return self.env[node]

        return map_arg(args, value)


def _say_where(error: Exception, node: Node) -> None:
    text = f"While executing {node.format_node()}"
    if error.args:
        text = f"{error.args[0]}\n\n{text}"
    text += f"\nOriginal traceback:\n{node.stack_trace}"
    error.args = (text, *error.args[1:])
    if isinstance(error, KeyError):
        raise RuntimeError(*error.args) from error


class Transformer(Interpreter):
    """An interpreter that runs with proxies: `transform` gives the module that it recorded.

    >>> from tapegrad import fx
    >>> class Negate(fx.Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         return super().call_function(torch.sub, args, kwargs)
    >>> Negate(fx.symbolic_trace(lambda x: torch.add(x, 1))).transform()(torch.ones(2))
    tensor([0., 0.])
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Proxy:
        """An input of the new graph."""
        default = {"default_value": args[0]} if args else {}
        return Proxy(self.new_graph.placeholder(str(target), **default), self.tracer)

    def get_attr(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Proxy:
        """The reading of an attribute, in the new graph."""
        return self.tracer.create_proxy("get_attr", str(target), args, kwargs)

    def call_module(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The call of a submodule, in the new graph."""
        return self.tracer.create_proxy("call_module", str(target), args, kwargs)

    def call_function(self, target: Target, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The call of a function, in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module of what was recorded."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:

            def strip(value: Argument) -> Any:
                return value.node if isinstance(value, Proxy) else value

            old = self.graph.output_node()
            made = self.new_graph.output(map_aggregate(result, strip))
            made.meta.update(old.meta)
        return GraphModule(self.module, self.new_graph)


class _TransformerTracer(TracerBase):
    """Adds what a `Transformer` does to its new graph."""

    root: Any

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.module_stack: Any = {}
        self.tensor_attrs: dict[Any, str] = {}

    def is_leaf_module(self, module: Module, module_qualified_name: str) -> bool:
        """Every module is one."""
        return True


__getattr__ = _refuses(__name__)
