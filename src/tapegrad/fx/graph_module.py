"""A module made of a graph: its `forward` is the code of the graph."""

import copy
import itertools
import linecache
import sys
import traceback
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.codegen import PythonCode, _PyTreeCodeGen
from tapegrad.fx.graph import Graph
from tapegrad.fx.namespace import custom_builtins
from tapegrad.fx.qualified_name import _get_qualified_name
from tapegrad.nn import Module, Parameter
from tapegrad.tensors.tensor import Tensor

_numbers = itertools.count()
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"  # in `meta`: what deep copies get


def _exec_with_source(source: str, scope: dict[str, Any], made_by: str | None = None) -> None:
    """Run generated source, so that tracebacks show its lines."""
    name = f"<eval_with_key>.{next(_numbers)}"
    if made_by is not None:
        name = f"{name} from {made_by}"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    exec(compile(source, name, "exec"), scope)


def _forward_from_src(
    src: str, globals: dict[str, Any], name: str = "forward", made_by: str | None = None
) -> Any:
    scope = dict(globals)
    _exec_with_source(src, scope, made_by)
    return scope[name]


def _source_with_imports(code: PythonCode) -> tuple[str, str]:
    """The import statements that generated code needs, and the code."""
    builtin = custom_builtins()
    lines = []
    for name, value in code.globals.items():
        if name in builtin:
            lines.append(builtin[name].import_str)
            continue
        qualified = _get_qualified_name(value)
        module, _, attribute = qualified.rpartition(".")
        if not module:
            continue
        if attribute == name:
            lines.append(f"from {module} import {attribute}")
        else:
            lines.append(f"from {module} import {attribute} as {name}")
    return "\n".join(sorted(lines)), code.src


