"""An operator: a forward function over an array namespace `xp`, and its derivatives.

    @elementwise(ufunc="multiply")
    def mul(xp, input, other):
        "Product of two tensors, element by element, with broadcasting."
        return input * other

    mul.vjp(input=lambda g, other: g * other, other=lambda g, input: g * input)

or, in front of the operator, `@vjp(input=..., other=...)`.

Arrays are positional, metadata is by keyword. A rule gives the cotangent of one argument (`vjp`)
or the tangent of the output that one argument contributes (`jvp`). A rule's parameters are what the
graph keeps; they may be

    xp          the array namespace          g, t     cotangent of the output, tangent of the input
    y           the output                   x        an input or a keyword, by its name
    x_like      shape and dtype of input x   values   an output of several, by its declared name
    g_values    its cotangent, where several outputs are differentiable

An unknown name is an error when the rule is declared.
"""

from __future__ import annotations

import inspect

from tapegrad.autograd.operator_base import OperatorBase
from tapegrad.autograd.plan import Plan
from tapegrad.core.annotations import Any, Callable, Namespace, OperatorLike
from tapegrad.core.result_order import in_operands_order, row_major

REGISTRY: dict[str, Op] = {}


class Rule:
    """One derivative: its function and the names of what it wants."""

    __slots__ = ("function", "names")

    def __init__(self, function: Callable):
        code = function.__code__
        self.function = function
        self.names = code.co_varnames[: code.co_argcount]


