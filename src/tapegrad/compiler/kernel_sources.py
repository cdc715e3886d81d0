"""The sources of kernels, as a file holds them that runs without tapegrad.

A function stands there with the functions, classes and constants that it uses, those before it.
"""

import ast
import builtins
import importlib
import inspect
import sys
import types
from textwrap import dedent

import numpy as np

from tapegrad.arrays.numpy.blas_threads import DEEP, RUN, RUNS, WIDE
from tapegrad.arrays.numpy.blocks import PRODUCT
from tapegrad.arrays.signature import Like
from tapegrad.compiler.whose_code import names_of
from tapegrad.core.annotations import Any
from tapegrad.core.dtype import FLOAT8_IN_USE
from tapegrad.core.errors import runtime_error
from tapegrad.core.memory_format import memory_format


def constant(x: Any, kernels: "Kernels") -> str:
    """An expression for an object that the program was handed."""
    if isinstance(x, np.ndarray):
        return f"np.array({x.tolist()!r}, '{x.dtype}').reshape({x.shape})"
    if isinstance(x, np.generic):
        return f"np.array({x.item()!r}, '{x.dtype}')[()]"
    if isinstance(x, np.dtype) or hasattr(x, "is_floating_point"):
        return f"np.dtype({str(getattr(x, 'numpy', x))!r})"
    if isinstance(x, type):
        return f"np.{x.__name__}" if issubclass(x, np.generic) else x.__name__
    if isinstance(x, types.FunctionType):
        return kernels.add(x)
    if x is FLOAT8_IN_USE:
        return "[]"  # such a file has none of their dtypes
    if type(x) in (tuple, list, set, frozenset):
        parts = ", ".join(constant(each, kernels) for each in x)
        return f"{type(x).__name__}(({parts}{',' * bool(parts)}))"
    if type(x) is dict:
        pairs = [f"{constant(k, kernels)}: {constant(v, kernels)}" for k, v in x.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(x, float):
        return f"float({str(x)!r})"
    if isinstance(x, Like):
        given = f"shape={x.shape}, dtype=np.dtype({str(x.dtype)!r})"
        return f"SimpleNamespace({given}, ndim={x.ndim}, size={x.size})"
    if isinstance(x, memory_format):
        return repr(str(x))
    if isinstance(x, (bool, int, complex, str, bytes, type(None), range, type(Ellipsis), slice)):
        return repr(x)
    if type(x).__module__.startswith("tapegrad.arrays.numpy."):
        return kernels.add_object(x)
    raise runtime_error(
        f"The program was handed a {type(x).__name__}, which no file can hold", "Save another one."
    )


_STDLIB = sys.stdlib_module_names
_PLAIN = {
    "memory_pool.empty": "def {}(size, dtype):\n    return np.empty(size, dtype)",
    "memory_pool.zeros": "def {}(shape, dtype):\n    return np.zeros(shape, dtype)",
    "memory_pool.memory_for": "def {}(x):\n    return np.empty(x.shape, x.dtype)",
    "float8.to_float8": "def {}(x, dtype):\n    raise NotImplementedError('float8')",
    "float8.is_float8": "def {}(dtype):\n    return False",
    "blocks.blockwise": "def {}(function, arrays):\n    return None",
    "blocks.share_out": "def {}(n, size, work, step=1):\n    return [work(0, n)]",
    "blas_threads.share_products": "def {}(n, size, work, step=1):\n    return [work(0, n)]",
    "blas_threads.one_blas_thread": (
        "class {}:\n    def __enter__(self):\n        pass\n\n"
        "    def __exit__(self, *error):\n        pass"
    ),
    "blas_threads.product": (
        "def {}(a, b, out=None):\n"
        "    rows, (depth, n) = len(a), b.shape\n"
        "    amount, length = a.size * n, max(rows, n)\n"
        f"    count = min({RUNS}, amount // {RUN}, length // {WIDE}) if depth >= {DEEP} else 1\n"
        "    if out is None:\n"
        f"        if count < 2 and amount >= {PRODUCT}:\n"
        "            return np.dot(a, b)\n"
        "        out = np.empty((rows, n), a.dtype)\n"
        "    ends = [length * i // max(count, 1) for i in range(max(count, 1) + 1)]\n"
        "    for i, j in zip(ends[:-1], ends[1:]):\n"
        "        if rows >= n:\n"
        "            np.matmul(a[i:j], b, out[i:j])\n"
        "        else:\n"
        "            np.matmul(a, b[:, i:j], out[:, i:j])\n"
        "    return out"
    ),
    "blas_threads.sum_products": (
        "def {}(n, size, work, most):\n"
        "    count, total = min(n, most), None\n"
        "    for i in range(count):\n"
        "        part = work(n * i // count, n * (i + 1) // count)\n"
        "        total = part if total is None else np.add(total, part, out=total)\n"
        "    return total"
    ),
    "blas_threads.products": "def {}(a, b):\n    return np.matmul(a, b)",
    "threads.beside": (
        "def {}(work, calls, n_ready):\n"
        "    made = []\n\n"
        "    def need(i):\n"
        "        while len(made) <= i:\n"
        "            made.append(calls[len(made)]())\n\n"
        "    work(SimpleNamespace(need=need, allow=lambda n: None))\n"
        "    need(len(calls) - 1)"
    ),
    "blocks.run_blocks": "def {}(n, work, *rest):\n    work(0, n)",
}
"""What only saves memory or uses several cores, as it is written where that does not matter."""


class Kernels:
    """Sources of functions and classes, with those of what they use before them."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self._kept: list[Any] = []  # so that their ids are theirs
        self._names: dict[int, str] = {}
        self._taken: set[str] = {"program", "inputs", "expect", "np", "operator", *dir(builtins)}

    def add(self, function: Any) -> str:
        """The name of a function or class in the file."""
        for module, prefix in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
            name = getattr(function, "__name__", "")
            if name and getattr(module, name, None) is function:
                return f"{prefix}.{name}"
        function = inspect.unwrap(function)
        if id(function) in self._names:
            return self._names[id(function)]
        plain = _PLAIN.get(f"{function.__module__.rpartition('.')[2]}.{function.__name__}")
        if plain is not None:
            name = self._named(function.__name__, function)
            self.sources.append(plain.format(name))
            return name
        is_function = isinstance(function, types.FunctionType) and not function.__closure__
        if not is_function and not isinstance(function, type):
            raise runtime_error(
                f"The program calls {getattr(function, '__qualname__', function)!s}, which is no "
                "plain function of NumPy",
                "It runs where tapegrad is: pickle the model, or write its source to a log.",
            )
        name = self._named(function.__name__, function)
        self.sources.append(self._source(function, name))
        return name

    def add_object(self, x: Any) -> str:
        """The name of an object of one of the kernels' own classes, with its attributes."""
        if id(x) in self._names:
            return self._names[id(x)]
        kind = self.add(type(x))
        slots = [name for each in type(x).__mro__ for name in getattr(each, "__slots__", ())]
        held = {name: getattr(x, name) for name in slots if hasattr(x, name)}
        held |= getattr(x, "__dict__", {})
        name = self._named(type(x).__name__.lower(), x)
        self.sources.append(f"{name} = {kind}.__new__({kind})")  # what it holds may hold it
        lines = [f"{name}.{key} = {constant(each, self)}" for key, each in held.items()]
        self.sources.append("\n".join(lines))
        return name

    def _named(self, name: str, x: Any) -> str:
        """A name for an object that nothing else in the file has."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self._names[id(x)] = name
        self._kept.append(x)
        return name

    def _source(self, thing: Any, name: str) -> str:
        """The source of a function or class under a name of the file's."""
        tree: Any = ast.parse(dedent(inspect.getsource(thing))).body[0]
        tree.name = name
        if isinstance(thing, type):
            namespace = vars(sys.modules[thing.__module__])
            codes = [
                inspect.unwrap(each).__code__
                for each in map(_function_of, vars(thing).values())
                if each is not None
            ]
            bases = [x.id for x in tree.bases if isinstance(x, ast.Name)]
        else:
            namespace, codes, bases = thing.__globals__, [thing.__code__], []
        used = _used_names(tree)
        names = {}
        for each in dict.fromkeys([*bases, *[x for code in codes for x in names_of(code)]]):
            if each in namespace:
                is_used = each in used or each in bases
                names[each] = self._global(thing, each, namespace[each], is_used)
        tree = _Plainer(self, names).visit(tree)
        return ast.unparse(ast.fix_missing_locations(tree))

    def _global(self, user: Any, name: str, x: Any, is_used: bool) -> str:
        """What a global name is called in the file, which is made to have it.

        A class that is not used, but asked about by `isinstance`, is an empty one there.
        """
        if isinstance(x, types.ModuleType):
            if x is np:
                return "np"
            if x.__name__.partition(".")[0] == "tapegrad":
                raise runtime_error(
                    f"The program calls {user.__qualname__}, which needs {x.__name__}",
                    "It runs where tapegrad is.",
                )
            return self._line(name, x, f"import {x.__name__} as {{}}")
        if (getattr(x, "__module__", None) or "").partition(".")[0] in _STDLIB:
            return self._line(name, x, f"from {x.__module__} import {x.__name__} as {{}}")
        if isinstance(x, type) and not issubclass(x, np.generic):
            if is_used:
                return self.add(x)
            return self._line(name, x, "class {}:\n    pass  # no array is one\n")
        if callable(x) and not isinstance(x, type):
            return self.add(x)
        return self._line(name, x, f"{{}} = {constant(x, self)}")

    def _line(self, name: str, x: Any, line: str) -> str:
        """The name under which the file has an object, by a line that gives it that name."""
        if id(x) not in self._names:
            self.sources.append(line.replace("{}", self._named(name, x), 1))
        return self._names[id(x)]


def _function_of(x: Any) -> Any:
    """The function of a method or property; None for other attributes of a class."""
    if isinstance(x, property):
        return x.fget
    x = inspect.unwrap(getattr(x, "__func__", x))
    return x if isinstance(x, types.FunctionType) else None


def _used_names(tree: ast.AST) -> set[str]:
    """The names that are called, or whose attributes are read."""
    found = set()
    for each in ast.walk(tree):
        used = each.func if isinstance(each, ast.Call) else getattr(each, "value", None)
        if isinstance(each, (ast.Call, ast.Attribute)) and isinstance(used, ast.Name):
            found.add(used.id)
    return found


class _Plainer(ast.NodeTransformer):
    """A function or class less its decorators, annotations and docstrings; what it imports of
    tapegrad's functions stands in the file."""

    def __init__(self, kernels: Kernels, names: dict[str, str]):
        self._kernels, self._globals = kernels, names

    def visit_Name(self, node: ast.Name) -> Any:
        """Call a global as the file does."""
        node.id = self._globals.get(node.id, node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Strip a function."""
        self.generic_visit(node)
        kept = ("property", "classmethod", "staticmethod")
        node.decorator_list = [x for x in node.decorator_list if getattr(x, "id", "") in kept]
        node.returns = None
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for each in (*every, node.args.vararg, node.args.kwarg):
            if each is not None:
                each.annotation = None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Strip a class."""
        self.generic_visit(node)
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Strip a local variable."""
        if node.value is None:
            return ast.Pass()
        return ast.Assign([node.target], self.visit(node.value))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """Take functions from this file."""
        module = node.module or ""
        if module.partition(".")[0] != "tapegrad":
            return node
        lines: list[Any] = []
        for each in node.names:
            x = getattr(importlib.import_module(module), each.name, None)
            if not callable(x):
                text = f"{module}.{each.name} is tapegrad's"
                lines += ast.parse(f"raise NotImplementedError({text!r})").body
                continue
            name, there = each.asname or each.name, self._kernels.add(x)
            lines += ast.parse(f"{name} = {there}" if name != there else "pass").body
        return lines
