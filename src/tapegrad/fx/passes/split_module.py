"""Splitting a graph into modules that are called one after the other."""

from collections.abc import Callable
from operator import getitem
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.graph import Graph
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.node import Node, map_arg
from tapegrad.nn import Module

__all__ = ["Partition", "split_module"]


class Partition:
    """Nodes that become one module: what it takes, gives and calls, and whom it waits for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.nodes: list[Node] = []
        self.inputs: dict[Node, None] = {}
        self.outputs: dict[Node, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {[n.name for n in self.nodes]},\n "
            f"inputs: {[n.name for n in self.inputs]},\n "
            f"outputs: {[n.name for n in self.outputs]},\n "
            f"partitions depended on: {list(self.dependencies)},\n "
            f"partition dependents: {list(self.dependents)}"
        )


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], int],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """A module that calls a submodule for each value of `split_callback(node)`.

    Inputs, parameters and buffers stay outside and are handed in. `qualname_map` is filled with
    the old path of each module by its new one. `keep_original_order` calls the submodules in the
    order in which they first occur; else in one in which each follows what it needs.

    Raises: RuntimeError where submodules would need each other.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.passes.split_module import split_module
    >>> def program(x):
    ...     return torch.relu(x * 2) + 1
    >>> traced = fx.symbolic_trace(program)
    >>> split = split_module(traced, traced, lambda node: int(node.name == "add"))
    >>> print(split.code.strip())
    def forward(self, x):
        submod_0 = self.submod_0(x);  x = None
        submod_1 = self.submod_1(submod_0);  submod_0 = None
        return submod_1
    """
    options = (bool(keep_original_node_name), keep_original_input_name, tuple_return)
    return _Split(m, split_callback, qualname_map, partition_affix, *options).make(
        bool(keep_original_order)
    )


class _Split:
    """One run of `split_module`."""

    def __init__(
        self,
        m: GraphModule,
        split_callback: Callable[[Node], int],
        qualname_map: dict[str, str] | None,
        affix: str | None,
        keep_names: bool,
        keep_input_names: bool,
        tuple_return: bool,
    ) -> None:
        self.m, self.qualname_map = m, qualname_map
        self.keep_names, self.keep_input_names = keep_names, keep_input_names
        self.tuple_return = tuple_return
        self.partitions: dict[str, Partition] = {}
        self.home: dict[Node, Partition] = {}
        for node in m.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            name = str(split_callback(node))
            if name not in self.partitions:
                made = self.partitions[name] = Partition(name)
                if affix is not None:
                    made.submod_name = f"submod_{affix}_{name}"
            self.partitions[name].nodes.append(node)
            self.home[node] = self.partitions[name]
        for node in m.graph.nodes:
            for used in node.all_input_nodes:
                self.note(used, node)

    def note(self, used: Node, user: Node) -> None:
        """Let the partitions of two nodes know that one uses the other."""
        here, there = self.home.get(used), self.home.get(user)
        if here is there:
            return
        if here is not None:
            here.outputs.setdefault(used)
            if there is not None:
                here.dependents.setdefault(there.name)
                there.dependencies.setdefault(here.name)
        if there is not None:
            there.inputs.setdefault(used)

    def in_order(self) -> list[Partition]:
        """The partitions, each after those that it needs."""
        waiting = {p.name: dict(p.dependencies) for p in self.partitions.values()}
        ready = [name for name, needs in waiting.items() if not needs]
        done: list[Partition] = []
        while ready:
            partition = self.partitions[ready.pop()]
            done.append(partition)
            for name in partition.dependents:
                waiting[name].pop(partition.name)
                if not waiting[name]:
                    ready.append(name)
        if len(done) < len(self.partitions):
            raise RuntimeError("cycle exists between partitions!")
        return done

    def make(self, keep_order: bool) -> GraphModule:
        ordered = self.in_order()
        for partition in ordered:
            self.fill(partition)
        outer = Graph()
        attributes: dict[str, Any] = {}
        values: dict[Node, Any] = {}
        for node in self.m.graph.nodes:
            if node.op == "placeholder":
                values[node] = outer.placeholder(node.target, node.type, *node.args)
                values[node].meta = node.meta.copy()
            elif node.op == "get_attr" and not keep_order:
                self.read(node, outer, values, attributes)
        if keep_order:
            self.call_in_order(outer, values, attributes)
        else:
            for partition in ordered:
                self.call(partition, outer, values, attributes)
        self.finish(outer, values, attributes)
        made = GraphModule(attributes, outer)
        made.meta.update(getattr(self.m, "meta", {}))
        return made

    def read(self, node: Node, outer: Graph, values: dict, attributes: dict) -> None:
        """The reading of an attribute, which stays outside."""
        values[node] = outer.get_attr(node.target)
        values[node].meta = node.meta.copy()
        found: Any = self.m
        for part in node.target.split("."):
            found = getattr(found, part)
        attributes[node.target] = found

    def fill(self, partition: Partition) -> None:
        """The graph of a partition."""
        graph, here = partition.graph, partition.environment
        for number, node in enumerate(partition.inputs):
            name = node.name if self.keep_input_names else f"arg_{number}"
            here[node] = graph.placeholder(name, type_expr=node.type)
            here[node].meta = node.meta.copy()
        for node in partition.nodes:
            target = node.target
            if node.op == "call_module":
                target = node.target.replace(".", "_")
                partition.targets[target] = self.m.get_submodule(node.target)
                if self.qualname_map is not None:
                    self.qualname_map[f"{partition.submod_name}.{target}"] = node.target
            args = map_arg(node.args, here.__getitem__)
            kwargs = map_arg(node.kwargs, here.__getitem__)
            kept = node.name if self.keep_names else None
            here[node] = graph.create_node(node.op, target, args, kwargs, kept, node.type)
            here[node].meta = node.meta.copy()
        outputs = tuple(here[node] for node in partition.outputs)
        plain = len(outputs) == 1 and not self.tuple_return
        graph.output(outputs[0] if plain else outputs)

    def call(self, partition: Partition, outer: Graph, values: dict, attributes: dict) -> None:
        """The call of a partition's module in the outer graph."""
        attributes[partition.submod_name] = GraphModule(partition.targets, partition.graph)
        args = tuple(values[node] for node in partition.inputs)
        called = outer.call_module(partition.submod_name, args)
        outputs = list(partition.outputs)
        if len(outputs) == 1 and not self.tuple_return:
            values[outputs[0]] = called
            return
        for i, node in enumerate(outputs):
            values[node] = outer.call_function(getitem, (called, i))

    def call_in_order(self, outer: Graph, values: dict, attributes: dict) -> None:
        """Calls as they first occur, each as soon as it has what it needs; attributes before it."""
        waiting = list(self.partitions.values())
        while waiting:
            for partition in waiting:
                if all(n in values or n.op == "get_attr" for n in partition.inputs):
                    break
            for node in partition.inputs:
                if node not in values:
                    self.read(node, outer, values, attributes)
            self.call(partition, outer, values, attributes)
            waiting.remove(partition)

    def finish(self, outer: Graph, values: dict, attributes: dict) -> None:
        last = self.m.graph.output_node()
        for node in last.all_input_nodes:
            if node not in values:
                self.read(node, outer, values, attributes)
        made = outer.output(map_arg(last.args[0], values.__getitem__), type_expr=last.type)
        made.meta = last.meta.copy()


__getattr__ = _refuses(__name__)
