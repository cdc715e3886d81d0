"""Tracing: a program is run with proxies for its inputs, and what it does becomes a graph."""

import copy
import functools  # noqa: F401
import inspect
import math
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tapegrad.compat.torch.fx._compatibility import compatibility  # noqa: F401
from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.codegen import _PyTreeCodeGen, _PyTreeInfo
from tapegrad.fx.graph import Graph
from tapegrad.fx.graph_module import GraphModule
from tapegrad.fx.node import Argument, base_types
from tapegrad.fx.patching import (  # noqa: F401
    _autowrap_check,
    _create_wrapped_func,
    _create_wrapped_method,
    _find_proxy,
    _patch_wrapped_functions,
    _Patcher,
    _wrapped_fns_to_patch,
    _wrapped_methods_to_patch,
    wrap,
)
from tapegrad.fx.placeholders import PH, PHBase, PHWithMeta  # noqa: F401
from tapegrad.fx.proxy import ParameterProxy, Proxy, Scope, TracerBase
from tapegrad.fx.proxy_arguments import ProxyArguments
from tapegrad.nn import Module, Parameter, Sequential
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils import _pytree as pytree

_orig_module_call: Callable = Module.__call__
_orig_module_getattr: Callable = Module.__getattr__


class ScriptObject:
    """An object of a class that TorchScript compiled: there is none, classes stay Python's."""


HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_is_fx_tracing_flag = False


def is_fx_tracing() -> bool:
    """Whether a program is being traced."""
    return _is_fx_tracing_flag


is_fx_symbolic_tracing = is_fx_tracing


