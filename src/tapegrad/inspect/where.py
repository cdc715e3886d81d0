"""`tapegrad where`: the file and line of a public name, its rules, its kernel, its test."""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType

import tapegrad
from tapegrad.core.annotations import Any, OperatorLike

PACKAGE = Path(tapegrad.__file__).parent
TESTS = PACKAGE.parents[1] / "tests"
_HOMES = ("", "nn.functional", "nn", "optim", "linalg", "fft", "special", "Tensor", "func")
_DEPTH = 6  # functions that call each other between a public one and its operators


def where(name: str) -> str:
    """What there is to read about a public name, a line each.

    `name` is that of a function, method, layer or optimiser, with or without `torch.`; a name
    without a home is looked for in `torch`, `torch.nn.functional`, `torch.nn` and so on.

    Raises:
        LookupError: nothing public has that name.

    >>> from tapegrad.inspect.where import where
    >>> print(where("tanh"))  # doctest: +ELLIPSIS
    torch.tanh: operators/pointwise/trigonometry.py:...
      The hyperbolic tangent of each element.
      operator tanh: operators/pointwise/trigonometry.py:..., elementwise, node TanhBackward0
        vjp x: operators/pointwise/trigonometry.py:..., saves y
        jvp: the vjp rules, since the Jacobian is diagonal
        with xp.tanh...
    """
    full, found = _find(name)
    lines = [f"torch.{full}: {place(found)}"]
    summary = (inspect.getdoc(found) or "").partition("\n")[0]
    if summary:
        lines.append(f"  {summary}")
    for method in ("forward", "update", "step"):
        if inspect.isclass(found) and method in vars(found):
            lines.append(f"  {method}: {place(vars(found)[method])}")
    operators = operators_of(found)
    for op in operators:
        lines += [f"  {line}" for line in _operator(op)]
    lines += [f"  test: {each}" for each in _tests(found, operators)]
    return "\n".join(lines)


def _find(name: str) -> tuple[str, Any]:
    """The full name and the object that a name means."""
    asked = re.sub(r"^(torch|tapegrad)\.", "", name)
    asked = re.sub(r"^F\.", "nn.functional.", asked)
    for home in _HOMES:
        full = f"{home}.{asked}" if home else asked
        found: Any = tapegrad
        for part in full.split("."):
            try:
                found = getattr(found, part)
            except (AttributeError, ImportError):
                found = None
                break
        if found is not None and not isinstance(found, ModuleType):
            return full, found
    raise LookupError(f"tapegrad has no {name!r}: dir(torch) lists what there is")


def declaration(x: Any) -> Any:
    """The function or class that was written down for a public name."""
    x = getattr(x, "out_of_place", x)
    op: Any = getattr(x, "op", None)
    return op.forward if hasattr(op, "forward") else inspect.unwrap(x)


def place(x: Any) -> str:
    """The file and line of a declaration, relative to the package where it is inside."""
    x = declaration(x)
    if isinstance(x, property):
        x = x.fget
    try:
        file, (_, line) = inspect.getsourcefile(x), inspect.getsourcelines(x)
    except (OSError, TypeError):
        return f"{getattr(x, '__module__', type(x).__module__)}, without Python source"
    return f"{_short(str(file))}:{line}"


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else file


# --- the operators behind a function -------------------------------------------------------------


def operators_of(x: object) -> list[Any]:
    """The operators that a function calls, or the `forward` of a layer, in order."""
    found: dict[str, Any] = {}
    _collect(x, found, set(), _DEPTH)
    return list(found.values())


def _collect(
    x: object, found: dict[str, Any], seen: set[int], depth: int, owner: type | None = None
) -> None:
    if id(x) in seen:
        return
    seen.add(id(x))
    x = getattr(x, "out_of_place", x)
    op: Any = getattr(x, "op", None)
    if hasattr(op, "forward"):
        found.setdefault(op.name, op)
        return
    if inspect.isclass(x):
        owner, x = x, getattr(x, "forward", None)
    while depth and x is not None:  # a function, and what it was made of
        if inspect.isfunction(x):
            for value in _named(x, owner):
                if getattr(value, "op", None) is not None or _is_ours(value):
                    _collect(value, found, seen, depth - 1, owner)
        x = getattr(x, "__wrapped__", None)


