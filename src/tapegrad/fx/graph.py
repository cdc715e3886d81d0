"""A graph: nodes in the order in which they are run, to be read, changed and printed as code."""

import contextlib
import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.codegen import (  # noqa: F401
    CodeGen,
    PythonCode,
    _format_target,
    _is_from_torch,
    _PyTreeCodeGen,
    _PyTreeInfo,
    inplace_methods,
    magic_methods,
)
from tapegrad.fx.namespace import _Namespace, snake_case
from tapegrad.fx.node import Argument, Node, Target, map_arg
from tapegrad.fx.qualified_name import _get_qualified_name, _type_repr  # noqa: F401

__all__ = ["CodeGen", "Graph", "PythonCode"]

_snake_case = snake_case
reflectable_magic_methods = {
    name: magic_methods[name]
    for name in (
        "add sub mul floordiv truediv div mod pow lshift rshift and_ or_ xor getitem matmul".split()
    )
}
_NOTHING: Any = object()


class _InsertPoint:
    """A block in which new nodes are put before a node."""

    def __init__(self, graph: "Graph", before: Node) -> None:
        self.graph, self.orig, graph._insert_before = graph, graph._insert_before, before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.graph._insert_before = self.orig


class _node_list:
    """The nodes of a graph in order, also while it is being changed."""

    def __init__(self, graph: "Graph", direction: str = "_next") -> None:
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root, node = self.graph._root, getattr(self.graph._root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> Iterator[Node]:
        other = "_prev" if self.direction == "_next" else "_next"
        return iter(_node_list(self.graph, other))


class Graph:
    """Calls in the order in which they are made, as `symbolic_trace` records them.

    `placeholder`, `get_attr`, `call_function`, `call_method`, `call_module` and `output` add a node
    at the end, or where `inserting_before` or `inserting_after` say.

    >>> from tapegrad import fx
    >>> graph = fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(torch.add, (x, 1))
    >>> _ = graph.output(y)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %add : [num_users=1] = call_function[target=torch.add](args = (%x, 1), kwargs = {})
        return add
    """

    def __init__(
        self,
        owning_module: Any = None,
        tracer_cls: Any = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert_before = self._root
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._owners = 0
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}
        self._numbered = False

    @property
    def owning_module(self) -> Any:
        """The module whose graph this is, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _node_list:
        """The nodes in order; they may be changed while one goes through them."""
        return _node_list(self)

    def _changed_order(self) -> None:
        self._numbered = False

    def _number_nodes(self) -> None:
        if not self._numbered:
            for number, node in enumerate(self.nodes):
                node._sort_key = number
            self._numbered = True

    def output_node(self) -> Node:
        """The last node, which is the output.

        Raises: AssertionError where it is not.
        """
        last = self._root._prev
        if last.op != "output":
            raise AssertionError(f"Expected output node, got op={last.op}")
        return last

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes of a kind, with `target` if one is given, in order."""
        found = [node for node in self.nodes if node.op == op]
        if op == "call_function" and target is None and not found:
            return []
        return [node for node in found if target is None or node.target == target]

    # ----------------------------------------------------------------------------- adding nodes

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node where nodes are being inserted; it gets a name of its own."""
        args, kwargs = args or (), kwargs or {}
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        node = Node(
            self, self._graph_namespace.create_name(candidate, None), op, target, args, kwargs,
            type_expr,
        )  # fmt: skip
        self._graph_namespace.associate_name_with_obj(node.name, node)
        for hook in getattr(self.owning_module, "_create_node_hooks", ()):
            hook(node)
        self._insert_before.prepend(node)
        self._len += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = _NOTHING) -> Node:
        """Add an input of the function."""
        args = () if default_value is _NOTHING else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add the reading of a parameter, buffer or module, by its path."""
        if self.owning_module is not None and not _has_attribute(
            self.owning_module, qualified_name
        ):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                "GraphModule.add_parameter to add the necessary Parameter, or "
                "nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add the call of a module of the owner, by its path."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add the call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Add the call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """Add what the function returns."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """A block in which nodes are added before `n`; before all without one."""
        return self.inserting_after(self._root) if n is None else self._inserting_at(n, n)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """A block in which nodes are added after `n`; at the end without one."""
        return (
            self._inserting_at(self._root, self._root)
            if n is None
            else self._inserting_at(n, n._next)
        )

    def _inserting_at(self, n: Node, before: Node) -> _InsertPoint:
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, before)

    # ---------------------------------------------------------------------------------- copying

    def node_copy(
        self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x
    ) -> Node:
        """Add a copy of a node of another graph, with `arg_transform` done to its arguments."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(
        self, g: "Graph", val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Any:
        """Add all nodes of `g` but its output; returns what that gives, in nodes of this graph."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict | None = None) -> "Graph":
        memo = memo if memo is not None else {}
        graph = Graph(tracer_cls=self._tracer_cls)
        values: dict[Node, Node] = {}
        output, old = self.graph_copy_of(graph, values)
        graph._codegen = copy.deepcopy(self._codegen)
        if old is not None:
            made = graph.output(output, type_expr=old.type)
            made.meta = copy.copy(old.meta)
        memo[id(self)] = graph
        for node, copied in values.items():
            memo[id(node)] = copied
        return graph

    def graph_copy_of(self, graph: "Graph", values: dict[Node, Node]) -> tuple[Any, Node | None]:
        """Copy this graph's nodes to `graph`: what it returns there, and the output here."""
        found = graph.graph_copy(self, values, return_output_node=True)
        return found if found is not None else (None, None)

    # --------------------------------------------------------------------------------- changing

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nobody uses.

        Raises: RuntimeError where somebody does, or where it is of another graph.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
            hook(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove nodes that nobody uses and that do nothing else; whether there was one."""
        self.lint()
        impure = is_impure_node or Node.is_impure
        removed = False
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                removed = True
        return removed

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.users.clear()
            self.erase_node(node)

    # ----------------------------------------------------------------------------------- checks

    def lint(self) -> None:
        """Check that the graph can be run.

        Raises: RuntimeError where a node is used before it is there, or is of another graph, or
        where the owner lacks what `get_attr` or `call_module` ask of it.
        """
        defined: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node.all_input_nodes:
                if used.graph is not self:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' does not belong to this Graph, but "
                        "was used as an argument! If you are copying nodes from another graph, "
                        "make sure to use ``arg_transform`` on node_copy() to remap values\n"
                        f"{self}"
                    )
                if used not in defined:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' was used before it has been defined! "
                        "Please check that Nodes in the graph are topologically ordered\n"
                        f"{self}"
                    )
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            defined.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                self._lint_path(node)

    def _lint_path(self, node: Node) -> None:
        owner = self.owning_module
        parts = node.target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(owner, part):
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent attribute {part} of "
                    f"{'.'.join(parts[:i])}"
                )
            owner = getattr(owner, part)
        from tapegrad.nn import Module

        if node.op == "call_module" and not isinstance(owner, Module):
            raise RuntimeError(
                f"Node {node} target {node.target} {part} of {'.'.join(parts[:-1])} does not "
                "reference an nn.Module"
            )

    # --------------------------------------------------------------------------------- printing

    def _target_to_str(self, target: Target | None) -> str:
        if callable(target):
            name = getattr(target, "__name__", type(target).__name__)
            if _is_from_torch(target) and not isinstance(target, type):
                qualified = _get_qualified_name(target)
                if not qualified.startswith("torch.ops."):  # `sum.dim_IntList` is a whole name
                    name = qualified.rpartition(".")[2]
        else:
            name = str(target)
        if name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return snake_case(name)

    def __str__(self) -> str:
        placeholders: list[str] = []
        result = [""]
        lines = [node.format_node(placeholders, result) for node in self.nodes]
        return "\n    ".join([f"graph():{result[0]}", *(line for line in lines if line)])

    def print_tabular(self) -> None:
        """Print the nodes as a table.

        Raises: ImportError where the package `tabulate` is not installed.
        """
        try:
            from tabulate import tabulate  # type: ignore[import-untyped]
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on "
                "this machine. Run `pip install tabulate` to install the library."
            )
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """The source of the function; `root_module` is the name of the owner in it."""
        namespace = _Namespace()
        nodes = list(self.nodes)
        old = {node: node._repr_fn for node in nodes}
        for node in nodes:
            node._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            return self._codegen._gen_python_code(nodes, root_module, namespace, **options)
        finally:
            for node, shown in old.items():
                node._repr_fn = shown

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let `codegen` write the source."""
        self._codegen = codegen

    def on_generate_code(
        self, make_transformer: Callable[[Any], Any]
    ) -> AbstractContextManager[None]:
        """Have the lines of the body changed before they become a function.

        `make_transformer` gets the present transformer, or None, and returns the new one, which
        turns a list of lines into another. Leaving the context gives the old one back.
        """
        codegen = self._codegen
        old = codegen._body_transformer
        codegen._body_transformer = make_transformer(old)

        @contextlib.contextmanager
        def undone() -> Iterator[None]:
            try:
                yield
            finally:
                codegen._body_transformer = old

        return undone()

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the function as an interpreter gives them to the placeholders."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The result as the caller expects it."""
        return self._codegen.process_outputs(out)


def _has_attribute(owner: Any, path: str) -> bool:
    for part in path.split("."):
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


__getattr__ = _refuses(__name__)
