"""Derivatives of operators against finite differences and against each other, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.autograd.backward_grad import grad
from tapegrad.autograd.forward.jvp import jvp
from tapegrad.autograd.gradcheck.numerical import difference_along
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.apply import promoted

STEP = 1e-5


def _tensors(sample: Any, track: bool) -> list:
    wrapped = []
    for i, x in enumerate(sample.inputs):
        if not isinstance(x, np.ndarray):
            wrapped.append(x)
            continue
        tensor = wrap(x.copy(order="K"))
        wrapped.append(
            tensor.requires_grad_() if track and i in sample.differentiable() else tensor
        )
    return wrapped


def outputs_of(op: Any, inputs: list, params: dict) -> list:
    """The outputs of a call that have a gradient, as a list of tensors."""
    out = op.call(*inputs, **params)
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    if op.output_names and not op.multi:
        return [outs[op.differentiable_output]]
    return [
        o
        for i, o in enumerate(outs)
        if i not in op.constant_outputs and (o.dtype.is_floating_point or o.dtype.is_complex)
    ]


def _weights(outs: list, rng: Any) -> list:
    found = []
    for o in outs:
        w = rng.standard_normal(tuple(o.shape))
        if o.dtype.is_complex:
            w = w + 1j * rng.standard_normal(tuple(o.shape))
        found.append(wrap(np.asarray(w, dtype=o._array.dtype)))
    return found


def _value(op: Any, sample: Any, arrays: list, weights: list) -> float:
    """The real inner product of the outputs with the weights."""
    inputs = [
        wrap(a) if isinstance(a, np.ndarray) else x
        for a, x in zip(arrays, sample.inputs, strict=True)
    ]
    outs = outputs_of(op, inputs, sample.params)
    return float(
        sum(np.sum((o._array * np.conj(w._array)).real) for o, w in zip(outs, weights, strict=True))
    )


def _direction(sample: Any, i: int, index: tuple, unit: complex) -> np.ndarray:
    """A change of one element of input `i`, or what of it keeps the input of its kind."""
    x = sample.inputs[i]
    found = np.zeros(x.shape, x.dtype)
    found[index] = unit
    return sample.projected(i, found)


def _numeric(sample: Any, value: Callable[[list], float]) -> list:
    """The gradient of `value(inputs)` for each differentiable input, by central differences."""
    return [_numeric_gradient(sample, i, value) for i in sample.differentiable()]


def _numeric_gradient(sample: Any, i: int, value: Callable[[list], float]) -> np.ndarray:
    moved = [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in sample.inputs]
    x = moved[i]
    result = np.zeros(x.shape, x.dtype)
    for index in np.ndindex(x.shape):
        for unit in (1.0, 1j) if x.dtype.kind == "c" else (1.0,):
            direction = _direction(sample, i, index, unit)
            (slope,) = difference_along(lambda: [value(moved)], x, direction, STEP)
            result[index] += unit * slope
    return result


def numeric_gradients(op: Any, sample: Any, weights: list) -> list:
    """The gradients of <weights, outputs> for each differentiable input, by central differences."""
    return _numeric(sample, lambda moved: _value(op, sample, moved, weights))


def _worst(got: list, want: list) -> float:
    """The largest difference relative to the size of what is expected."""
    worst = 0.0
    for g, w in zip(got, want, strict=True):
        if g is None:
            g = np.zeros(w.shape)
        if g.shape != w.shape:
            raise AssertionError(f"a gradient of shape {g.shape} for an input of shape {w.shape}")
        if w.size:
            worst = max(worst, float(np.max(np.abs(g - w)) / (1 + np.max(np.abs(w)))))
    return worst


def _arrays(sample: Any, gradients: Any) -> list:
    """The gradients of the differentiable inputs as arrays, as far as they keep to their kind."""
    return [
        None if g is None else sample.projected(i, g._array)
        for i, g in zip(sample.differentiable(), gradients, strict=True)
    ]


def vjp_error(op: Any, sample: Any, seed: int = 0) -> float:
    """How far the reverse rules are from central differences, relative to 1 + the largest value."""
    inputs = _tensors(sample, True)
    outs = outputs_of(op, inputs, sample.params)
    targets = [inputs[i] for i in sample.differentiable()]
    outs = [o for o in outs if o.requires_grad]
    if not outs or not targets:
        raise AssertionError("no output depends on an input")
    weights = _weights(outs, np.random.default_rng(seed))
    got = _arrays(sample, grad(outs, targets, weights, allow_unused=True))
    return _worst(got, numeric_gradients(op, sample, weights))


def tangents_of(op: Any, arrays: list, tangents: list, params: dict) -> list:
    """The forward rules on arrays: tangents of the outputs that have a gradient.

    `tangents` has an array for each input, or None where the input does not change.
    """
    xp = namespace_of(arrays)
    if op.promote is not None:
        arrays = promoted(op, xp, arrays)
    out = op.forward(xp, *arrays, **params)
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    found = jvp(op, xp, arrays, tangents, params, outs, arrays)
    return [xp.broadcast_to(t, y.shape) for t, y in zip(found, outs, strict=True) if t is not None]


def jvp_error(op: Any, sample: Any, seed: int = 0) -> float:
    """How far <u, J v> by the forward rules is from <J^H u, v> by the reverse rules."""
    rng = np.random.default_rng(seed)
    inputs = _tensors(sample, True)
    outs = outputs_of(op, inputs, sample.params)
    positions = sample.differentiable()
    weights = _weights(outs, rng)
    tangents: list[Any] = [None] * len(inputs)
    for i in positions:
        x = sample.inputs[i]
        t = rng.standard_normal(x.shape)
        if x.dtype.kind == "c":
            t = t + 1j * rng.standard_normal(x.shape)
        tangents[i] = np.asarray(sample.projected(i, t))
    arrays = [getattr(x, "_array", x) for x in inputs]
    pushed = tangents_of(op, arrays, tangents, sample.params)
    pulled = grad(outs, [inputs[i] for i in positions], weights, allow_unused=True)
    forward = sum(
        np.sum((np.conj(w._array) * t).real) for w, t in zip(weights, pushed, strict=True)
    )
    reverse = sum(
        np.sum((np.conj(g._array) * tangents[i]).real)
        for g, i in zip(pulled, positions, strict=True)
        if g is not None
    )
    return float(abs(forward - reverse) / (1 + abs(reverse)))


def second_order_error(op: Any, sample: Any, seed: int = 0) -> float:
    """How far derivatives of <first gradients, u> are from central differences of the gradients."""
    positions = sample.differentiable()
    inputs = _tensors(sample, True)
    outs = [o for o in outputs_of(op, inputs, sample.params) if o.requires_grad]
    weights = [w.requires_grad_() for w in _weights(outs, np.random.default_rng(seed))]
    targets = [inputs[i] for i in positions]
    firsts = grad(outs, targets, weights, create_graph=True, allow_unused=True)
    known = [i for i, g in enumerate(firsts) if g is not None and g.requires_grad]
    if not known:
        return 0.0
    directions = _weights([firsts[i] for i in known], np.random.default_rng(seed + 1))
    seconds = grad([firsts[i] for i in known], targets, directions, allow_unused=True)

    def first_gradients(moved: list) -> float:
        fresh = [
            wrap(m).requires_grad_() if i in positions else x
            for i, (m, x) in enumerate(zip(moved, inputs, strict=True))
        ]
        again = [o for o in outputs_of(op, fresh, sample.params) if o.requires_grad]
        gs = grad(again, [fresh[i] for i in positions], weights, allow_unused=True)
        return float(
            sum(
                np.sum((gs[i]._array * np.conj(d._array)).real)
                for i, d in zip(known, directions, strict=True)
            )
        )

    return _worst(_arrays(sample, seconds), _numeric(sample, first_gradients))