class Op(OperatorBase):
    """A declared operator. Calling code holds the function that `op.py` made of it."""

    __slots__ = (
        "call",  # the public function
        "check",  # None, or a function of the inputs that raises for those PyTorch refuses
        "constant_outputs",  # numbers of those that have no gradient
        "differentiable_output",  # number of the one output that has a gradient
        "exact_number",  # a number as the second operand is not rounded to the 16 bits of the first
        "exempt",  # inputs that keep their dtype and have no gradient: masks, conditions
        "forward",
        "hidden",  # inputs that are no edges of the graph: those, and non-differentiable ones
        "holomorphic",  # complex rules are the textbook's: the engine conjugates
        "inputs",  # names of the array inputs
        "jvps",
        "kernels",  # names beyond the array standard that the operator needs of its namespace
        "kind",  # elementwise, linear, primitive, constant
        "multi",  # several outputs have a gradient
        "name",
        "node_name",
        "numbers",  # whether Python numbers may stand for tensors
        "on_tensors",  # reverse rules for tensors, by input, where they are not those of `vjps`
        "order",  # None, or the rule of `core.result_order` by which results lie in memory
        "ordered",  # that rule changes results of row-major operands, too
        "output_names",
        "params",  # names of the keywords
        "plans",
        "promote",  # None, "arith" (one dtype for all) or "float" (and integers become floats)
        "quick",  # those of plans for NumPy arrays as they mostly are, by the kinds of inputs alone
        "shared",  # None, or a block in which its rules have parts in common made once
        "ufunc",  # the name of the NumPy function that computes it in one call
        "variadic",
        "view",  # the output may share memory with the first input
        "vjps",
        "widens",  # numbers of 16 bits are computed with in float32
    )
    call: Any

    def __init__(
        self,
        forward: Callable,
        kind: str,
        *,
        name: str | None = None,
        node: str | None = None,
        outputs: tuple[str, ...] | str | None = None,
        nondiff: tuple[str, ...] = (),
        promote: str | None = None,
        exempt: tuple[str, ...] = (),
        hidden: tuple[str, ...] = (),
        numbers: bool = True,
        check: Callable | None = None,
        ufunc: str | None = None,
        view: bool = False,
        holomorphic: bool = True,
        exact_number: bool = False,
        widens: bool = True,
        kernels: tuple[str, ...] = (),
        order: Callable | None = None,
        shared: Any = None,
        registered: bool = True,
    ):
        code = forward.__code__
        n = code.co_argcount
        self.forward, self.kind = forward, kind
        self.name = name or forward.__name__.rstrip("_")
        self.node_name = node or _node_name(self.name)
        self.inputs = code.co_varnames[1:n]
        self.params = code.co_varnames[n : n + code.co_kwonlyargcount]
        self.variadic = bool(code.co_flags & 4)
        if self.variadic:
            self.inputs = (code.co_varnames[n + code.co_kwonlyargcount],)
        self.output_names = outputs if type(outputs) is tuple else None
        with_gradient = [o for o in self.output_names or () if o not in nondiff]
        self.constant_outputs = tuple(
            i for i, name in enumerate(self.output_names or ()) if name in nondiff
        )
        self.multi = outputs == "many" or len(with_gradient) > 1
        self.differentiable_output = (
            self.output_names.index(with_gradient[0]) if self.output_names and with_gradient else 0
        )
        self.promote, self.exempt = promote, exempt
        self.ordered = order is not None and not getattr(order, "keeps_row_major", False)
        if order is None and not view:
            elementwise = promote is not None and kind in ("elementwise", "constant")
            order = in_operands_order if elementwise else row_major
        self.order = order
        self.hidden = tuple(self.inputs.index(each) for each in (*exempt, *hidden))
        self.numbers = numbers and n != 2  # not for the only operand
        self.check, self.ufunc, self.view, self.shared = check, ufunc, view, shared
        self.holomorphic, self.exact_number = holomorphic, exact_number
        self.kernels = kernels
        self.widens = widens and (kind != "constant" or promote is not None)
        self.vjps: dict[str, Rule] = {}
        self.jvps: dict[str, Rule] = {}
        self.on_tensors: dict[str, Rule] = {}
        self.plans: dict[tuple, Any] = {}
        self.quick: dict[str, Any] = {}
        if registered:
            if self.name in REGISTRY:
                raise ValueError(f"operator {self.name} is declared twice")
            REGISTRY[self.name] = self

    def __repr__(self) -> str:
        return f"<{self.kind} operator {self.name}>"

    def is_cotangent(self, name: str) -> bool:
        """Whether a rule's parameter is the cotangent, or that of one of several outputs."""
        if name == "g":
            return True
        return self.multi and name[:2] == "g_" and name[2:] in (self.output_names or ())

    def cotangent_names(self, n: int) -> list[str]:
        return ["g_" + name for name in self.output_names or ()]

    def vjp(self, **rules: Callable) -> None:
        """Declare reverse rules: for each input, from the cotangent of the output to its own."""
        self._declare(self.vjps, rules, "g")
        if self.kind == "elementwise":  # a diagonal Jacobian is its own transpose
            self.jvps.update({name: self.vjps[name] for name in rules})

    def jvp(self, **rules: Callable) -> None:
        """Declare forward rules: from the tangent of an input to what it adds to the output's."""
        self._declare(self.jvps, rules, "t")

    def recorded(self, **rules: Callable) -> None:
        """Declare what a reverse rule is on tensors, where its own derivative is wanted otherwise.

        Where an operator does what the rule says, a derivative that is differentiated itself
        records one node instead of one for each step of the rule.
        """
        self._declare(self.on_tensors, rules, "g")
        for name, rule in self.on_tensors.items():
            if rule.names != self.vjps[name].names:
                raise ValueError(f"both rules of {self.name}.{name} ask for the same")

    def _declare(self, table: dict[str, Rule], rules: dict[str, Callable], variable: str) -> None:
        if self.kind == "constant":
            raise ValueError(f"{self.name} is declared constant: it has no rules")
        known = {"xp", variable, "y", *self.inputs, *self.params, *(self.output_names or ())}
        known |= {name + "_like" for name in self.inputs}
        for name, function in rules.items():
            rule = Rule(function)
            unknown = [n for n in rule.names if n not in known and not self.is_cotangent(n)]
            if unknown or name not in self.inputs:
                what = f"asks for {', '.join(unknown)}" if unknown else "is for no input of it"
                raise ValueError(
                    f"the rule {self.name}.{name} {what}; known: {', '.join(sorted(known))}"
                )
            table[name] = rule

    def plan(
        self, kinds: str, conjugate: bool, xp: Namespace, large: bool = False, wide: Any = None
    ) -> Any:
        """The plan for one pattern of inputs, made on first use.

        `large`: the rules of an elementwise operator run block by block, over threads. `wide`:
        the dtype in which the rules compute, where it is not that of all operands.
        """
        key = (kinds, conjugate, id(xp), large, wide)
        found = self.plans.get(key)
        if found is None:
            conjugate = conjugate and self.holomorphic
            found = self.plans[key] = Plan(self, kinds, conjugate, xp, large, wide)
        return found


def _node_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Backward0"


