"""Values that record what is done with them: each operation on a `Proxy` adds a node."""

import copy
import operator
import os
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from dis import get_instructions
from enum import Enum
from typing import TYPE_CHECKING, Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.torch_function import PROGRAM, Overridden, asking, caller_of
from tapegrad.fx import traceback as fx_traceback
from tapegrad.fx.call_form import as_called
from tapegrad.fx.codegen import magic_methods
from tapegrad.fx.graph import reflectable_magic_methods
from tapegrad.fx.node import Argument, Node, Target, base_types
from tapegrad.fx.operator_schemas import check_for_mutable_operation
from tapegrad.fx.qualified_name import _get_qualified_name

if TYPE_CHECKING:
    from tapegrad.fx.graph import Graph

_ITERATED = (
    "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as "
    "a *args or **kwargs function argument. See the torch.fx docs on pytorch.org for a more "
    "detailed explanation of what types of control flow can be traced, and check out the Proxy "
    "docstring for help troubleshooting Proxy iteration errors"
)


_COPIED = "stack_trace nn_module_stack source_fn_stack original_aten torch_fn custom".split()
"""What a node of a graph hands on to those that stand for it in another."""


class TraceError(ValueError):
    """What a program does with a value that only a run knows cannot be recorded."""


class Scope:
    """The module that is being called: its path and its class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class TracerBase:
    """What turns calls into nodes of `graph`; `Tracer` and `GraphAppendingTracer` are such."""

    graph: "Graph"
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"
    scope: Scope
    module_stack: OrderedDict
    node_name_to_scope: dict

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple,
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node whose arguments are nodes and constants."""
        if self.check_mutable_operations and kind == "call_function" and callable(target):
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        scopes = getattr(self, "node_name_to_scope", None)
        if scopes is not None:
            scopes[node.name] = (self.scope.module_path, self.scope.module_type)
        if getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = self.module_stack.copy()
        if fx_traceback.has_preserved_node_meta():
            known = fx_traceback.get_current_meta()
            node.meta.update({k: copy.copy(known[k]) for k in _COPIED if k in known})
        return node

    def proxy(self, node: Node) -> "Proxy":
        """The value that stands for a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple,
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], "Proxy"] | None = None,
    ) -> "Proxy":
        """Add a node whose arguments are values of the program; returns its value."""
        given, named = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(given, tuple) or not isinstance(named, dict):
            raise AssertionError("create_arg must give a tuple for args and a dict for kwargs")
        node = self.create_node(kind, target, given, named, name, type_expr)
        proxy = proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)
        if self.record_stack_traces and not proxy.node.stack_trace:
            where = _stack_of_program()
            if where is not None:
                proxy.node.stack_trace = where
        return proxy

    def create_arg(self, a: Any) -> Argument:
        """A value of the program as an argument of a node.

        Raises: NotImplementedError for what no node can have as an argument.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return self._dict_arg(a)
        if isinstance(a, slice):
            return slice(*(self.create_arg(x) for x in (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*(self.create_arg(x) for x in (a.start, a.stop, a.step)))
        if is_dataclass(a) and not isinstance(a, type):
            named = {each.name: self.create_arg(getattr(a, each.name)) for each in fields(a)}
            return self.create_node("call_function", type(a), (), named)
        if isinstance(a, base_types) or a is None or a is ... or _is_constant(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _dict_arg(self, a: dict) -> dict:
        found = {}
        for key, value in a.items():
            k = self.create_arg(key)
            if isinstance(k, Node):
                raise RuntimeError(
                    f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {k}"
                )
            found[k] = self.create_arg(value)
        return found

    def to_bool(self, obj: "Proxy") -> bool:
        """What `if proxy` does."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Any) -> Iterator:
        """What `for x in proxy` does: known only where it is unpacked to so many names."""
        count = _unpacked_into(sys._getframe(2))
        if count is None:
            raise TraceError(_ITERATED)
        return (obj[i] for i in range(count))

    def keys(self, obj: "Proxy") -> Any:
        """What `**proxy` does."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds what is done with a `Proxy(node)` to the graph of the node."""

    def __init__(self, graph: "Graph") -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


def _is_constant(a: Any) -> bool:
    import tapegrad as torch

    kinds = (torch.dtype, torch.Tensor, torch.device, torch.memory_format, torch.layout)
    return isinstance(a, (*kinds, Enum))


def _stack_of_program() -> str | None:
    """Where the program is, from its first `forward` on; None outside of one."""
    frames = traceback.extract_stack()
    first = next((i for i, frame in enumerate(frames) if frame.name == "forward"), None)
    if first is None:
        return None
    seen = [each for each in frames[first:] if not each.filename.startswith(_OURS)]
    return "".join(traceback.StackSummary.from_list(seen).format()).strip()


_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep


def _unpacked_into(frame: Any) -> int | None:
    """How many names the statement that is being run in `frame` unpacks a value into."""
    done = [each for each in get_instructions(frame.f_code) if each.offset <= frame.f_lasti]
    return done[-1].arg if done[-1].opname == "UNPACK_SEQUENCE" else None


class Proxy:
    """Stands for a value while a program is traced: what is done with it becomes a node.

    A branch on it, a loop over it and `int(proxy)` raise `TraceError` or TypeError, since only a
    run knows the value.

    >>> from tapegrad import fx
    >>> graph = fx.Graph()
    >>> x = fx.Proxy(graph.placeholder("x"))
    >>> torch.relu(x + 1)
    Proxy(relu)
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = tracer if tracer is not None else GraphAppendingTracer(node.graph)
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> "Attribute":
        if k in ("tracer", "node") or (k.startswith("__") and k.endswith("__")):
            # What Python and other libraries probe an object for is not the program's doing.
            raise AttributeError(k)
        if asking(caller_of(sys._getframe(1))) != PROGRAM:
            # A function looks for a tensor's array: it is to hand the call over.
            raise Overridden(f"a Proxy has no {k} here", name=k, obj=self)
        return Attribute(self, k)

    def __getstate__(self) -> dict:
        return self.__dict__

    def __setstate__(self, state: dict) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo: dict) -> "Proxy":
        made = Proxy.__new__(type(self))
        made.__dict__.update({k: copy.copy(v) for k, v in self.__dict__.items() if k != "node"})
        made.node, made.tracer = self.node, self.tracer
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> "Proxy":
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator:
        return self.tracer.iter(self)

    def __abs__(self) -> "Proxy":
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What `**proxy` asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        tracer = _tracer_of(orig_method, args, kwargs)
        if tracer is None:
            raise AssertionError(f"no Proxy among the arguments of {orig_method}")
        import tapegrad as torch

        name = getattr(orig_method, "__name__", None)
        if name == "__get__":  # a property of a tensor
            owner = orig_method.__self__
            for kind in torch.Tensor.__mro__:
                for attribute, value in vars(kind).items():
                    if value is owner:
                        return Attribute(args[0], attribute)
        for kind in torch.Tensor.__mro__:
            if name is not None and vars(kind).get(name) is orig_method:
                return tracer.create_proxy("call_method", name, args, kwargs)
        if name in _METHODS and _get_qualified_name(orig_method) == f"torch.nn.functional.{name}":
            return tracer.create_proxy("call_method", name, args, kwargs)
        args, kwargs = as_called(orig_method, args, kwargs, sys._getframe(1))
        return tracer.create_proxy(
            "call_function", orig_method, args, kwargs,
            name=tracer.graph._target_to_str(orig_method),
        )  # fmt: skip


_METHODS = frozenset(("sigmoid", "tanh"))
"""Functions of `torch.nn.functional` that call the method of their name."""


def _tracer_of(function: Any, args: tuple, kwargs: dict) -> TracerBase | None:
    tracers: dict[TracerBase, None] = {}

    def look(value: Any) -> None:
        if isinstance(value, Proxy):
            tracers.setdefault(value.tracer)
        elif isinstance(value, (tuple, list)):
            for each in value:
                look(each)
        elif isinstance(value, dict):
            for each in value.values():
                look(each)
        elif isinstance(value, slice):
            for each in (value.start, value.stop, value.step):
                look(each)

    look(args)
    look(kwargs)
    if len(tracers) > 1:
        raise RuntimeError(
            f"Found multiple different tracers {list(tracers)} while trying to trace operations "
            f"{function}"
        )
    return next(iter(tracers), None)


class MetaProxy(Proxy):
    """Not there: a proxy that carries a fake value needs PyTorch's fake tensors."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "tapegrad has no torch.fx.proxy.MetaProxy: use Proxy and passes.shape_prop.ShapeProp"
        )


class Attribute(Proxy):
    """An attribute of a proxy: a node only if it is used as a value, not if it is called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:
        if self._node is None:
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
        return self._node

    @node.setter
    def node(self, value: Node) -> None:
        self._node = value

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter, whose shape is known while tracing."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.name, self.param = name, param

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        return self.param.shape

    def size(self, *args: Any) -> Any:
        return self.param.size(*args)

    def dim(self) -> int:
        return self.param.dim()

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.nelement()


def _define(name: str) -> None:
    function = getattr(operator, name, operator.truediv)

    def method(*args: Any, **kwargs: Any) -> Any:
        return args[0].tracer.create_proxy("call_function", function, args, kwargs)

    method.__name__ = name
    setattr(Proxy, f"__{name.strip('_')}__", method)


def _define_reflected(name: str) -> None:
    function = getattr(operator, name, operator.truediv)

    def method(self: Any, left: Any) -> Any:
        return self.tracer.create_proxy("call_function", function, (left, self), {})

    method.__name__ = f"r{name}"
    setattr(Proxy, f"__r{name.strip('_')}__", method)


for _name in magic_methods:
    _define(_name)
for _name in reflectable_magic_methods:
    if _name != "getitem":
        _define_reflected(_name)
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]

__getattr__ = _refuses(__name__)
