"""Forward mode of small elementwise calls: value and tangent in one go.

What `Forward.call` does, without what such calls do not need: float tensors of one shape and dtype,
or one and a number, of which nothing is recorded, so that rules run on arrays as they are.
"""

import numpy as np

from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.signature import signature_of
from tapegrad.autograd.forward.mode import SMALL
from tapegrad.core import tensor_base
from tapegrad.core.annotations import Any, Array, Callable, DTypeLike, ModeLike, OperatorLike
from tapegrad.dispatch.apply import forward_function

new = object.__new__
born = tensor_base.BORN
ndarray = np.ndarray


def jvp_function(op: OperatorLike, of_number: bool = False) -> Callable:
    """The function `jvp(forward, *operands)` of an operator of one or two operands.

    It gives the result, whose tangent it has noted, or None for a call that is not of this kind.
    With `of_number` the second operand is a Python float or int.
    """
    if op.kind != "elementwise" or (of_number and not op.numbers):
        return _unfit
    return _binary(op) if len(op.inputs) == 2 and not of_number else _unary(op, of_number)


def _unary(op: Any, of_number: bool) -> Callable:
    compute = forward_function(op)
    Tensor = tensor_base.Tensor
    rules: dict[Any, Any] = {}  # by dtype

    def jvp(forward: Any, x: Any, number: Any = None) -> Any:
        level = forward.level
        try:
            a = x._array
        except AttributeError:
            return None
        t = level.duals.get(id(a))
        if t is None:
            return None
        signature = x._signature
        if signature is None:
            signature = x._signature = signature_of(a)
        if not signature or (forward.under and _recorded(x)):
            return None
        if type(t) is not ndarray:
            if not _fits(t, signature, forward.under):
                return None
            t = t._array
        rule = rules.get(signature.dtype)
        if rule is None:
            rule = rules[signature.dtype] = _direct(
                op, compute, "tn" if of_number else "t", signature.dtype
            )
        if rule is _unfit:
            return None
        try:
            z = compute(a, number) if of_number else compute(a)
        except OverflowError:  # an int beyond 64 bits
            return None
        d = rule(a, number, t, None, z)
        if d is t or d is a or d is z or (d.ndim > 1 and d.strides != z.strides):
            d = _copied(d, z)
        level.set(z, d)
        tensor = new(Tensor)
        tensor._array = z
        tensor._node = tensor._counter = tensor._view = tensor._grad = None
        tensor._born = born[0]
        tensor._signature = signature
        return tensor

    return jvp


def _binary(op: Any) -> Callable:
    compute = forward_function(op)
    Tensor = tensor_base.Tensor
    rules: list[dict[Any, Any]] = [{}, {}, {}, {}]  # by dtype; the list by who has a tangent
    # the signature of the last call with two tangents of one small dimension, and the rule it took:
    known: Any = (None, None)  # one object, which threads change at once

    def jvp(forward: Any, x: Any, y: Any) -> Any:
        nonlocal known
        signature = x._signature
        if y._signature is not signature or not signature:
            if _differ(x, y):
                return None
            signature = x._signature
        duals = forward.duals
        a = x._array
        b = y._array
        t = duals.get(id(a))
        s = duals.get(id(b))
        if type(t) is not ndarray:  # no array: none, or of a tensor that was not made here
            view = x._view
            if view is not None and (
                (t is None and id(view.array) in duals)  # became dual after the view was made
                or (view.base._node is not None and forward.under)
            ):
                return None
            if t is not None:
                if t._signature is not signature or t._node is not None or t._view is not None:
                    if not _fits(t, signature, forward.under):
                        return None
                t = t._array
        if type(s) is not ndarray:
            view = y._view
            if view is not None and (
                (s is None and id(view.array) in duals)
                or (view.base._node is not None and forward.under)
            ):
                return None
            if s is not None:
                if s._signature is not signature or s._node is not None or s._view is not None:
                    if not _fits(s, signature, forward.under):
                        return None
                s = s._array
        if (x._node is not None or y._node is not None) and forward.under:
            return None
        last = known
        if signature is last[0] and t is not None and s is not None:
            z = compute(a, b)
            d = last[1](a, b, t, s, z)  # a sum, which is nobody else's array
            forward.hold(z)  # what `Level.hold` does
            duals[id(z)] = d
            if len(duals) > forward.level.most:
                forward.level.sweep()
        else:
            which = (t is not None) + 2 * (s is not None)
            rule = rules[which].get(signature.dtype)
            if rule is None:
                rule = _direct(op, compute, ("cc", "tc", "ct", "tt")[which], signature.dtype)
                rules[which][signature.dtype] = rule
            if rule is _unfit:
                return None
            z = compute(a, b)
            d = rule(a, b, t, s, z)
            if d is t or d is s or d is a or d is b or d is z or (d.strides != z.strides):
                d = _copied(d, z)
            forward.level.set(z, d)
            if which == 3 and a.ndim == 1 and a.nbytes < SMALL:
                known = signature, rule
        tensor = new(Tensor)
        tensor._array = z
        tensor._node = tensor._counter = tensor._view = tensor._grad = None
        tensor._born = born[0]
        tensor._signature = signature
        return tensor

    return jvp


