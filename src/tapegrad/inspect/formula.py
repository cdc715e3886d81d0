"""Expressions of Python as formulas in MathML, which browsers draw without any library."""

from __future__ import annotations

import ast
from html import escape
from typing import Any

_BINARY = {
    ast.Add: ("+", 1),
    ast.Sub: ("&minus;", 1),
    ast.Mult: ("&sdot;", 2),
    ast.MatMult: ("", 2),
    ast.FloorDiv: ("&divide;", 2),
    ast.Mod: ("mod", 2),
    ast.BitAnd: ("&and;", 0),
    ast.BitOr: ("&or;", 0),
}
_COMPARED = {
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.Lt: "<",
    ast.LtE: "≤",
    ast.Gt: ">",
    ast.GtE: "≥",
    ast.Is: "=",
    ast.IsNot: "≠",
    ast.In: "∈",
    ast.NotIn: "∉",
}
_GREEK = {
    **dict.fromkeys("alpha beta delta gamma mu pi rho sigma theta".split()),
    "eps": "epsilon",
    "lambd": "lambda",
}  # name -> that of its entity, if it is another one
_ATOM = 9  # how tightly what needs no parentheses binds


def formula(input: str, value: ast.expr) -> str:
    """MathML of `gradient of the input = value`.

    >>> import ast
    >>> from tapegrad.inspect.formula import formula
    >>> formula("x", ast.parse("g / y", mode="eval").body)  # doctest: +ELLIPSIS
    '<math display="block"><mrow>...<mfrac><mi>g</mi><mi>y</mi></mfrac></mrow></math>'
    """
    left = f"<msub><mi>g</mi>{_name(input)}</msub><mo>=</mo>" if input else ""
    return f'<math display="block"><mrow>{left}{_drawn(value)[0]}</mrow></math>'


def _name(name: str) -> str:
    if name in _GREEK:
        return f"<mi>&{_GREEK[name] or name};</mi>"
    return f"<mi>{escape(name)}</mi>"


def _group(text: str) -> str:
    return f"<mrow>{text}</mrow>"


def _in(node: ast.expr, least: int) -> str:
    """What is drawn of a part, in parentheses where it binds less than `least`."""
    text, strength = _drawn(node)
    return text if strength >= least else f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


def _drawn(node: ast.expr) -> tuple[str, int]:
    """MathML of an expression, and how tightly it binds."""
    draw: Any = _DRAW.get(type(node))
    return (f"<mtext>{escape(ast.unparse(node))}</mtext>", _ATOM) if draw is None else draw(node)


def _binary(node: ast.BinOp) -> tuple[str, int]:
    if isinstance(node.op, ast.Div):
        top, below = _group(_drawn(node.left)[0]), _group(_drawn(node.right)[0])
        if isinstance(node.left, ast.Name | ast.Constant):
            top = _drawn(node.left)[0]
        if isinstance(node.right, ast.Name | ast.Constant):
            below = _drawn(node.right)[0]
        return f"<mfrac>{top}{below}</mfrac>", 3
    if isinstance(node.op, ast.Pow):
        return f"<msup>{_in(node.left, _ATOM)}{_group(_drawn(node.right)[0])}</msup>", 4
    if type(node.op) not in _BINARY:
        return f"<mtext>{escape(ast.unparse(node))}</mtext>", _ATOM
    sign, strength = _BINARY[type(node.op)]
    right = _in(node.right, strength + isinstance(node.op, ast.Sub))
    return f"{_in(node.left, strength)}<mo>{sign}</mo>{right}", strength


def _unary(node: ast.UnaryOp) -> tuple[str, int]:
    sign = {ast.USub: "&minus;", ast.UAdd: "+", ast.Not: "&not;", ast.Invert: "&not;"}[
        type(node.op)
    ]
    return f"<mo>{sign}</mo>{_in(node.operand, 2)}", 2


def _call(node: ast.Call) -> tuple[str, int]:
    name = ast.unparse(node.func).removeprefix("xp.")
    plain = [a for a in node.args if not isinstance(a, ast.Starred)]
    if len(plain) == 1 == len(node.args) and not node.keywords:
        inner = _drawn(plain[0])[0]
        if name == "sqrt":
            return f"<msqrt>{inner}</msqrt>", _ATOM
        if name == "exp":
            return f"<msup><mi>e</mi>{_group(inner)}</msup>", 4
        if name == "abs":
            return f"<mrow><mo>|</mo>{inner}<mo>|</mo></mrow>", _ATOM
        if name == "square":
            return f"<msup>{_in(plain[0], _ATOM)}<mn>2</mn></msup>", 4
        if name == "conj":
            return f"<mover>{_group(inner)}<mo>¯</mo></mover>", _ATOM
    if name in ("_power", "power", "pow") and len(plain) == 2 and not node.keywords:
        return f"<msup>{_in(plain[0], _ATOM)}{_group(_drawn(plain[1])[0])}</msup>", 4
    if name == "where" and len(plain) == 3:
        chosen, one, other = (_drawn(each)[0] for each in plain)
        return _cases(one, chosen, other), _ATOM
    if name == "_power" and len(plain) == 3:
        return _call(ast.Call(node.func, plain[1:], []))
    parts = [_drawn(a)[0] for a in node.args if ast.unparse(a) != "xp"]
    parts += [
        f"<mi>{escape(k.arg or '**')}</mi><mo>=</mo>{_drawn(k.value)[0]}" for k in node.keywords
    ]
    inner = "<mo>,</mo>".join(parts)
    return f"<mi>{escape(name)}</mi><mo>(</mo>{inner}<mo>)</mo>", _ATOM


def _cases(one: str, chosen: str, other: str) -> str:
    first = f"<mtr><mtd>{one}</mtd><mtd><mtext>where&#160;</mtext>{chosen}</mtd></mtr>"
    second = f"<mtr><mtd>{other}</mtd><mtd><mtext>elsewhere</mtext></mtd></mtr>"
    return f'<mtable class="cases">{first}{second}</mtable>'  # the page draws the brace


def _attribute(node: ast.Attribute) -> tuple[str, int]:
    if node.attr in ("mT", "T"):
        return f"<msup>{_in(node.value, _ATOM)}<mi>T</mi></msup>", 4
    if node.attr == "mH":
        return f"<msup>{_in(node.value, _ATOM)}<mi>H</mi></msup>", 4
    return f"<mtext>{escape(ast.unparse(node).removeprefix('xp.'))}</mtext>", _ATOM


def _compared(node: ast.Compare) -> tuple[str, int]:
    text = _in(node.left, 1)
    for op, right in zip(node.ops, node.comparators, strict=True):
        text += f"<mo>{escape(_COMPARED[type(op)])}</mo>{_in(right, 1)}"
    return text, 0


def _chosen(node: ast.IfExp) -> tuple[str, int]:
    return _cases(*(_drawn(each)[0] for each in (node.body, node.test, node.orelse))), _ATOM


def _number(node: ast.Constant) -> tuple[str, int]:
    if type(node.value) in (int, float):
        return f"<mn>{node.value!r}</mn>", _ATOM
    return f"<mtext>{escape(repr(node.value))}</mtext>", _ATOM


_DRAW = {
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.Call: _call,
    ast.Compare: _compared,
    ast.Constant: _number,
    ast.IfExp: _chosen,
    ast.Name: lambda node: (_name(node.id), _ATOM),
    ast.UnaryOp: _unary,
}
