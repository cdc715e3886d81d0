"""A node of a graph: one call, input, attribute or output, and who uses it."""

import builtins
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.immutable_collections import immutable_dict, immutable_list
from tapegrad.fx.qualified_name import _get_qualified_name, _type_repr

if TYPE_CHECKING:
    from tapegrad.fx.graph import Graph

Argument = Any
Target = Callable[..., Any] | str
base_types = (str, int, float, bool, complex)

_legal_ops = frozenset(
    "placeholder call_method call_module call_function get_attr output root".split()
)
_side_effectful_functions: set[Callable] = set()


def has_side_effect(fn: Callable) -> Callable:
    """Let `eliminate_dead_code` keep calls of `fn` whose results nobody uses; returns `fn`.

    >>> from tapegrad import fx
    >>> fx.has_side_effect(print) is print
    True
    """
    _side_effectful_functions.add(fn)
    return fn


def _side_effects() -> set[Callable]:
    import tapegrad as torch

    return {torch._assert, torch._assert_async} | _side_effectful_functions


class Node:
    """One step of a graph.

    `op` is `placeholder` (an input), `get_attr`, `call_function`, `call_method`, `call_module` or
    `output`; `target` is what is called or read; `args` and `kwargs` are the arguments, in which
    other nodes stand for their values. `users` are the nodes that use this one. `meta` is free.

    >>> from tapegrad import fx
    >>> traced = fx.symbolic_trace(lambda x: x.relu() + 1)
    >>> [node.op for node in traced.graph.nodes]
    ['placeholder', 'call_method', 'call_function', 'output']
    """

    def __init__(
        self,
        graph: "Graph",
        name: str,
        op: str,
        target: Target,
        args: tuple,
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                    f"{type(target).__name__} but a Callable is expected"
                )
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} "
                "but a str is expected"
            )
        self.graph = graph
        self.name = name
        self.op = op
        self.target: Any = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._sort_key = 0
        self._repr_fn: Callable[[Node], str] | None = None
        self._args: tuple = ()
        self._kwargs: dict = {}
        self._set_arguments(args, kwargs)

    def __deepcopy__(self, memo: dict) -> "Node":
        return memo.get(id(self), self)

    # ---------------------------------------------------------------------------------- order

    @property
    def next(self) -> "Node":
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> "Node":
        """The node before this one."""
        return self._prev

    def prepend(self, x: "Node") -> None:
        """Move `x` to the place before this node."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x
        self.graph._changed_order()

    def append(self, x: "Node") -> None:
        """Move `x` to the place after this node."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other: "Node") -> bool:
        self.graph._number_nodes()
        return self._sort_key < other._sort_key

    def __gt__(self, other: "Node") -> bool:
        return other < self

    def __le__(self, other: "Node") -> bool:
        return self is other or self < other

    def __ge__(self, other: "Node") -> bool:
        return self is other or other < self

    # ------------------------------------------------------------------------------ arguments

    @property
    def args(self) -> tuple:
        """Positional arguments; assigning them tells the nodes in them."""
        return self._args

    @args.setter
    def args(self, new: tuple) -> None:
        self._set_arguments(new, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """Arguments by keyword; assigning them tells the nodes in them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, new: dict[str, Argument]) -> None:
        self._set_arguments(self._args, new)

    def _set_arguments(self, args: tuple, kwargs: dict) -> None:
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._input_nodes = {}

        def use(node: Node) -> Node:
            self._input_nodes.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args = map_arg(tuple(args), use)
        self._kwargs = map_arg(dict(kwargs), use)

    @property
    def all_input_nodes(self) -> list["Node"]:
        """The nodes in the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replace the positional argument number `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Insert a positional argument before number `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Replace the argument called `key`."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: "Node", new_input: "Node") -> None:
        """Use `new_input` wherever the arguments have `old_input`."""

        def replace(node: Node) -> Node:
            return new_input if node is old_input else node

        self._hooked(old_input, new_input, self)
        self._set_arguments(map_arg(self.args, replace), map_arg(self.kwargs, replace))

    def replace_all_uses_with(
        self,
        replace_with: "Node",
        delete_user_cb: Callable[["Node"], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list["Node"]:
        """Let all users of this node use another; returns those that it was done for."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), "
                    "but replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        users = [u for u in self.users if delete_user_cb is None or delete_user_cb(u)]
        for user in users:
            user.replace_input_with(self, replace_with)
        return users

    def _hooked(self, old: "Node", new: "Node", user: "Node") -> None:
        owner = self.graph.owning_module
        for hook in getattr(owner, "_replace_hooks", ()):
            hook(old=old, new=new.name, user=user)

    # ---------------------------------------------------------------------------- properties

    @property
    def stack_trace(self) -> str | None:
        """Where in the program the step was recorded, if the tracer noted it."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the step does more than give its result, so that it is no dead code."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            if self.target in _side_effects():
                return True
            if getattr(getattr(self.target, "_schema", None), "is_mutable", False):
                return True
            name = getattr(self.target, "__name__", "")
            module = getattr(self.target, "__module__", None) or ""
            if impure_random and module.startswith(("tapegrad", "torch")) and name in _RANDOM:
                return True
            inplace = name.endswith("_") and not name.endswith("__") and name not in _ENDINGS
            return inplace and module.startswith(("tapegrad", "torch"))
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError(
                    "self.graph.owning_module not set for purity check of call_module"
                )
            module = owner.get_submodule(self.target)
            return getattr(module, "_is_impure", False)
        return False

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple | None = None,
        kwarg_types: dict | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """The arguments of a call with their defaults and names; None where they have none."""
        from tapegrad.fx.operator_schemas import normalize_function, normalize_module

        only = normalize_to_only_use_kwargs
        if self.op == "call_function":
            assert callable(self.target)
            given = (self.args, self.kwargs, arg_types, kwarg_types)
            return normalize_function(self.target, *given, only)
        if self.op == "call_module":
            return normalize_module(root, str(self.target), self.args, self.kwargs, only)
        return None

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)

    # ------------------------------------------------------------------------------ printing

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target: object) -> str:
        if isinstance(target, str):
            return target
        module = getattr(target, "__module__", None)
        if module in ("builtins", "_operator"):
            home = "operator" if module == "_operator" else module
            return f"{home}.{target.__name__}"  # type: ignore[attr-defined]
        return _get_qualified_name(target) if hasattr(target, "__name__") else str(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The line by which `print(graph)` shows the node."""
        annotation = f"{_type_repr(self.type)} " if self.type else ""
        head = f"%{self.name} : {annotation}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(self.target)
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}[target={self.target}]{default}"
        target = self._pretty_print_target(self.target)
        if self.op == "get_attr":
            return f"{head}[target={target}]"
        if self.op == "output":
            return f"return {self.args[0]}"
        return (
            f"{head}[target={target}](args = {_format_arg(self.args)}, "
            f"kwargs = {_format_arg(self.kwargs)})"
        )


_RANDOM = frozenset(
    "rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal "
    "poisson".split()
)
"""Functions that draw numbers: without them later draws would differ."""

_ENDINGS = frozenset(("and_", "or_", "not_", "is_"))


def _format_arg(arg: object) -> str:
    if isinstance(arg, list):
        return f"[{', '.join(map(_format_arg, arg))}]"
    if isinstance(arg, tuple):
        if hasattr(arg, "_fields"):
            parts = [f"{k}={_format_arg(v)}" for k, v in zip(arg._fields, arg, strict=True)]
            return f"{type(arg).__name__}({', '.join(parts)})"
        return f"({', '.join(map(_format_arg, arg))}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, dict):
        return f"{{{', '.join(f'{k}: {_format_arg(v)}' for k, v in arg.items())}}}"
    return f"%{arg.name}" if isinstance(arg, Node) else str(arg)


def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """`a` with `fn` applied to each node in it.

    >>> from tapegrad import fx
    >>> x = fx.Graph().placeholder("x")
    >>> fx.map_arg(([x, 2], {"k": x}), lambda node: node.name)
    (['x', 2], {'k': 'x'})
    """
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a: Argument, fn: Callable[[Argument], Argument]) -> Argument:
    """`a` with `fn` applied to each item of its tuples, lists, dictionaries and slices."""
    if isinstance(a, tuple):
        items: Iterator = (map_aggregate(x, fn) for x in a)
        return type(a)(*items) if hasattr(a, "_fields") else builtins.tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict({k: map_aggregate(v, fn) for k, v in a.items()})
    if isinstance(a, slice):
        return slice(*(map_aggregate(x, fn) for x in (a.start, a.stop, a.step)))
    return fn(a)


__getattr__ = _refuses(__name__)