class ProxyableClassMeta(type):
    """A metaclass: making an object of the class from proxies is recorded as a call."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs) if is_fx_tracing() else None
        if proxy is None:
            return super().__call__(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", cls, args, kwargs)


class Tracer(TracerBase):
    """Runs a module or a function with proxies for its inputs; `trace` gives the graph.

    Subclasses say by `is_leaf_module` which modules are recorded as one call, and by `create_arg`,
    `call_module` and `create_proxy` how calls are recorded.

    Args:
        autowrap_modules: modules, such as `math`, whose functions are recorded as calls.
        autowrap_functions: functions that are recorded as calls.
        param_shapes_constant: whether shapes of parameters are the numbers that they are.

    >>> from tapegrad import fx, nn
    >>> class AllModules(fx.Tracer):
    ...     def is_leaf_module(self, m, module_qualified_name):
    ...         return False
    >>> print(AllModules().trace(nn.ReLU()))
    graph():
        %input_1 : torch.Tensor [num_users=1] = placeholder[target=input]
        %relu : [num_users=1] = call_function[target=torch.nn.functional.relu](\
args = (%input_1,), kwargs = {inplace: False})
        return relu
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self._autowrap_function_ids = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        } | {id(function) for function in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}
        self._qualname_counter: dict[str, int] = defaultdict(int)

    # ---------------------------------------------------------------------- what programs have

    def __deepcopy__(self, memo: dict) -> "Tracer":
        made = memo[id(self)] = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            plain = name == "_autowrap_search"  # modules
            made.__dict__[name] = list(value) if plain else copy.deepcopy(value, memo)
        return made

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name for an attribute of the root that is not taken: `prefix` and a number."""
        number = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._qualname_counter[prefix] = number + 1
        return f"{prefix}{number}"

    def create_arg(self, a: Any) -> Argument:
        """A value of the program as an argument of a node; tensors become attributes."""
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
            return self._constant(a, "_tensor_constant")
        if isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            items = tuple(self.create_arg(x) for x in a)
            return self.create_node("call_function", type(a), items, {})
        if isinstance(type(a), ProxyableClassMeta):
            return self._constant(a, f"_{type(a).__name__}_constant_")
        return super().create_arg(a)

    def _constant(self, value: Any, prefix: str) -> Any:
        name = next((n for x, n in self.tensor_attrs if x is value), None)
        if name is None:
            name = self.get_fresh_qualname(prefix)
            self.tensor_attrs.append((value, name))
            setattr(self.root, name, value)
        return self.create_node("get_attr", name, (), {})

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether calls of `m` are recorded as one: those of `torch.nn`, but not a Sequential."""
        home = type(m).__module__
        ours = home.startswith(("torch.nn", "torch.ao.nn", "tapegrad.nn"))
        return ours and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The path of a submodule of the root.

        Raises: NameError where it is none.
        """
        if self.submodule_paths is not None and mod in self.submodule_paths:
            return self.submodule_paths[mod]
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Module, forward: Callable, args: tuple, kwargs: dict) -> Any:
        """What a call of a module gives: a node for a leaf, else what is inside is traced."""
        path = self.path_of_module(m)
        old, self.scope = self.scope, Scope(path, type(m))
        calls = self.num_calls.get(path, 0)
        self.num_calls[path] = calls + 1
        key = f"{path}@{calls}" if calls else path
        self.module_stack[key] = (path, type(m))
        try:
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            self.scope = old
            del self.module_stack[key]

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What reading an attribute of a module gives: a proxy for a parameter."""
        if isinstance(attr_val, Parameter):
            return self._attribute(attr_val, self.root.named_parameters(), parameter_proxy_cache)
        if self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            return self._attribute(attr_val, self.root.named_buffers(), parameter_proxy_cache)
        return attr_val

    def _attribute(self, value: Any, known: Any, cache: dict[str, Any]) -> Any:
        for name, each in known:
            if each is value:
                if name not in cache:
                    cache[name] = self.create_proxy(
                        "get_attr", name, (), {},
                        proxy_factory_fn=self._parameter_proxy(name, value),
                    )  # fmt: skip
                return cache[name]
        return value

    def _parameter_proxy(self, name: str, value: Any) -> Any:
        if not self.param_shapes_constant:
            return None
        return lambda node: ParameterProxy(self, node, name, value)

    # ---------------------------------------------------------------------------------- inputs

    def create_args_for_root(
        self,
        root_fn: Callable[..., Any],
        is_module: bool,
        concrete_args: dict[str, Any] | tuple | None = None,
    ) -> tuple[Any, list[Any]]:
        """The function to run, and a proxy for each of its inputs."""
        inside = inspect.unwrap(root_fn)
        code = inside.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:count])
        signature = inspect.signature(inside)
        args: list[Any] = []
        inputs = names
        if is_module:
            if not names:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            inputs = names[1:]
            args.append(self.root)
        if isinstance(concrete_args, tuple):
            if len(inputs) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(inputs)} arguments but got {len(concrete_args)} "
                    "concrete arguments"
                )
            concrete_args = dict(zip(inputs, concrete_args, strict=True))
        for name in inputs:
            args.append(self._proxy_placeholder(name, concrete_args, signature, inside))
        if (
            concrete_args is None
            and not code.co_kwonlyargcount
            and not code.co_flags & HAS_VARSTUFF
        ):
            return root_fn, args
        at = count
        for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
            if code.co_flags & flag:
                name = f"{stars}{code.co_varnames[at]}"
                args.append(self._proxy_placeholder(name, concrete_args, signature, inside))
                at += 1
        root_fn = _all_positional(inside, len(args))
        flat, spec = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in _children(spec)):
            return root_fn, args
        codegen = _PyTreeCodeGen(_PyTreeInfo(names, spec, None))
        self.graph._codegen = codegen

        def flattened(*values: Any) -> Any:
            result = root_fn(*pytree.tree_unflatten(list(values), spec))
            leaves, codegen_spec = pytree.tree_flatten(result)
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=codegen_spec)
            return leaves

        return flattened, flat

    def _proxy_placeholder(
        self,
        name: str,
        concrete_args: dict[str, Any] | None,
        sig: inspect.Signature,
        fn_for_analysis: Callable[..., Any],
    ) -> Any:
        if name[0] == "*" or sig.parameters[name].default is inspect.Parameter.empty:
            default: tuple = ()
        else:
            default = (sig.parameters[name].default,)
        if concrete_args is None or name not in concrete_args:
            kind = _annotation(fn_for_analysis, name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=kind)
        count = 0

        def fixed(value: Any) -> Any:
            nonlocal count
            count += 1
            out = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(value, PHBase):
                if isinstance(value, PHWithMeta):
                    value.transfer_attrs(out.node)
                return out
            self._assert_fixed(name, out, value)
            return value

        return pytree.tree_map(fixed, concrete_args[name])

    def _assert_fixed(self, name: str, out: Proxy, value: Any) -> None:
        import tapegrad as torch

        message = f"{name} has been specialized to have value {value} but got another value"
        if isinstance(value, base_types):
            self.create_proxy("call_function", torch._assert, (out == value, message), {})
        elif value is None:
            self.create_proxy("call_function", _assert_is_none, (out, message), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized "
                "function. It is up to the user to make sure that your inputs match the inputs "
                "you specialized the function with.",
                stacklevel=2,
            )

    # --------------------------------------------------------------------------------- tracing

    def trace(
        self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
    ) -> Graph:
        """The graph of what `root` does.

        `concrete_args` has values of arguments that are fixed: the graph is that of these values.

        Raises: TraceError where the program branches on a value that only a run knows.
        """
        global _is_fx_tracing_flag
        if isinstance(root, Module):
            self.root: Any = root
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(
                    f"traced_func_name={self.traced_func_name} doesn't exist in "
                    f"{type(root).__name__}"
                )
            fn: Any = getattr(type(root), self.traced_func_name)
            self.root_module_name = type(root).__name__
            self.submodule_paths = {mod: name for name, mod in root.named_modules()}
        else:
            self.root, fn = Module(), root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs: list[tuple[Any, str]] = []
        self._collect(self.root, "")
        if not isinstance(fn, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        code = fn.__code__
        self.graph._co_fields = {
            "co_name": code.co_name,
            "co_filename": code.co_filename,
            "co_firstlineno": code.co_firstlineno,
        }
        old, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        try:
            run, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
            with _Patcher() as patcher, ProxyArguments():
                self._patch(patcher, fn.__globals__)
                result = run(*args)
                self.create_node(
                    "output", "output", (self.create_arg(result),), {},
                    type_expr=_annotation(fn, "return") if run is fn else None,
                )  # fmt: skip
            self.submodule_paths = None
        finally:
            _is_fx_tracing_flag = old
        return self.graph

    def _collect(self, module: Module, prefix: str) -> None:
        """Note the tensors that are plain attributes of a module, or of one in it."""
        for name, value in vars(module).items():
            if isinstance(value, Tensor):
                self.tensor_attrs.append((value, f"{prefix}{name}"))
        for name, child in module.named_children():
            self._collect(child, f"{prefix}{name}.")

    def _patch(self, patcher: _Patcher, scope: dict) -> None:
        call, read = Module.__call__, Module.__getattr__
        cache: dict[str, Any] = {}

        def __getattr__(module: Module, name: str) -> Any:
            return self.getattr(name, read(module, name), cache)

        def __call__(module: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return call(module, *args, **kwargs)

            inside = getattr(getattr(module, "forward", module), "__globals__", None)
            if inside is None:
                inside = getattr(type(module).forward, "__globals__", {})
            _autowrap_check(patcher, inside, self._autowrap_function_ids)
            return self.call_module(module, forward, args, kwargs)

        patcher.patch_method(Module, "__getattr__", __getattr__)
        patcher.patch_method(Module, "__call__", __call__)
        _patch_wrapped_functions(patcher)
        _autowrap_check(patcher, scope, self._autowrap_function_ids)
        for module in self._autowrap_search:
            _autowrap_check(patcher, vars(module), self._autowrap_function_ids)


def _annotation(function: Any, name: str) -> Any:
    """What a parameter is annotated with; of modules of `torch.nn`, what PyTorch's say."""
    kind = function.__annotations__.get(name)
    if not (function.__module__ or "").startswith("tapegrad.nn."):
        return kind
    plain = function.__module__.endswith("container") or kind not in ("Tensor", Tensor)
    return None if plain else Tensor


def _children(spec: Any) -> Any:
    children = getattr(spec, "children", None)
    return children() if callable(children) else spec.children_specs


def _all_positional(function: Any, count: int) -> FunctionType:
    """The function with `count` positional parameters: those by keyword and `*args` among them."""
    code: CodeType = function.__code__.replace(
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=function.__code__.co_flags & ~HAS_VARSTUFF,
    )
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def symbolic_trace(
    root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """A module that does what `root` does, with the graph of it.

    Raises: TraceError where the program branches on a value that only a run knows.

    >>> from tapegrad import fx
    >>> traced = fx.symbolic_trace(lambda x: x.relu() + 1)
    >>> traced(torch.tensor([-1.0, 2.0]))
    tensor([1., 3.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


__getattr__ = _refuses(__name__)
