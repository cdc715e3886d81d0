"""Forward rules: from the tangents of what goes into an operator to those of what comes out.

An operator that is linear in all its inputs jointly is its own forward rule. Of any other each
input that changes contributes, by its rule, and the contributions are added up. What a rule may ask
for is said in `op.py`. The rules run on arrays, or on tensors where a tangent is itself
differentiated: all of it is written against a namespace `xp`.
"""

from tapegrad.autograd.operator_base import public_name
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Namespace, OperatorLike, Sequence


def jvp(
    op: OperatorLike,
    xp: Namespace,
    inputs: Sequence,
    tangents: Sequence,
    params: dict,
    outs: Sequence,
    input_metadata: Sequence,
    on_tensors: bool = False,
) -> list:
    """The tangents of the outputs, in their order; None for one that no rule speaks of.

    Args:
        inputs: what went in: arrays, numbers, None; arrays in the dtype they were computed in.
        tangents: for each of them a tangent, None where it does not change.
        outs: what came out.
        input_metadata: the inputs again, of which rules ask only shape and dtype.
        on_tensors: what is computed is recorded.
    """
    if op.kind == "linear":
        found = along(op, xp, inputs, tangents, lambda *x: op.forward(xp, *x, **params))
        return list(found) if isinstance(found, (tuple, list)) else [found]
    recorded = on_tensors and op.kind == "elementwise" and bool(op.on_tensors)
    key = ("recorded" if recorded else "forward", *[t is None for t in tangents])
    rules = op.plans.get(key)
    if rules is None:
        rules = op.plans[key] = _composed(op, tangents, recorded)
    total = rules(xp, inputs, tangents, outs, input_metadata, params)
    if op.multi:
        return [*total, *[None] * (len(outs) - len(total))]
    if op.output_names is None:
        return [total]
    return [total if i == op.differentiable_output else None for i in range(len(outs))]


def along(
    op: OperatorLike, xp: Namespace, inputs: Sequence, tangents: Sequence, forward: Callable
) -> Any:
    """A linear operator applied to tangents: zeros for arrays that do not change.

    Numbers, and masks and indices that the operator is not linear in, stay what they are.
    """
    names = op.inputs * len(inputs) if op.variadic else op.inputs
    return forward(
        *[
            t
            if t is not None
            else x
            if name not in op.vjps or not hasattr(x, "shape")
            else xp.zeros_like(x)
            for name, x, t in zip(names, inputs, tangents, strict=True)
        ]
    )


def asked_names(op: OperatorLike, tangents: Sequence) -> frozenset:
    """The names that the rules ask for, of the inputs that change."""
    key = ("asked", *[t is None for t in tangents])
    found = op.plans.get(key)
    if found is None:
        rules = [
            op.jvps.get(name) for name, t in zip(op.inputs, tangents, strict=True) if t is not None
        ]
        found = op.plans[key] = frozenset(n for rule in rules if rule for n in rule.names)
    return found


def _composed(op: OperatorLike, tangents: Sequence, recorded: bool) -> Callable:
    """The rules for one pattern of inputs that change, in one function as one would write it.

    `recorded`: those that a double backward has, which are forward rules of elementwise operators.

    For `mul` with two inputs that change:

        lambda xp, x, t, y, like, params: rule_0(t[0], x[1]) + rule_1(t[1], x[0])
    """
    scope: dict[str, Any] = {"added": _added, "filled": _filled}
    terms = []
    for i, name in enumerate(op.inputs):
        if tangents[i] is None and not op.variadic:
            continue
        rule = op.jvps.get(name)
        if rule is None:
            raise no_rule(public_name(op.name, op.node_name))
        scope[f"rule_{i}"] = rule.function
        t = "filled(xp, x, t)" if op.variadic else f"t[{i}]"
        # a reverse rule that serves as a forward rule, of a function that is not holomorphic
        conjugate = not op.holomorphic and rule is op.vjps.get(name)
        if recorded and name in op.on_tensors:
            rule = op.on_tensors[name]
            scope[f"rule_{i}"] = rule.function
        t = f"xp.conj({t})" if conjugate else t
        term = f"rule_{i}({', '.join([t if n in 'tg' else _text(op, n) for n in rule.names])})"
        terms.append(f"xp.conj({term})" if conjugate else term)
    text = f"added({', '.join(terms)})" if op.multi else " + ".join(terms)
    return eval(f"lambda xp, x, t, y, like, params: {text}", scope)


def _text(op: OperatorLike, name: str) -> str:
    """Where the value of a rule's parameter is found."""
    if name == "xp":
        return "xp"
    for values, given in (("x", name), ("like", name.removesuffix("_like"))):
        if given in op.inputs:
            return values if op.variadic else f"{values}[{op.inputs.index(given)}]"
    if name in op.params:
        return f"params[{name!r}]"
    return f"y[{op.output_names.index(name) if op.output_names and name != 'y' else 0}]"


def _filled(xp: Namespace, x: Sequence, t: Sequence) -> list:
    """Tangents, with zeros for what does not change."""
    return [xp.zeros_like(x) if t is None else t for x, t in zip(x, t, strict=True)]


def _added(first: Sequence, *others: Sequence) -> list:
    """The sums of contributions to several outputs."""
    total = list(first)
    for other in others:
        total = [a + b for a, b in zip(total, other, strict=True)]
    return total


def no_rule(name: str, derivative: bool = True) -> NotImplementedError:
    """The error for an operator that tangents cannot pass."""
    pull = " or submit a PR adding the implementation to derivatives.yaml" if derivative else "."
    return errors.not_implemented(
        f"Trying to use forward AD with {name} that does not support it because it has not "
        "been implemented yet.\nPlease file an issue to PyTorch at "
        "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we "
        f"can prioritize its implementation{pull}",
        "detach() what goes in; an operator of your own needs rules: jvp(...).",
    )
