"""Expressions of programs: what they are when they run, and what a type checker takes them for."""

import ast
import re
from collections.abc import Iterator

WRAPPED = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute)
LOAD = ast.Load()
LEFT_ALONE = frozenset("super isinstance issubclass hasattr print".split())  # or they mean else


class _Wrap(ast.NodeTransformer):
    """Each expression becomes the argument of a call; `source` of that node says which."""

    def __init__(self, function: str, numbered: bool):
        self.function = function
        self.numbered = numbered
        self.keys: list[str] = []

    def visit(self, node):
        """The node with the expressions in it wrapped; declarations of types stay as they are."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.body = [self.visit(each) for each in node.body]
        elif isinstance(node, (ast.AnnAssign, ast.keyword)):
            node.value = node.value and self.visit(node.value)
        elif isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        elif isinstance(node, ast.expr):
            return self.expression(node)
        elif not isinstance(node, ast.arguments):
            self.generic_visit(node)
        return node

    def expression(self, node):
        """The expression in a call, where it is one that computes something."""
        key = ast.unparse(node)
        if not isinstance(node, ast.Call):
            if isinstance(node, ast.Attribute) and _is_dotted(node.value):
                if not isinstance(node.value, ast.Name):  # the parts of `torch.nn.Linear` are none
                    return node
            else:
                self.generic_visit(node)
        else:
            if isinstance(node.func, ast.Attribute) and not _is_dotted(node.func.value):
                node.func.value = self.visit(node.func.value)
            node.args = [self.visit(each) for each in node.args]
            node.keywords = [self.visit(each) for each in node.keywords]
            if isinstance(node.func, ast.Name) and node.func.id in LEFT_ALONE:
                return node
        if not isinstance(node, WRAPPED) or not isinstance(getattr(node, "ctx", LOAD), ast.Load):
            return node
        self.keys.append(key)
        number = [ast.Constant(len(self.keys) - 1)] if self.numbered else []
        call = ast.Call(ast.Name(self.function, LOAD), [*number, node], [])
        call.source = key
        return call


def _is_dotted(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute) and _is_dotted(node.value)
    )


def instrumented(code: str, function: str) -> tuple[str, list[str]]:
    """The program with each expression in a call `function(number, expression)`; their sources."""
    wrap = _Wrap(function, numbered=True)
    tree = ast.fix_missing_locations(wrap.visit(ast.parse(code)))
    return ast.unparse(tree), wrap.keys


def revealing(code: str) -> tuple[str, dict[tuple[int, int], str]]:
    """The program with `reveal_type` around each expression, and their sources by their places."""
    tree = ast.fix_missing_locations(_Wrap("reveal_type", numbered=False).visit(ast.parse(code)))
    text = ast.unparse(tree)
    keys = [node.source for node in ast.walk(tree) if hasattr(node, "source")]
    calls = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "reveal_type"
    ]
    given = [call.args[0] for call in calls]
    places = {(e.lineno, e.col_offset + 1): key for e, key in zip(given, keys, strict=True)}
    return text, places


def classes(revealed: str) -> Iterator[str]:
    """The names of the classes that a revealed type allows, with `Any`, `callable`, `type`."""
    for part in _parts(revealed):
        if part.startswith(("def ", "Overload(")):
            yield "callable"
        else:
            head = re.match(r"(?:Literal\[(?P<literal>.*)\]\??|(?P<name>[\w.]+))", part)
            fallback = re.search(r"fallback=([\w.]+)\]$", part)
            if head is None:
                yield part
            elif head["literal"] is not None:
                yield from _of_literals(head["literal"])
            else:
                yield (fallback[1] if fallback else head["name"]).rpartition(".")[2]


def _of_literals(text: str) -> list[str]:
    """The classes of literals; of members of an enumeration, `module.Class.MEMBER`."""
    try:
        return [type(each).__name__ for each in ast.literal_eval(f"[{text}]")]
    except ValueError:
        return [each.split(".")[-2] for each in text.split(", ")]


def _parts(text: str) -> list[str]:
    depth, parts = 0, [""]
    for i, c in enumerate(text):
        depth += (c in "[(") - (c in "])")
        if c == "|" and not depth and text[i - 1] == " ":
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip().strip('"') for part in parts]
