"""A graph as the source of a Python function."""

import enum
import inspect
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tapegrad.core.missing import torch_name
from tapegrad.fx.namespace import _Namespace, custom_builtins
from tapegrad.fx.node import Node
from tapegrad.fx.qualified_name import _get_qualified_name, _type_repr, reachable

magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}",
    "ge": "{} >= {}", "pos": "+{}", "neg": "-{}", "invert": "~{}", "add": "{} + {}",
    "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}",
    "div": "{} / {}", "mod": "{} % {}", "lshift": "{} << {}", "rshift": "{} >> {}",
    "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]",
    "matmul": "{} @ {}", "pow": "{} ** {}",
}  # fmt: skip
"""Functions of `operator` that generated code writes as the operator."""

inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}",
    "imod": "{} %= {}", "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}",
    "ipow": "{} **= {}", "irshift": "{} >>= {}", "isub": "{} -= {}", "itruediv": "{} /= {}",
    "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}  # fmt: skip

_DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64",
    "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "bool": "b8", "complex32": "c32", "complex64": "c64", "complex128": "c128",
}  # fmt: skip


@dataclass
class PythonCode:
    """The source of a function, the globals that it needs, and the node of each of its lines."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = field(default=None)
    _prologue_start: int = 0


class _PyTreeInfo(NamedTuple):
    """How the inputs and outputs of a function are laid out in lists and dictionaries."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


def _format_target(base: str, target: str) -> str:
    """The expression for the attribute `target`, with dots, of `base`."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


def last_uses(nodes: list[Node]) -> dict[Node, list[Node]]:
    """For each node, the values that nobody needs after it."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for node in reversed(nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(node, []).append(used)
    return found


class CodeGen:
    """Writes the function of a graph; `Graph.set_codegen` sets another."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The line `def forward(self, ...):`."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if expanded_def:
            inside = "".join(f"\n    {each}," for each in free_vars) + "\n"
        else:
            inside = ", ".join(free_vars)
        return f"def {self._func_name}({inside}){maybe_return_annotation}:"

    def generate_output(
        self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[object], str] | None = None
    ) -> str:
        """The line that returns the result."""
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the function as an interpreter gives them to the placeholders."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The result as the caller expects it."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the function needs besides those of its nodes."""
        return []

    def _gen_python_code(
        self, nodes: list[Node], root_module: str, namespace: _Namespace, **options: Any
    ) -> PythonCode:
        return _Writer(self, nodes, root_module, namespace, **options).write()