def _differ(x: Any, y: Any) -> bool:
    """Whether two tensors differ in shape or dtype, or have no signature."""
    for each in (x, y):
        if each._signature is None:
            each._signature = signature_of(each._array)
    return not x._signature or x._signature is not y._signature


def _recorded(x: Any) -> bool:
    view = x._view
    return x._node is not None or (view is not None and view.base._node is not None)


def _fits(t: Array, signature: Any, under: ModeLike) -> bool:
    """Whether a tangent has the shape and dtype of `signature` and takes part in no graph."""
    if t._signature is None:
        t._signature = signature_of(t._array)
    return t._signature is signature and not (under and _recorded(t))


def _copied(d: Any, z: Any) -> Any:
    made = np.empty_like(z)
    np.copyto(made, d)
    return made


def _unfit(*operands: Array) -> None:
    """In place of a function, or of rules, where there is no fast path."""


def _direct(op: OperatorLike, compute: Callable, pattern: str, dtype: DTypeLike) -> Callable:
    """The forward rules for one pattern of operands that change ("t"), in one function of arrays.

    For `atan2` with two that change it is `add(rule_0(t0, x1, x0), rule_1(t1, x1, x0))`; for `mul`,
    whose rules are products, `add(multiply(t0, x1), multiply(t1, x0))`: of small arrays NumPy's
    functions are quicker than its operators.
    """
    scope: dict[str, Any] = {"xp": numpy_namespace, "add": np.add, "multiply": np.multiply}
    if "t" not in pattern:
        return _unfit
    terms = []
    for i, letter in enumerate(pattern):
        rule = op.jvps.get(op.inputs[i])
        if letter != "t":
            continue
        if rule is None:
            return _unfit
        scope[f"rule_{i}"] = rule.function
        texts = [_text(op, name, i) for name in rule.names]
        if None in texts:
            return _unfit
        if rule.function.__code__.co_code == _PRODUCT and len(texts) == 2:
            product = "{} * {}" if pattern == "tn" else "multiply({}, {})"
            terms.append(product.format(*texts))  # two calls less
        else:
            terms.append(f"rule_{i}({', '.join(map(str, texts))})")
    total = f"add({', '.join(terms)})" if len(terms) == 2 else terms[0]
    direct = eval(f"lambda x0, x1, t0, t1, y: {total}", scope)
    # what one call gives, all give: an array of the shape and the dtype of its operands
    ones = np.full((2, 1), 0.5, dtype)
    other = 0.5 if pattern == "tn" else ones
    out = compute(ones) if pattern == "t" else compute(ones, other)
    found = direct(ones, other, ones, ones, out)
    if not (type(out) is type(found) is ndarray and out.dtype is found.dtype is dtype):
        return _unfit
    return direct if out.shape == found.shape == ones.shape else _unfit


_PRODUCT = (lambda g, x: g * x).__code__.co_code


def _text(op: OperatorLike, name: str, i: int) -> str | None:
    """Where the value of a rule's parameter is found."""
    if name == "xp":
        return "xp"
    if name in ("t", "g"):
        return f"t{i}"
    for given in (name, name.removesuffix("_like")):
        if given in op.inputs:
            return f"x{op.inputs.index(given)}"
    return "y" if name == "y" else None
