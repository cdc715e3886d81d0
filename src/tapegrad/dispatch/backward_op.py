"""The reverse rule of an operator as an operator of its own: one node of a double backward.

Where a rule is linear in the cotangent and piecewise constant in all else, nothing more than the
forward rule has to be known to differentiate it again:

    @one_node("ThresholdBackwardBackward0")
    @vjp(input=lambda xp, g, y: xp.where(y <= 0, 0, g))
    @elementwise
    def relu(xp, input): ...

The derivative of what this records with respect to the cotangent is the forward rule of `relu`.
That with respect to the input is zero, but the node has an edge to it, as in PyTorch: a gradient of
such operators alone requires grad, and its own gradient is zeros. Nothing is kept for that edge.

The operator is made when it is first called: it costs nothing where no gradient is differentiated.
"""

from __future__ import annotations

from tapegrad.core.annotations import Any, Callable
from tapegrad.dispatch.op import Op, Rule, elementwise, primitive

DECLARED: list[BackwardRule] = []
"""All rules that are recorded as one node."""


class BackwardRule(Rule):
    """What a double backward calls in place of a reverse rule: the rule recorded as one node.

    Its `names` are those of the rule, the arrays first; `edge_x` among them stands for nothing but
    the place of input `x` in the graph.
    """

    __slots__ = ("call", "constant", "input", "node", "op")
    call: Any

    def __init__(self, op: Op, name: str, node: str, behind: list[str]):
        self.op, self.input, self.node = op, name, node
        self.call = None
        rule = op.vjps[name]
        arrays = [n for n in rule.names if _is_array(op, n)]
        connected = [x if x in arrays else f"edge_{x}" for x in behind]
        if connected == [f"edge_{name}"] and "y" in arrays:
            connected = ["y"]
        self.constant = connected  # what the rule's derivative is zero with respect to
        others = [n for n in arrays if n not in connected]
        metadata = [n for n in rule.names if n in op.params or n.endswith("_like")]
        self.names = ("g", *connected, *others, *metadata)
        self.function = self._first
        DECLARED.append(self)

    def _first(self, *values: Any) -> Any:
        """Make the operator, and call it from now on."""
        return self.made()(*values)

    def made(self) -> Callable:
        """The function of the operator: by place what `names` has."""
        if self.call is None:
            self.call = _made(self)
            n = len(self.call.op.inputs)
            operator, names = self.call, self.call.op.params
            self.function = lambda *values: operator(
                *values[:n], **dict(zip(names, values[n:], strict=True))
            )
        return self.function


def one_node(node: str, behind: str | None = None, of: str | None = None) -> Callable:
    """Record the reverse rule of the operator below as one node of that name.

    Args:
        behind: names of the inputs that the node has edges to; that of the rule if left away.
        of: the input whose rule it is, where there are several.
    """

    def declare(call: Any) -> Any:
        op = call.op
        name = of or next(iter(op.vjps))
        inputs = [name] if behind is None else behind.split()
        op.on_tensors[name] = BackwardRule(op, name, node, inputs)
        return call

    return declare


def record(call: Any, **rules: Callable) -> None:
    """Declare what a double backward calls in place of reverse rules: by the input, a function.

    It asks for what the rule asks for, by name, and for `edge_x` where `x` has a place alone.
    """
    op = call.op
    for name, function in rules.items():
        rule = op.on_tensors[name] = Rule(function)
        saved = [n for n in rule.names if n[:5] != "edge_"]
        if not {"g", *op.vjps[name].names} >= set(saved):
            raise ValueError(f"{op.name}.{name} asks for more than its rule: {saved}")


def _is_array(op: Op, name: str) -> bool:
    return name in op.inputs or name == "y" or name in (op.output_names or ())


def _made(rule: BackwardRule) -> Any:
    """Declare the operator, such as `relu_backward(xp, grad, result)`."""
    op, reverse = rule.op, rule.op.vjps[rule.input]
    own = {n: n.replace("_like", "_kind") for n in rule.names}  # by the names of the rules
    own.update({"xp": "xp", "y": "result"})
    metadata = [own[n] for n in rule.names if n in op.params or n.endswith("_like")]
    operands = ["grad", *[own[n] for n in rule.names[1:] if own[n] not in metadata]]
    head = ", ".join(("xp", *operands, *(["*", *metadata] if metadata else ())))
    reversed_names = [own[n] for n in reverse.names]
    scope = {"rule": reverse.function}
    forward = eval(f"lambda {head}: rule({_listed(reversed_names, g='grad')})", scope)
    forward.__module__ = op.forward.__module__
    pointwise = op.kind == "elementwise"
    constant = [own[n] for n in rule.constant]
    declare = elementwise if pointwise else primitive
    call: Any = declare(
        name=f"{op.name}_backward",
        node=rule.node,
        hidden=tuple(operands[1 + len(constant) :]),
        numbers=False,
        registered=False,
    )(forward)
    call.vjp(grad=_transposed(rule, own))
    for n in constant:
        call.vjp(**{n: _nothing if n[:5] == "edge_" and n[5:] != rule.input else _zeros})
    if not pointwise:
        names = _listed(reversed_names, g="t")
        call.jvp(grad=eval(f"lambda {names}: rule({names})", scope))
        call.jvp(**{n: lambda xp, y: xp.zeros_like(y) for n in constant if n[:5] != "edge_"})
    again = call.op.vjps["grad"].names
    if pointwise:
        call.op.on_tensors["grad"] = _Call(call, again, operands[1:], metadata)
    elif op.kind == "linear":
        arrays = [own[n] for n in op.inputs[1:]]
        call.op.on_tensors["grad"] = _Call(op.call, again, arrays, list(op.params))
    return call


def _zeros(xp, g):
    """The gradient of the input itself: it has the shape of the result."""
    return xp.zeros_like(g)


def _nothing(g):
    """The gradient of another input, of which the rule knows nothing."""


def _listed(names: list[str], g: str) -> str:
    return ", ".join(g if n == "g" else n for n in names)


def _transposed(rule: BackwardRule, own: dict[str, str]) -> Callable:
    """The derivative of the reverse rule with respect to the cotangent: the forward rule.

    What it asks of the output, if that is not saved, is its shape: that of the cotangent.
    """
    op = rule.op
    own = {**own, "t": "g", "y": own["y"] if "y" in rule.names else "grad_like"}
    if op.kind == "linear":
        names = [own[n] for n in ("xp", "t", *op.inputs[1:], *op.params)]
        given = ["xp", "g", *op.inputs[1:], *[f"{n}={n}" for n in op.params]]
        return eval(f"lambda {', '.join(names)}: f({', '.join(given)})", {"f": op.forward})
    forward = op.jvps[rule.input]
    names = [own[n] for n in forward.names]
    return eval(f"lambda {', '.join(names)}: f({', '.join(names)})", {"f": forward.function})


class _Call(Rule):
    """A rule that calls an operator with the cotangent and what a node has saved."""

    __slots__ = ()

    def __init__(self, call: Callable, saved: tuple, arrays: list[str], metadata: list[str]):
        n = 1 + len(arrays)
        self.names = ("g", *arrays, *metadata)
        if not set(self.names) <= set(saved):
            raise ValueError(f"{call} asks for {self.names}, of which only {saved} are saved")
        self.function = lambda *values: call(
            *values[:n], **dict(zip(metadata, values[n:], strict=True))
        )