class _PyTreeCodeGen(CodeGen):
    """For functions of which arguments are lists or dictionaries of what the graph takes."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        from tapegrad.utils import _pytree

        return _pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out: Any) -> Any:
        from tapegrad.utils import _pytree

        if self.pytree_info.out_spec is None:
            return out
        leaves = out if isinstance(out, (list, tuple)) else [out]
        return _pytree.tree_unflatten(list(leaves), self.pytree_info.out_spec)

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        names = self.pytree_info.orig_args
        given = [name.partition(" ")[0] for name in free_vars]
        own = list(names)
        if not own or own[0] != "self":
            own.insert(0, "self")
        head = super().gen_fn_def(own, maybe_return_annotation, expanded_def=expanded_def)
        outer = [name for name in own if name != "self"]
        if not given:
            return head
        return (
            f"{head}\n    {', '.join(given)}, = fx_pytree.tree_flatten_spec("
            f"[{', '.join(outer)}], self._in_spec)"
        )

    def generate_output(
        self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[object], str] | None = None
    ) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({(repr_fn or repr)(output_args)}, self._out_spec)"


class _Writer:
    """One run of a `CodeGen` over the nodes."""

    def __init__(
        self,
        codegen: CodeGen,
        nodes: list[Node],
        root_module: str,
        namespace: _Namespace,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        **others: Any,
    ) -> None:
        unknown = [name for name, value in others.items() if value]
        if unknown:
            raise NotImplementedError(f"tapegrad's code of graphs has no option {unknown[0]!r}")
        self.codegen, self.nodes, self.root = codegen, nodes, root_module
        self.namespace, self.verbose, self.expanded_def = namespace, verbose, expanded_def
        self.stride, self.device, self.colored = include_stride, include_device, colored
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.free: list[str] = []
        self.annotation = ""
        self.last_trace: str | None = ""
        self.freed = last_uses(nodes)

    def write(self) -> PythonCode:
        for name, known in custom_builtins().items():
            self.globals[self.namespace.create_name(name, known.obj)] = known.obj
        for name, value in self.codegen.additional_globals():
            self.add_global(name, value)
        lines: list[str] = []
        for position, node in enumerate(self.nodes):
            text = self.statement(node)
            comment = self.comment(node) if self.verbose else ""
            if text:
                lines.append(f"# COUNTER: {position}\n{comment}{text}\n")
        if not lines:
            lines.append("pass\n")
        lines[0] = lines[0].replace("\n\n", "\n", 1)
        if self.codegen._body_transformer:
            lines = self.codegen._body_transformer(lines)
        given = {"expanded_def": True} if self.expanded_def else {}  # others know no more
        head = self.codegen.gen_fn_def(self.free, self.annotation, **given)
        body, numbers = _without_counters("".join(lines).split("\n"), head.count("\n"))
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        source = f"\n{wraps}\n\n{head}\n" + "\n".join(f"    {line}" for line in body)
        start = wraps.count("\n") + 4
        return PythonCode(source, self.globals, numbers, start)

    # ---------------------------------------------------------------------------------- names

    def add_global(self, hint: str, obj: Any) -> str:
        if _is_from_torch(obj) and reachable(hint):
            return hint
        name = self.namespace.create_name(hint.replace(".", "_"), obj)
        if self.globals.setdefault(name, obj) is not obj:
            raise AssertionError(f"two objects called {name}")
        return name

    def type_name(self, annotation: Any) -> str:
        """An annotation as the code writes it."""
        if annotation == ():
            return "()"
        if annotation is None or annotation is type(None):
            return "NoneType" if annotation is type(None) else "None"
        arguments = typing.get_args(annotation)
        if isinstance(annotation, types.UnionType):
            return "|".join(map(self.type_name, arguments))
        if arguments and typing.get_origin(annotation) is not typing.Literal:
            inside = ",".join(map(self.type_name, arguments))
            return f"{self.generic_name(annotation)}[{inside}]"
        if isinstance(annotation, type) and annotation.__module__ == "builtins":
            return annotation.__name__
        return self.add_global(_type_repr(annotation), annotation)

    def generic_name(self, annotation: Any) -> str:
        origin: Any = typing.get_origin(annotation)
        if isinstance(annotation, types.GenericAlias):
            return self.type_name(origin)
        if origin is typing.Union:
            return self.add_global("typing.Union", typing.Union)
        short = getattr(annotation, "_name", None)
        generic = getattr(typing, short, origin) if short else origin
        return self.add_global(f"typing.{short or origin.__name__}", generic)

    def repr(self, arg: Any) -> str:
        """A value as the code writes it."""
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple):
            if hasattr(arg, "_fields"):
                kind = type(arg)
                name = self.add_global(_type_repr(kind), kind)
                return f"{name}({', '.join(map(self.repr, arg))})"
            return f"({', '.join(map(self.repr, arg))}{',' if len(arg) == 1 else ''})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.repr, arg))}]"
        if isinstance(arg, dict):
            colored, self.colored = self.colored, False
            text = ", ".join(f"{self.repr(k)}: {self.repr(v)}" for k, v in arg.items())
            self.colored = colored
            return self.paint(f"{{{text}}}", "34")
        if isinstance(arg, slice):
            return f"slice({self.repr(arg.start)}, {self.repr(arg.stop)}, {self.repr(arg.step)})"
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, type) or isinstance(arg, types.FunctionType):
            return self.add_global(_get_qualified_name(arg), arg)
        return self.paint(repr(arg), "34")

    def paint(self, text: str, *codes: str) -> str:
        """Text in a colour, where colours are asked for."""
        return _painted(text, *codes) if self.colored else text

    # ---------------------------------------------------------------------------------- lines

    def statement(self, node: Node) -> str:
        if node.op == "placeholder":
            return self.placeholder(node)
        if node.op == "output":
            if node.type is not None:
                self.annotation = f" -> {self.type_name(node.type)}"
            write: Any = self.codegen.generate_output  # a program's own may take the values alone
            known = "repr_fn" in inspect.signature(write).parameters
            return write(node.args[0], **{"repr_fn": self.repr} if known else {})
        return self.assignment(node) + self.deletions(node)

    def placeholder(self, node: Node) -> str:
        default = f" = {self.repr(node.args[0])}" if node.args else ""
        shown = self.tensor_type(node) if self.verbose else ""
        given = f" : {self.type_name(node.type)}" if node.type is not None else shown
        self.free.append(f"{node.target}{given}{default}")
        raw = node.target.replace("*", "")
        return f"{node!r} = {raw}" if raw != repr(node) else ""

    def arguments(self, args: tuple, kwargs: dict) -> str:
        named = (f"{name} = {self.repr(value)}" for name, value in kwargs.items())
        return ", ".join([*map(self.repr, args), *named])

    def assignment(self, node: Node) -> str:
        shown = self.tensor_type(node) if self.verbose else ""
        left = f"{node!r}{'' if node.type is None else f' : {self.type_name(node.type)}'}{shown}"
        if node.op == "call_method":
            owner = self.repr(node.args[0])
            call = _format_target(owner, node.target)
            return f"{left} = {call}({self.arguments(node.args[1:], node.kwargs)})"
        if node.op == "call_module":
            call = _format_target(self.root, node.target)
            return f"{left} = {call}({self.arguments(node.args, node.kwargs)})"
        if node.op == "get_attr":
            return f"{left} = {_format_target(self.root, node.target)}"
        return self.call_function(node, left)

    def call_function(self, node: Node, left: str) -> str:
        target, args = node.target, node.args
        if getattr(target, "__module__", None) == "_operator" and not node.kwargs:
            if target.__name__ in magic_methods:
                return f"{left} = {magic_methods[target.__name__].format(*map(self.repr, args))}"
            if target.__name__ in inplace_methods:
                done = inplace_methods[target.__name__].format(*map(self.repr, args))
                return f"{done};  {left} = {self.repr(args[0])}"
        qualified = _get_qualified_name(target)
        name = self.add_global(qualified, target)
        if name == "getattr" and len(args) == 2 and isinstance(args[1], str):
            if args[1].isidentifier():
                return f"{left} = {_format_target(self.repr(args[0]), args[1])}"
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)
        return f"{left} = {name}({self.arguments(args, node.kwargs)})"

    def deletions(self, node: Node) -> str:
        names = list(self.freed.get(node, ()))
        if not node.users:
            names.append(node)
        return f";  {self.paint(' = '.join([*map(repr, names), 'None']), '2')}" if names else ""

    # -------------------------------------------------------------------------------- verbose

    def comment(self, node: Node) -> str:
        if node.op in ("placeholder", "output"):
            return ""
        trace = node.stack_trace
        if (trace or None) == self.last_trace:
            return ""
        self.last_trace = trace or None
        where = _where(trace) if trace else "No stacktrace found for following nodes"
        return f"\n{self.paint(f'# {where}', '2')}\n"

    def tensor_type(self, node: Node) -> str:
        value: Any = node.meta.get(
            "val", node.meta.get("tensor_meta", node.meta.get("example_value"))
        )
        if not (hasattr(value, "shape") and hasattr(value, "dtype")):
            return ""
        name = str(value.dtype).rpartition(".")[2]
        text = self.paint(_DTYPES.get(name, name), "31") + self.paint(f"{list(value.shape)}", "34")
        if self.stride and callable(value.stride):
            text += self.paint(str(list(value.stride())), "2", "34")
        if self.device and hasattr(value, "device"):
            text += self.paint(str(value.device), "2", "32")
        return f': "{text}"'


def _painted(text: str, *codes: str) -> str:
    return "".join(f"\x1b[{code}m" for code in codes) + f"{text}\x1b[0m"


def _where(trace: str) -> str:
    match = re.findall(r'File "(.*)", line (\d+), in (.*)\n\s*(.*)', trace)
    if not match:
        return trace.strip().splitlines()[-1]
    file, line, function, code = match[-1]
    return f"File: {file}:{line} in {function}, code: {code}"


def _without_counters(lines: list[str], above: int) -> tuple[list[str], dict[int, int | None]]:
    """The lines without the comments that say of which node they are, and these by line."""
    kept: list[str] = []
    numbers: dict[int, int | None] = {}
    current: int | None = None
    for line in lines:
        match = re.fullmatch(r"# COUNTER: (\d+)", line)
        if match:
            current = int(match[1])
        else:
            kept.append(line)
            numbers[len(kept) + above] = current
    return kept, numbers


def _is_from_torch(obj: Any) -> bool:
    """Whether generated code reaches `obj` as `torch....`."""
    module = getattr(obj, "__module__", None)
    if module is not None:
        path = torch_name(module).split(".")
        return path[0] == "torch"
    return False
