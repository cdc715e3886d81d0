"""Forward rules: from the tangents of what goes into an operator to those of what comes out.

An operator that is linear in all its inputs jointly is its own forward rule. Of any other each
input that changes contributes, by its rule, and the contributions are added up. What a rule may ask
for is said in `op.py`. The rules run on arrays, or on tensors where a tangent is itself
differentiated: all of it is written against a namespace `xp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapegrad import errors


def pushed(
    op: Any,
    xp: Any,
    inputs: Sequence,
    tangents: Sequence,
    params: dict,
    outs: Sequence,
    likes: Sequence,
) -> list:
    """The tangents of the outputs, in their order; None for one that no rule speaks of.

    Args:
        inputs: what went in: arrays, numbers, None; arrays in the dtype they were computed in.
        tangents: for each of them a tangent, None where it does not change.
        outs: what came out.
        likes: the inputs again, of which rules ask only shape and dtype.
    """
    if op.kind == "linear":
        return _as_list(along(op, xp, inputs, tangents, lambda *x: op.forward(xp, *x, **params)))
    values = {"xp": xp, "y": outs[0], **params}
    values.update(zip(op.output_names or (), outs, strict=False))
    total: list[Any] = []
    for name, t in _changing(op, xp, inputs, tangents, values, likes):
        rule = op.jvps.get(name)
        if rule is None:
            raise no_rule(op)
        # a reverse rule that serves as a forward rule, of a function that is not holomorphic
        conjugate = not op.holomorphic and rule is op.vjps.get(name)
        t = xp.conj(t) if conjugate else t
        result = rule.function(*[t if n in ("t", "g") else values[n] for n in rule.names])
        result = xp.conj(result) if conjugate else result
        results = _as_list(result)
        total = results if not total else [a + b for a, b in zip(total, results, strict=True)]
    if not op.multi and op.output_names is not None:  # the rule is of the only one with a gradient
        found = [None] * len(outs)
        found[op.differentiable_output] = total[0]
        return found
    return total + [None] * (len(outs) - len(total))


def along(op: Any, xp: Any, inputs: Sequence, tangents: Sequence, forward: Callable) -> Any:
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


def _changing(
    op: Any, xp: Any, inputs: Sequence, tangents: Sequence, values: dict, likes: Sequence
) -> list:
    """(name, tangent) of the inputs that change; puts all inputs into `values` by name."""
    if op.variadic:
        name = op.inputs[0]
        values[name], values[name + "_like"] = list(inputs), list(likes)
        filled = [
            xp.zeros_like(x) if t is None else t for x, t in zip(inputs, tangents, strict=True)
        ]
        return [(name, filled)]
    found = []
    for name, x, t, like in zip(op.inputs, inputs, tangents, likes, strict=True):
        values[name], values[name + "_like"] = x, like
        if t is not None:
            found.append((name, t))
    return found


def _as_list(result: Any) -> list:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def no_rule(op: Any) -> NotImplementedError:
    """The error for an operator that tangents cannot pass."""
    from tapegrad.autograd.profile_mode import public_name

    return errors.advised(
        NotImplementedError(
            f"Trying to use forward AD with {public_name(op.name, op.node_name)} that does not "
            "support it because it has not been implemented yet.\nPlease file an issue to PyTorch "
            "at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that "
            "we can prioritize its implementation or submit a PR adding the implementation to "
            "derivatives.yaml"
        ),
        f"Declare {op.name}.jvp(...), or detach() what goes in.",
    )