def _is_ours(x: object) -> bool:
    """Whether an object is a function of the operators or of `nn`."""
    module = getattr(x, "__module__", None) or ""
    return inspect.isroutine(x) and module.startswith(("tapegrad.operators.", "tapegrad.nn."))


def _named(function: Callable, owner: type | None) -> Iterator[Any]:
    """What the names in a function's code stand for: globals, attributes of modules, methods."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        module: Any = None
        for name in code.co_names:
            value = getattr(module, name, None)
            if value is None:
                value = function.__globals__.get(name, getattr(owner, name, None))
            module = value if isinstance(value, ModuleType) else None
            if value is not None and module is None:
                yield value


# --- what an operator is made of -----------------------------------------------------------------


def _operator(op: OperatorLike) -> Iterator[str]:
    node = "" if op.kind == "constant" else f", node {op.node_name}"
    yield f"operator {op.name}: {place(op.forward)}, {op.kind}{node}"
    for name, rule in op.vjps.items():
        saved = [each for each in rule.names if each != "xp" and not op.is_cotangent(each)]
        kept = ", ".join(saved) if saved else "nothing"
        yield f"  vjp {name}: {place(rule.function)}, saves {kept}"
    if op.kind == "linear":
        yield "  jvp: the operator itself, since it is linear"
    elif op.kind == "elementwise" and op.jvps:
        yield "  jvp: the vjp rules, since the Jacobian is diagonal"
    else:
        for name, rule in op.jvps.items():
            yield f"  jvp {name}: {place(rule.function)}"
    standard = []
    for name in kernels_of(op):
        kernel = _kernel_place("numpy", name)
        if "/namespace.py:" in kernel or ".py:" not in kernel:
            standard.append(f"xp.{name}")
            continue
        yield f"  kernel {name}: {kernel}"
        if name in op.kernels:
            yield f"  batching rule {name}: {_kernel_place('batched', name)}"
    if standard:
        yield f"  with {', '.join(standard)} of the array standard"


def kernels_of(op: OperatorLike) -> list[str]:
    """The names of the array namespace that an operator's forward function and rules use."""
    namespace = import_module("tapegrad.arrays.numpy.namespace")
    functions: list[Callable] = [op.forward]
    functions += [rule.function for rule in (*op.vjps.values(), *op.jvps.values())]
    names: dict[str, None] = dict.fromkeys(op.kernels)
    if op.ufunc:
        names[op.ufunc] = None
    for function in functions:
        code = function.__code__
        if "xp" in code.co_varnames:
            names.update(dict.fromkeys(n for n in code.co_names if _is_kernel(namespace, n)))
    return list(names)


def _is_kernel(namespace: ModuleType, name: str) -> bool:
    return callable(getattr(namespace, name, None)) and not name.startswith("_")


def _kernel_place(backend: str, name: str) -> str:
    """Where a namespace has a kernel: a file of ours, or a function of NumPy's."""
    kernel = getattr(import_module(f"tapegrad.arrays.{backend}.namespace"), name, None)
    if kernel is None:
        return "none: the operator does without"
    module = getattr(kernel, "__module__", None) or "numpy"
    if module.startswith("tapegrad."):
        return place(kernel)
    return f"{module.partition('.')[0]}.{name}"


# --- tests ---------------------------------------------------------------------------------------


def _tests(x: object, operators: list) -> list[str]:
    """Where a checkout tests a name: its own file, and rows of the table of samples."""
    if not TESTS.is_dir():
        return ["in the source checkout, under tests/"]
    found = []
    file = Path(place(x).partition(":")[0])
    mirrored = TESTS / file.parent / f"test_{file.name}"
    if mirrored.exists():
        found.append(str(mirrored.relative_to(TESTS.parent)))
    for op in operators:
        row = re.compile(rf"^@row.*\n(?:@.*\n)*def {re.escape(op.name)}_?\(", re.MULTILINE)
        for path in sorted((TESTS / "samples").glob("*.py")):
            text = path.read_text(encoding="utf-8")
            match = row.search(text)
            if match:
                line = text.count("\n", 0, match.end()) + 1
                found.append(f"{path.relative_to(TESTS.parent)}:{line}, its row in all laws")
    return found


def print_where(names: list[str]) -> int:
    """Print `where` of each name; the exit status is 1 where there is no such name."""
    status = 0
    for name in names:
        try:
            print(where(name))
        except LookupError as error:
            print(f"tapegrad: {error}", file=sys.stderr)
            status = 1
    return status