class _CodeOnlyModule(Module):
    """What a pickled module is traced from: its state, and its code as `forward`."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body: dict[Any, Any], import_block: str) -> Module:
    """The module that was pickled as its state and its code."""
    from tapegrad.fx._symbolic_trace import Tracer

    source = f"{import_block}\n{body['_code']}"
    scope: dict[str, Any] = {}
    lines = [ours for line in source.split("\n") for ours in [_served(line)]]
    _exec_with_source("\n".join(lines), scope)
    kind = type("_CodeOnlyModule", (_CodeOnlyModule,), {"forward": scope["forward"]})
    inside = dict(body)
    name = inside.pop("_graphmodule_cls_name", "GraphModule")
    tracer_cls = inside.pop("_tracer_cls", None) or Tracer
    shown = kind(inside)

    class KeepModules(tracer_cls):  # type: ignore[misc, valid-type]
        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    graph = KeepModules().trace(shown)
    graph._tracer_cls = tracer_cls
    if "_codegen" in inside:
        graph._codegen = inside.pop("_codegen")
    made = GraphModule(shown, graph, name)
    for key, value in inside.items():
        if key not in made.__dict__:
            made.__dict__[key] = value
    for kept in ("_parameters", "_buffers", "_modules"):  # what the graph does not read, too
        for key, value in inside.get(kept, {}).items():
            getattr(made, kept).setdefault(key, value)
    made.training = inside.get("training", True)
    return made


def _served(line: str) -> str:
    """An import of `torch` as it is called where tapegrad does not serve that name."""
    if "torch" in sys.modules or not line.startswith(("import torch", "from torch")):
        return line
    if line == "import torch":
        return "import tapegrad as torch"
    return line.replace("import torch.", "import tapegrad.").replace("from torch", "from tapegrad")


def _copy_attr(source: Module, target: Module, path: str) -> None:
    """Give `target` what `source` has under a path, with modules on the way."""
    *prefix, last = path.split(".")
    for name in prefix:
        if not hasattr(source, name):
            return
        inner = getattr(source, name)
        if not hasattr(target, name):
            setattr(target, name, Module())
        source, target = inner, getattr(target, name)
        if source is target:
            return
    if hasattr(source, last):
        _set(target, last, getattr(source, last), last in source._non_persistent_buffers_set)


def _assign_attr(value: Any, target: Module, path: str) -> None:
    """Put a value under a path, with modules on the way."""
    *prefix, last = path.split(".")
    for name in prefix:
        if getattr(target, name, None) is None:
            setattr(target, name, Module())
        target = getattr(target, name)
    _set(target, last, value, False)


def _set(target: Module, name: str, value: Any, transient: bool) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        target.register_buffer(name, value, persistent=not transient)
    else:
        setattr(target, name, value)


class _WrappedCall:
    """Calls a module, and shows the line of the generated code where that fails."""

    def __init__(self, cls: Any, call: Any) -> None:
        self.cls, self.call = cls, call

    def __call__(self, module: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.call is not None:
                return self.call(module, *args, **kwargs)
            inherited: Any = super(self.cls, module)
            return inherited.__call__(*args, **kwargs)
        except Exception as error:
            if error.__traceback__ is None:
                raise AssertionError("an error without its traceback") from error
            last = traceback.extract_tb(error.__traceback__)[-1]
            if "<eval_with_key>" not in last.filename:
                raise
            print(_message(last), file=sys.stderr)
            raise error.with_traceback(None)  # noqa: B904


def _message(frame: traceback.FrameSummary) -> str:
    shown = "\n".join(traceback.format_exc().splitlines())
    number = frame.lineno or 1
    lines = linecache.getlines(frame.filename)
    before, after = "".join(lines[number - 2 : number]), "\n".join(lines[number : number + 2])
    return (
        f"{shown}\n\nCall using an FX-traced Module, line {number} of the traced Module's "
        f"generated forward function:\n{before}\n{'~' * 34} <--- HERE\n{after}\n"
    )


class GraphModule(Module):
    """A module whose `forward` is the code of a graph.

    Args:
        root: a module, or a dictionary by path, that has what the graph reads and calls.
        graph: the graph. Call `recompile` after changing it.
        class_name: the name of the class.

    Raises: RuntimeError where the dictionary lacks what the graph asks for.

    >>> from tapegrad import fx
    >>> graph = fx.Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(torch.add, (x, 1)))
    >>> module = fx.GraphModule(torch.nn.Module(), graph)
    >>> module(torch.ones(2))
    tensor([2., 2.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # Each has a class of its own, since `forward` is found through the class.
        base = next(kind for kind in cls.__mro__ if not kind.__qualname__.endswith("ModuleImpl"))

        class GraphModuleImpl(base):  # type: ignore[misc, valid-type]
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(
        self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            self._assign(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self._hooks()
        self.graph = graph
        self._tracer_cls = None
        if graph._tracer_cls and "<locals>" not in graph._tracer_cls.__qualname__:
            self._tracer_cls = graph._tracer_cls
        self.meta: dict[str, Any] = {}

    def _hooks(self) -> None:
        for kind in ("replace", "create_node", "erase_node", "deepcopy"):
            self.__dict__[f"_{kind}_hooks"] = []

    def _assign(self, root: dict[str, Any], graph: Graph) -> None:
        targets = []
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                if node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not "
                        "provided in ``root``!"
                    )
                targets.append(node.target)
        for path in sorted(targets, key=lambda path: path.count(".")):
            _assign_attr(root[path], self, path)

    __jit_unused_properties__ = ["graph"]  # noqa: RUF012

    @property
    def graph(self) -> Graph:
        """The graph; assigning one compiles it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`."""
        if "_code" not in self.__dict__:
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Make `forward` anew from the graph, after it was changed."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.pytree_info.in_spec
            self._out_spec = codegen.pytree_info.out_spec
        code = self._graph.python_code(root_module="self")
        self._code = code.src
        self._lineno_map = code._lineno_map
        cls = type(self)
        of = self._graph._co_fields
        made_by = "{co_filename}:{co_firstlineno} in {co_name}".format(**of) if of else None
        cls.forward = _forward_from_src(code.src, code.globals, codegen._func_name, made_by)
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))

            def call(self: Any, *args: Any, **kwargs: Any) -> Any:
                return cls._wrapped_call(self, *args, **kwargs)

            cls.__call__ = call
        return code

    # ------------------------------------------------------------------------------ submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Add a module under a path; False where something on the way is no module."""
        *prefix, last = target.split(".")
        owner: Any = self
        for name in prefix:
            inner = getattr(owner, name, None)
            if inner is None:
                inner = Module()
                setattr(owner, name, inner)
            if not isinstance(inner, Module):
                return False
            owner = inner
        owner.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module under a path; False where there is none."""
        *prefix, last = target.split(".")
        owner: Any = self
        for name in prefix:
            owner = getattr(owner, name, None)
            if not isinstance(owner, Module):
                return False
        if not isinstance(getattr(owner, last, None), Module):
            return False
        delattr(owner, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that no node of the graph calls or reads."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("get_attr", "call_module"):
                parts = node.target.split(".")
                used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
                if node.op == "call_module":
                    inside = self.get_submodule(node.target).named_modules()
                    used.update(f"{node.target}.{name}" for name, _ in inside if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # -------------------------------------------------------------------------------- printing

    def __str__(self) -> str:
        note = "# To see more debug info, please use `graph_module.print_readable()`"
        return f"{super().__str__()}\n{self._code}\n{note}"

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        **options: Any,
    ) -> str:
        """Print the code as that of a class, with the shapes that nodes have in `meta`."""
        code = self._graph.python_code(
            root_module="self", verbose=True, include_stride=include_stride,
            include_device=include_device, colored=colored, **options,
        ).src  # fmt: skip
        text = _readable(self, type(self).__name__, code, include_stride, include_device)
        if print_output:
            print(text)
        return text

    def to_folder(self, folder: Any, module_name: str = "FxModule") -> None:
        """Not there: save the module with `torch.save`."""
        raise NotImplementedError("tapegrad has no GraphModule.to_folder: use torch.save")

    # --------------------------------------------------------------------------------- copying

    def __reduce__(self) -> tuple:
        body = {k: v for k, v in self.__dict__.items() if k not in _NOT_SAVED}
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            raise NotImplementedError(
                "tapegrad cannot pickle a traced function whose arguments are lists or "
                "dictionaries: save its state_dict"
            )
        imports, _ = _source_with_imports(self._graph.python_code(root_module="self"))
        return reduce_graph_module, (body, imports)

    def __deepcopy__(self, memo: dict) -> "GraphModule":
        made = Module()
        memo[id(self)] = result = type(self).__new__(type(self))
        body = {k: v for k, v in self.__dict__.items() if k not in _NOT_COPIED}
        made.__dict__ = copy.deepcopy(body, memo)
        graph = copy.deepcopy(self._graph, memo)
        GraphModule.__init__(result, made, graph, type(self).__name__)
        for key, value in made.__dict__.items():
            if key not in ("_graph", "_code"):
                result.__dict__[key] = value
        for name, value in result.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(result, name, value)
        return result

    def _replicate_for_data_parallel(self) -> "GraphModule":
        result = self.__copy__()
        result._is_replica = True
        return result

    def __copy__(self) -> "GraphModule":
        result = GraphModule(self, self.graph, type(self).__name__)
        result.meta = self.meta
        return result


_NOT_SAVED = frozenset(
    "_graph _lineno_map _replace_hooks _create_node_hooks _erase_node_hooks _deepcopy_hooks".split()
)
_NOT_COPIED = _NOT_SAVED | {"_in_spec", "_out_spec"}


def _readable(module: Any, name: str, code: str, include_stride: bool, include_device: bool) -> str:
    def indented(text: str) -> str:
        lines = text.lstrip("\n").split("\n")
        return "\n".join(f"    {line}" if line.strip() else "" for line in lines)

    inner = [
        _readable(
            child, child_name,
            child._graph.python_code(
                "self", verbose=True, include_stride=include_stride, include_device=include_device
            ).src,
            include_stride, include_device,
        )
        for child_name, child in module.named_children()
        if isinstance(child, GraphModule)
    ]  # fmt: skip
    text = f"class {name}(torch.nn.Module):\n{indented(code)}"
    return text.rstrip(" ") + "".join(f"\n{indented(each)}" for each in inner)


_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"

__getattr__ = _refuses(__name__)