def leads_to(declaration: Callable, call: Callable) -> None:
    """Let `inspect.getsource` of a function show a declaration; its signature stays its own."""
    if "__signature__" not in call.__dict__:
        call.__signature__ = _signature_of(call)  # type: ignore[attr-defined]
    call.__wrapped__ = inspect.unwrap(declaration)  # type: ignore[attr-defined]


_SIGNATURES: dict[Any, inspect.Signature] = {}


def _signature_of(call: Callable) -> inspect.Signature:
    """The signature of a function; functions of the same source without defaults share one."""
    code = call.__code__
    if call.__defaults__ or call.__kwdefaults__:
        return inspect.signature(call)
    key = code.co_filename, code.co_firstlineno
    found = _SIGNATURES.get(key)
    if found is None:
        found = _SIGNATURES[key] = inspect.signature(call)
    return found


def _declarer(kind: str, make: Callable[[Op], Callable], **defaults: Any) -> Callable:
    """A decorator, bare or with options, that turns a forward function into an operator."""

    def declare(forward: Callable | None = None, /, **options: object) -> Any:
        if forward is None:
            return lambda function: declare(function, **options)
        op = Op(forward, kind, **{**defaults, **options})
        call = make(op)
        call.__name__ = call.__qualname__ = op.name
        call.__doc__ = _with_shapes(forward.__doc__, op)
        call.__module__ = forward.__module__
        call.__code__ = call.__code__.replace(co_name=op.name, co_qualname=op.name)  # in tracebacks
        leads_to(forward, call)
        call.op, call.vjp, call.jvp = op, op.vjp, op.jvp  # type: ignore[attr-defined]
        call.on_arrays = forward  # type: ignore[attr-defined]  # for rules of other operators
        call.recorded = op.recorded  # type: ignore[attr-defined]
        op.call = call
        return call

    return declare


def _with_shapes(text: str | None, op: Op) -> str | None:
    """A docstring with a line of what elementwise operators do to shapes."""
    if text is None or op.promote is None or op.kind not in ("elementwise", "constant"):
        return text
    if op.output_names or "hape" in text:
        return text
    first, blank, rest = text.partition("\n\n")
    alone = "Shape: any, and that of the result."
    line = (
        alone
        if len(op.inputs) == 1
        else "Shapes: any that broadcast; the result has the common one."
    )
    return f"{first}\n\n    {line}{blank}{rest}" if blank else f"{first}\n\n    {line}\n"


def _pointwise(op: Op) -> Callable:
    from tapegrad.dispatch.fast_plain import plain
    from tapegrad.dispatch.fast_pointwise import binary, unary

    n = len(op.inputs)
    if op.params or op.output_names or n > 2:
        return plain(op)
    return unary(op) if n == 1 else binary(op)


def _general(op: Op) -> Callable:
    if op.view and not op.multi and len(op.inputs) == 1:
        from tapegrad.dispatch.fast_view import viewing

        return viewing(op)
    from tapegrad.dispatch.fast_plain import plain

    return plain(op)


elementwise = _declarer("elementwise", _pointwise, promote="arith")
"""An operator with a diagonal Jacobian: the reverse rule is the forward rule."""

linear = _declarer("linear", _general)
"""An operator linear in all its array inputs jointly: it is its own forward rule."""

primitive = _declarer("primitive", _general)
"""An operator whose reverse and forward rules are both written."""

constant = _declarer("constant", _general)
"""An operator without derivative; elementwise ones name their `ufunc` and `promote`."""

constant_elementwise = _declarer("constant", _pointwise, promote="arith")
"""An elementwise operator without derivative: comparisons, `floor`, `sign`."""


def _rules(kind: str) -> Callable:
    def given(**rules: Callable) -> Callable:
        def declare(function: Callable) -> Any:
            getattr(function, kind)(**rules)
            return function

        return declare

    return given


vjp, jvp = _rules("vjp"), _rules("jvp")
"""Rules as decorators above that of the operator: `@vjp(x=...)` says `f.vjp(x=...)`."""


def by_place(operator: OperatorLike) -> Callable:
    """An operator as a kernel of the Tensor namespace: metadata by place, sequences as tuples."""
    n, names = len(operator.op.inputs), operator.op.params

    def kernel(*args: object) -> Any:
        params = [tuple(x) if isinstance(x, (tuple, list)) else x for x in args[n:]]
        return operator(*args[:n], **dict(zip(names, params, strict=True)))

    return kernel
