"""A program as a file that runs alone: Python with NumPy, or C.

What the program calls of tapegrad's own kernels stands in the file, too: the source of a function
is copied with that of the functions it calls, as long as they are plain functions of NumPy.
"""

import ast
import builtins
import importlib
import inspect
import re
import sys
import types
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np

from tapegrad.arrays.numpy.blas_threads import DEEP, RUN, RUNS, WIDE
from tapegrad.arrays.numpy.blocks import PRODUCT
from tapegrad.arrays.signature import Like
from tapegrad.arrays.traced.program import Program, Scalar, Value
from tapegrad.arrays.traced.source import source_of
from tapegrad.compiler.sources import names_of
from tapegrad.core.dtype import FLOAT8_IN_USE
from tapegrad.core.errors import runtime_error
from tapegrad.core.memory_format import memory_format

_MAIN = '''

def inputs(seed=0):
    """Random arrays in the places of the inputs, and the numbers that it was recorded with."""
    random = np.random.default_rng(seed)
    return [{inputs}]


if __name__ == "__main__":
    from time import perf_counter

    given = inputs()
    program(*given)
    start = perf_counter()
    for _ in range(100):
        results = program(*given)
    print(f"{{(perf_counter() - start) * 1e4:.1f}} us a call")
    for x in results:
        print(x.shape, x.dtype, float(np.asarray(x).ravel()[0]) if x.size else "")
'''


def save(entry: Any, path: str) -> None:
    """Write the program of an entry to a file."""
    file = Path(path)
    if file.suffix == ".c":
        text = _c_source(entry)
    elif file.suffix == ".py":
        text = python_source(entry)
    else:
        raise runtime_error(
            f"save() writes .py or .c files, not {file.suffix or file.name!r}", "Name it step.py."
        )
    file.write_text(text)


def _c_source(entry: Any) -> str:
    from tapegrad.compiler.c_backend.standalone import standalone

    numbers = {x.number: _number(x, entry) for x in entry.part.inputs if isinstance(x, Scalar)}
    return standalone(entry.part, entry.outputs, names=entry.names, numbers=numbers)


def python_source(entry: Any) -> str:
    """The NumPy source of an entry with all that it calls, and a main that times it."""
    program: Program = entry.part
    if program.drawn or any(x.text.startswith(("draw.", "make.")) for x in program.instructions):
        raise runtime_error(
            "The program draws random numbers, or calls Python functions of the user's",
            "A program that only computes can be saved: in eval mode, without dropout.",
        )
    kernels = _Kernels()
    names = {}
    for text, function in program.functions.items():
        if text.startswith(("xp.", "order.")):
            names[text] = kernels.add(function)
    body = source_of(program, entry.outputs)
    for text in sorted(names, key=len, reverse=True):
        body = re.sub(rf"(?<![\w.]){re.escape(text)}(?=\()", names[text], body)
    for number, name in entry.names.items():
        body = re.sub(rf"\bv{number}\b", name, body)
    constants = [f"c{i} = {_constant(x, kernels)}" for i, x in enumerate(program.constants)]
    given = ", ".join(_example(x, entry) for x in program.inputs)
    head = '"""A program that tapegrad has compiled: it needs NumPy and nothing else."""\n\n'
    head += "import operator\nfrom types import SimpleNamespace\n\n"
    head += "import numpy as np\nfrom numpy import inf, nan\n\n\n"
    expect = (
        "def expect(found, recorded, what):\n"
        "    if found != recorded and not (found != found and recorded != recorded):\n"
        '        raise ValueError(f"{what} was {recorded!r} and is {found!r}")\n\n\n'
    )
    parts = [head, expect, *[f"{x}\n\n\n" for x in kernels.sources], "\n".join(constants), "\n\n\n"]
    return "".join(parts) + body + "\n" + _MAIN.format(inputs=given)


def _example(x: Any, entry: Any) -> str:
    """An expression for an array like an input of the program."""
    if isinstance(x, Scalar):
        return repr(_number(x, entry))
    kind = x.dtype.kind
    if kind == "f":
        made = f"random.random({x.shape}).astype('{x.dtype}')"
    elif kind in "iub":
        made = f"np.zeros({x.shape}, '{x.dtype}')"
    else:
        made = f"random.standard_normal({x.shape}).astype('{x.dtype}')"
    return made if _is_row_major(x) else f"_laid_out({made}, {x.strides})"


def _number(x: Scalar, entry: Any) -> float:
    """The number that an input of the program is now."""
    n = entry.part.inputs.index(x) - len(entry.reads)
    owner, key, index = entry.recording.numbers[entry.numbers[n]]
    return owner[key] if index is None else owner[key][index]


def _is_row_major(x: Value) -> bool:
    step = x.dtype.itemsize
    for n, stride in zip(reversed(x.shape), reversed(x.strides), strict=True):
        if n != 1 and stride != step:
            return False
        step *= n
    return True


