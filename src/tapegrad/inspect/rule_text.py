"""Derivative rules as their authors wrote them: the source of a rule, its place, its formula."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
from collections.abc import Callable
from textwrap import dedent
from typing import Any

from tapegrad.inspect.formula import formula

_LONGEST = 120  # characters of a formula that was put together from parts


class RuleText:
    """One rule as text.

    Attributes:
        input: which input the gradient is for.
        names: what the rule calls its parameters.
        source: the rule as it stands in its file.
        file, line: where.
        formula: the same in MathML, "" where it is no single expression, or only the call of a
            function with many arguments, of which a formula would say no more.
    """

    __slots__ = ("file", "formula", "input", "line", "names", "source")

    def __init__(self, input: str, function: Callable):
        function = inspect.unwrap(function)
        code = function.__code__
        self.input = input
        self.file = code.co_filename
        self.line = code.co_firstlineno
        self.names = code.co_varnames[: code.co_argcount]
        text, tree = _parsed(self.file)
        node = _definition(tree, code)
        if node is None:
            self.source, self.formula = "", ""
            return
        self.source = dedent(ast.get_source_segment(text, node, padded=True) or "").strip()
        value = _value(node)
        self.formula = "" if value is None or _only_calls(value) else formula(input, value)


def rules_of(node: Any) -> list[RuleText]:
    """The rules that a node runs, one for each input that a gradient goes to."""
    from tapegrad.autograd.describe import input_names, maker_of

    node = maker_of(node)
    plan: Any = getattr(node, "plan", None)
    if hasattr(plan, "rules"):
        names = input_names(node)
        return [_rule(names[i] if i < len(names) else "", r.function) for i, r in plan.rules]
    custom = getattr(type(node), "_forward_cls", None)
    backward = getattr(custom, "backward", None)
    return [] if not hasattr(backward, "__code__") else [_rule("", backward)]


@functools.lru_cache(maxsize=4096)
def _rule(input: str, function: Callable) -> RuleText:
    return RuleText(input, function)


@functools.lru_cache(maxsize=64)
def _parsed(file: str) -> tuple[str, ast.Module | None]:
    """The text of a file and what it consists of; None where there is no such file."""
    import linecache

    text = "".join(linecache.getlines(file))
    try:
        return text, ast.parse(text) if text else None
    except SyntaxError:  # the file is another one by now
        return text, None


def _definition(tree: ast.Module | None, code: Any) -> Any:
    """The lambda or function that a code object was compiled from."""
    if tree is None:
        return None
    named = code.co_name != "<lambda>"
    kind = (ast.FunctionDef, ast.AsyncFunctionDef) if named else (ast.Lambda,)
    arguments = code.co_varnames[: code.co_argcount]
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, kind)
        and code.co_firstlineno in (node.lineno, *[d.lineno for d in _decorators(node)])
        and tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args)) == arguments
    ]
    if named or len(found) < 2:
        return found[0] if found else None
    columns = [at[2] for at in code.co_positions() if at[0] == code.co_firstlineno and at[2]]
    start = min(columns, default=0)  # two alike on one line: the one that holds the code
    inside = [n for n in found if n.col_offset <= start and start < (n.end_col_offset or 0)]
    return (inside or found)[0]


def _decorators(node: Any) -> list:
    return getattr(node, "decorator_list", [])


def _value(node: Any) -> ast.expr | None:
    """The expression that a function returns, names for parts of it put in; None if it branches.

    What only leads to the same by another way is passed over: a kernel of the array library, or
    more precise arithmetic for narrow types.
    """
    if isinstance(node, ast.Lambda):
        return node.body
    *steps, last = [each for each in node.body if not _is_text(each)]
    parts: dict[str, ast.expr] = {}
    for step in steps:
        if isinstance(step, ast.Assign) and isinstance(step.targets[0], ast.Name):
            parts[step.targets[0].id] = _put_in(step.value, parts)
        elif not _is_shortcut(step):
            return None
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    value = _put_in(last.value, parts)
    return value if not parts or len(ast.unparse(value)) < _LONGEST else None


def _is_shortcut(step: ast.stmt) -> bool:
    if not isinstance(step, ast.If) or step.orelse or not isinstance(step.body[-1], ast.Return):
        return False
    test = ast.unparse(step.test)
    return test.startswith("_is_narrow(") or test == "kernel is not None"


def _put_in(value: ast.expr, parts: dict[str, ast.expr]) -> ast.expr:
    """The expression with parts in place of their names."""

    class PutIn(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return parts.get(node.id, node)

    return PutIn().visit(copy.deepcopy(value))


def _only_calls(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or ast.unparse(value.func) == "xp.where":
        return False
    return len(value.args) + len(value.keywords) > 3


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
