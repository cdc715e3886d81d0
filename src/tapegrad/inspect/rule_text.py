"""Derivative rules as their authors wrote them: the source of a rule, its place, its formula."""

import ast
import copy
import functools
import inspect
import linecache
from html import escape
from textwrap import dedent

from tapegrad.arrays.kernel import FALLBACKS
from tapegrad.autograd.describe import input_names, maker_of
from tapegrad.core.annotations import Any, Callable, NodeLike

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
    >>> from tapegrad.inspect.rule_text import formula
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


def rules_of(node: NodeLike) -> list[RuleText]:
    """The rules that a node runs, one for each input that a gradient goes to."""
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
        and code.co_firstlineno
        in (node.lineno, *[d.lineno for d in getattr(node, "decorator_list", [])])
        and tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args)) == arguments
    ]
    if named or len(found) < 2:
        return found[0] if found else None
    columns = [at[2] for at in code.co_positions() if at[0] == code.co_firstlineno and at[2]]
    start = min(columns, default=0)  # two alike on one line: the one that holds the code
    inside = [n for n in found if n.col_offset <= start and start < (n.end_col_offset or 0)]
    return (inside or found)[0]


def _value(node: NodeLike) -> ast.expr | None:
    """The expression that a function returns, names for parts of it put in; None if it branches.

    For kernels, which only lead to the same by another way, their fallbacks stand.
    """
    if isinstance(node, ast.Lambda):
        return _without_kernel(node.body)
    *steps, last = [each for each in node.body if not _is_text(each)]
    parts: dict[str, ast.expr] = {}
    for step in steps:
        if isinstance(step, ast.Assign) and isinstance(step.targets[0], ast.Name):
            parts[step.targets[0].id] = _put_in(step.value, parts)
        else:
            return None
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    value = _without_kernel(_put_in(last.value, parts))
    return value if not parts or len(ast.unparse(value)) < _LONGEST else None


def _without_kernel(value: ast.expr) -> ast.expr:
    """What a kernel computes in place of its call, where it has a fallback of one expression."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Call):
        return value
    call = value.func
    if ast.unparse(call.func) != "kernel_of":
        return value
    function = FALLBACKS.get(ast.literal_eval(call.args[1]))
    if function is None:
        return value
    code = function.__code__
    node = _definition(_parsed(code.co_filename)[1], code)
    plain = None if node is None else _value(node)
    names = code.co_varnames[1 : code.co_argcount]
    return value if plain is None else _put_in(plain, dict(zip(names, value.args, strict=True)))


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