def _constant(x: Any, kernels: "_Kernels") -> str:
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
        parts = ", ".join(_constant(each, kernels) for each in x)
        return f"{type(x).__name__}(({parts}{',' * bool(parts)}))"
    if type(x) is dict:
        pairs = [f"{_constant(k, kernels)}: {_constant(v, kernels)}" for k, v in x.items()]
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
    "blocks.run_blocks": "def {}(n, work, *rest):\n    work(0, n)",
}
"""What only saves memory or uses several cores, as it is written where that does not matter."""


class _Kernels:
    """Sources of functions, with those of what they call before them."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self._kept: list[Any] = []  # so that their ids are theirs
        self._names: dict[int, str] = {}
        self._taken: set[str] = {"program", "inputs", "expect", "np", "operator", *dir(builtins)}

    def add(self, function: Any) -> str:
        """The name of a function in the file."""
        for module, prefix in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
            name = getattr(function, "__name__", "")
            if name and getattr(module, name, None) is function:
                return f"{prefix}.{name}"
        function = inspect.unwrap(function)
        if id(function) in self._names:
            return self._names[id(function)]
        if not isinstance(function, types.FunctionType) or function.__closure__:
            raise runtime_error(
                f"The program calls {getattr(function, '__qualname__', function)!s}, which is no "
                "plain function of NumPy",
                "It runs where tapegrad is: pickle the model, or write its source to a log.",
            )
        name = function.__name__
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self._names[id(function)] = name
        plain = _PLAIN.get(f"{function.__module__.rpartition('.')[2]}.{function.__name__}")
        if plain is not None:
            self.sources.append(plain.format(name))
            return name
        self.sources.append(self._source(function, name))
        return name

    def _source(self, function: Any, name: str) -> str:
        tree: Any = ast.parse(dedent(inspect.getsource(function))).body[0]
        tree.name = name
        names = {}
        for each in names_of(function.__code__):
            if each in function.__globals__:
                names[each] = self._global(function, each, function.__globals__[each])
        _refuse_classes(function, tree)
        tree = _Plainer(self, names).visit(tree)
        return ast.unparse(ast.fix_missing_locations(tree))

    def _global(self, function: Any, name: str, x: Any) -> str:
        """What a global name of a function is called in the file, which is made to have it."""
        if isinstance(x, types.ModuleType):
            if x is np:
                return "np"
            if x.__name__.partition(".")[0] == "tapegrad":
                raise runtime_error(
                    f"The program calls {function.__qualname__}, which needs {x.__name__}",
                    "It runs where tapegrad is.",
                )
            return self._line(name, x, f"import {x.__name__} as {{}}")
        if (getattr(x, "__module__", None) or "").partition(".")[0] in _STDLIB:
            return self._line(name, x, f"from {x.__module__} import {x.__name__} as {{}}")
        if isinstance(x, type) and not issubclass(x, np.generic):
            return self._line(name, x, "class {}:\n    pass  # no array is one\n")
        if callable(x) and not isinstance(x, type):
            return self.add(x)
        return self._line(name, x, f"{{}} = {_constant(x, self)}".replace("{{}}", "{}"))

    def _line(self, name: str, x: Any, line: str) -> str:
        """The name under which the file has an object, by a line that gives it that name."""
        if id(x) not in self._names:
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            self._names[id(x)] = name
            self._kept.append(x)
            self.sources.append(line.replace("{}", name, 1))
        return self._names[id(x)]


def _refuse_classes(function: Any, tree: ast.AST) -> None:
    """Raise for a function that makes objects of tapegrad's classes: the file has none of them."""
    for each in ast.walk(tree):
        used = each.func if isinstance(each, ast.Call) else getattr(each, "value", None)
        if isinstance(each, (ast.Call, ast.Attribute)) and isinstance(used, ast.Name):
            x = function.__globals__.get(used.id)
            if isinstance(x, type) and x.__module__.partition(".")[0] == "tapegrad":
                raise runtime_error(
                    f"The program calls {function.__qualname__}, which needs {x.__name__}",
                    "It runs where tapegrad is.",
                )


class _Plainer(ast.NodeTransformer):
    """A function less its decorators, annotations and docstrings; what it imports of tapegrad's
    functions stands in the file."""

    def __init__(self, kernels: _Kernels, names: dict[str, str]):
        self._kernels, self._globals = kernels, names

    def visit_Name(self, node: ast.Name) -> Any:
        """Call a global as the file does."""
        node.id = self._globals.get(node.id, node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Strip a function."""
        self.generic_visit(node)
        node.decorator_list, node.returns = [], None
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for each in (*every, node.args.vararg, node.args.kwarg):
            if each is not None:
                each.annotation = None
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
