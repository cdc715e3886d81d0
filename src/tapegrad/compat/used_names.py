"""The names of `torch` that a program uses: found in its text, through its imports and aliases."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOTS = ("torch", "functorch", "tapegrad")
DEVICES = frozenset("cuda hpu mps mtia xla xpu".split())
_GUARDS = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")


@dataclass(frozen=True)
class Use:
    """A name that is used: where, and which keywords it is given, if it is called.

    Such as are False or None are left out. `device` is that of a literal, `"cuda:0"`, and says
    where a tensor or a module is to go.
    """

    name: str
    line: int
    keywords: tuple[str, ...] = ()
    device: str = ""


@dataclass
class Program:
    """One file: the names of `torch` in it, and the modules that it imports besides."""

    path: Path
    uses: list[Use] = field(default_factory=list)
    imports: list[tuple[str, int]] = field(default_factory=list)  # and how many dots before


def read(path: Path) -> Program:
    """The names that the file uses. What stands in a `try` that expects their absence is none.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: it is no Python.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from tapegrad.compat.used_names import read
    >>> script = Path(mkdtemp()) / "script.py"
    >>> _ = script.write_text("from torch import nn as layers\\nlayers.Linear(2, 3, bias=True)")
    >>> for use in read(script).uses:
    ...     print(use.line, use.name, use.keywords)
    1 torch.nn ()
    2 torch.nn.Linear ('bias',)
    """
    program = Program(path)
    _Reader(program).visit(ast.parse(path.read_bytes(), str(path)))
    return program


class _Reader(ast.NodeVisitor):
    """Walks the file with what names mean where it is: None for what is no part of torch."""

    def __init__(self, program: Program):
        self.program = program
        self.scopes: list[dict[str, str | None]] = [{}]
        self.calls: dict[int, ast.Call] = {}

    def use(self, name: str, node: ast.AST, call: ast.Call | None = None) -> None:
        line = getattr(node, "lineno", 0)
        given = (_keywords(call), _device(call)) if call else ()
        self.program.uses.append(Use(name, line, *given))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            if root not in ROOTS:
                self.program.imports.append((alias.name, 0))
                self.bind(alias.asname or root, None)
                continue
            self.use(_torch(alias.name), node)
            self.bind(alias.asname or root, _torch(alias.name if alias.asname else root))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        home = node.module or ""
        if node.level or home.partition(".")[0] not in ROOTS:
            self.program.imports.append((home, node.level))
            for alias in node.names:
                self.program.imports.append((f"{home}.{alias.name}".strip("."), node.level))
                self.bind(alias.asname or alias.name, None)
            return
        for alias in node.names:
            if alias.name == "*":
                self.use(_torch(home), node)
            else:
                self.use(_torch(f"{home}.{alias.name}"), node)
                self.bind(alias.asname or alias.name, _torch(f"{home}.{alias.name}"))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        known = self.resolve(node.value)  # F = torch.nn.functional
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, known)
            else:
                self.visit(target)

    def visit_Call(self, node: ast.Call) -> None:
        self.calls[id(node.func)] = node
        if isinstance(node.func, ast.Attribute) and self.resolve(node.func) is None:
            device = "cuda" if node.func.attr == "cuda" else _device(node)
            if device:
                self.program.uses.append(Use("", node.lineno, device=device))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self.resolve(node)
        if name is None:
            self.generic_visit(node)
        else:
            self.use(name, node, self.calls.get(id(node)))

    def visit_Name(self, node: ast.Name) -> None:
        name = self.resolve(node)
        if isinstance(node.ctx, ast.Store):
            self.bind(node.id, None)
        elif name is not None and id(node) in self.calls:
            self.use(name, node, self.calls[id(node)])

    def visit_If(self, node: ast.If) -> None:
        """Without what only type checkers read, and what runs where there is a GPU."""
        text = ast.unparse(node.test)
        self.visit(node.test)
        if not text.endswith("TYPE_CHECKING") and "is_available" not in text:
            self.visit_all(node.body)
        self.visit_all(node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        if "is_available" not in ast.unparse(node.test):
            self.visit(node.body)
        self.visit(node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        before = len(self.program.uses)
        self.visit_all(node.body)
        if any(_expects_absence(each) for each in node.handlers):
            del self.program.uses[before:]
        self.visit_all([*node.handlers, *node.orelse, *node.finalbody])

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        self.visit_all([*getattr(node, "decorator_list", []), *arguments.defaults])
        self.visit_all([each for each in arguments.kw_defaults if each is not None])
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        self.visit_all([each.annotation for each in named if each.annotation is not None])
        self.scopes.append({each.arg: None for each in named})
        self.visit_all(node.body if isinstance(node.body, list) else [node.body])
        self.scopes.pop()

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_Lambda = visit_FunctionDef

    def visit_all(self, nodes: list) -> None:
        for node in nodes:
            self.visit(node)

    def bind(self, name: str, meaning: str | None) -> None:
        self.scopes[-1][name] = meaning

    def resolve(self, node: ast.AST) -> str | None:
        """The full name, `torch.nn.Linear`, of what an expression names; None for any other."""
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return owner and f"{owner}.{node.attr}"
        if isinstance(node, ast.Name):
            return next((scope[node.id] for scope in self.scopes[::-1] if node.id in scope), None)
        return None


def _torch(name: str) -> str:
    """The name in PyTorch of what a program imports from tapegrad."""
    return name if not name.startswith("tapegrad") else f"torch{name[len('tapegrad') :]}"


def _expects_absence(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or any(word in ast.unparse(handler.type) for word in _GUARDS)


def _keywords(call: ast.Call) -> tuple[str, ...]:
    """The names of the arguments that are given by name, and are not off."""
    off = {each.arg for each in call.keywords if ast.unparse(each.value) in ("False", "None")}
    return tuple(each.arg for each in call.keywords if each.arg and each.arg not in off)


def _device(call: ast.Call) -> str:
    """The device that a literal among the arguments names, of functions that take one."""
    places = [each.value for each in call.keywords if each.arg in ("device", "map_location")]
    last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if last in ("to", "device", "to_empty"):
        places += call.args[:1]
    return next(_cuda(places), "")


def _cuda(places: list[ast.expr]) -> Iterator[str]:
    for place in places:
        value = place.value if isinstance(place, ast.Constant) else None
        if isinstance(value, str) and value.partition(":")[0] in DEVICES:
            yield value
