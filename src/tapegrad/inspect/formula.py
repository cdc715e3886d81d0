"""Expressions of Python as formulas in MathML, which browsers draw without any library."""

from __future__ import annotations

import ast
from html import escape
from typing import Any

_BINARY = {
    ast.Add: ("+", 1),
    ast.Sub: ("&minus;", 1),
    ast.Mult: ("&sdot;", 2),
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
_CONSTANT = {
    "math.pi": "<mi>&pi;</mi>",
    "LN2": "<mi>ln</mi><mn>2</mn>",
    "LN10": "<mi>ln</mi><mn>10</mn>",
}
_HOW = ("keepdims", "dtype", "copy")  # keywords that say nothing of the numbers
_FUNCTION = {"logistic": "sigma"}
_ZERO = ("zeros", "zeros_like")
_AS_IT_IS = ("astype", "real_if_close")  # of which a formula shows the argument alone
_TRANSPOSED = ("_t", "matrix_transpose")
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
    if name in _CONSTANT:
        return _CONSTANT[name]
    return f"<mi>{escape(_plain(name))}</mi>"


def _plain(name: str) -> str:
    """A name without what says who may use it, and that only the shape of a thing is kept."""
    return name.removeprefix("xp.").strip("_").replace("_like.", ".").removesuffix("_like")


def _group(text: str) -> str:
    return f"<mrow>{text}</mrow>"


def _in(node: ast.expr, least: int) -> str:
    """What is drawn of a part, in parentheses where it binds less than `least`."""
    text, strength = _drawn(node)
    return text if strength >= least else f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


def _drawn(node: ast.expr) -> tuple[str, int]:
    """MathML of an expression, and how tightly it binds."""
    draw: Any = _DRAW.get(type(node))
    return _as_text(node) if draw is None else draw(node)


def _as_text(node: ast.expr) -> tuple[str, int]:
    """What no formula has a sign for, as it stands in the program."""
    text = ast.unparse(node).replace("xp, ", "").replace("xp.", "")
    return f"<mtext>{escape(text)}</mtext>", _ATOM


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
    if isinstance(node.op, ast.FloorDiv):
        whole, _ = _binary(ast.BinOp(node.left, ast.Div(), node.right))
        return f"<mrow><mo>&lfloor;</mo>{whole}<mo>&rfloor;</mo></mrow>", _ATOM
    if isinstance(node.op, ast.MatMult):
        return _product(node.left, node.right)
    if isinstance(node.op, ast.Mod):  # readers differ on how tightly it binds
        return f"{_in(node.left, 3)}<mo>mod</mo>{_in(node.right, 3)}", 0
    if type(node.op) not in _BINARY:
        return _as_text(node)
    sign, strength = _BINARY[type(node.op)]
    sharper = isinstance(node.op, ast.Sub) or isinstance(node.right, ast.UnaryOp)
    right = _in(node.right, strength + sharper)
    return f"{_in(node.left, strength)}<mo>{sign}</mo>{right}", strength


def _product(a: ast.expr, b: ast.expr) -> tuple[str, int]:
    """A product of matrices, written without a sign."""
    return f'{_in(a, 2)}<mspace width="0.25em"></mspace>{_in(b, 3)}', 2


def _unary(node: ast.UnaryOp) -> tuple[str, int]:
    sign = {ast.USub: "&minus;", ast.UAdd: "+", ast.Not: "&not;", ast.Invert: "&not;"}[
        type(node.op)
    ]
    return f"<mo>{sign}</mo>{_in(node.operand, 2)}", 2


def _call(node: ast.Call) -> tuple[str, int]:
    name = ast.unparse(node.func).removeprefix("xp.")
    starred = any(isinstance(a, ast.Starred) for a in node.args)
    plain = [a for a in node.args if not isinstance(a, ast.Starred) and ast.unparse(a) != "xp"]
    if name in _ZERO:
        return "<mn>0</mn>", _ATOM
    if name in _AS_IT_IS and plain:
        return _drawn(plain[0])
    reverses = name == "permute_dims" and ast.unparse(plain[-1]).endswith("[::-1]")
    if reverses or (name in _TRANSPOSED and len(plain) == 1):
        return f"<msup>{_in(plain[0], _ATOM)}<mi>T</mi></msup>", 4
    if name == "matmul" and len(plain) == 2 and not starred:
        return _product(*plain)
    if name == "sum" and len(plain) == 1 and not starred:
        return _sum(plain[0], {k.arg: k.value for k in node.keywords}.get("axis"))
    if name == "_scaled" and len(plain) == 2:
        return _binary(ast.BinOp(plain[1], ast.Mult(), plain[0]))
    if len(plain) == 1 and not starred and not node.keywords:
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
    given = [a for a in node.args if ast.unparse(a) != "xp"]
    parts = [_drawn(a)[0] for a in given]
    parts += [
        f"<mi>{escape(k.arg or '**')}</mi><mo>=</mo>{_drawn(k.value)[0]}"
        for k in node.keywords
        if k.arg not in _HOW
    ]
    inner = "<mo>,</mo>".join(parts)
    return f"{_name(_FUNCTION.get(name, name))}<mo>(</mo>{inner}<mo>)</mo>", _ATOM


def _sum(summed: ast.expr, axis: ast.expr | None) -> tuple[str, int]:
    """A sum, over an axis or over everything."""
    sign = "<mo>&sum;</mo>"
    if axis is not None:
        sign = f"<munder>{sign}{_group(_drawn(axis)[0])}</munder>"
    return f"{sign}{_in(summed, 2)}", 1


def _cases(one: str, chosen: str, other: str) -> str:
    first = f"<mtr><mtd>{one}</mtd><mtd><mtext>where&#160;</mtext>{chosen}</mtd></mtr>"
    second = f"<mtr><mtd>{other}</mtd><mtd><mtext>elsewhere</mtext></mtd></mtr>"
    return f'<mtable class="cases">{first}{second}</mtable>'  # the page draws the brace


def _attribute(node: ast.Attribute) -> tuple[str, int]:
    if node.attr in ("mT", "T"):
        return f"<msup>{_in(node.value, _ATOM)}<mi>T</mi></msup>", 4
    if node.attr == "mH":
        return f"<msup>{_in(node.value, _ATOM)}<mi>H</mi></msup>", 4
    name = ast.unparse(node)
    return _CONSTANT.get(name) or f"<mtext>{escape(_plain(name))}</mtext>", _ATOM


def _compared(node: ast.Compare) -> tuple[str, int]:
    text = _in(node.left, 1)
    for op, right in zip(node.ops, node.comparators, strict=True):
        text += f"<mo>{escape(_COMPARED[type(op)])}</mo>{_in(right, 1)}"
    return text, 0


def _chosen(node: ast.IfExp) -> tuple[str, int]:
    return _cases(*(_drawn(each)[0] for each in (node.body, node.test, node.orelse))), _ATOM


def _number(node: ast.Constant) -> tuple[str, int]:
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return f"<mn>{node.value:g}</mn>", _ATOM
    return f"<mtext>{escape(repr(node.value))}</mtext>", _ATOM


def _either(node: ast.BoolOp) -> tuple[str, int]:
    """`n or 1` is `n` but where there is nothing to divide by."""
    first, *rest = node.values
    if isinstance(node.op, ast.Or) and all(isinstance(each, ast.Constant) for each in rest):
        return _drawn(first)
    sign = "&or;" if isinstance(node.op, ast.Or) else "&and;"
    return f"<mo>{sign}</mo>".join(_in(each, 1) for each in node.values), 0


_DRAW = {
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.BoolOp: _either,
    ast.Call: _call,
    ast.Compare: _compared,
    ast.Constant: _number,
    ast.IfExp: _chosen,
    ast.Name: lambda node: (_name(node.id), _ATOM),
    ast.UnaryOp: _unary,
}
