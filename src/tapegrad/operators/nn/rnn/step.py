"""Recurrent layers step by step over any namespace: for tangents, and derivatives of derivatives.

The operators themselves run in kernels (`rnn.py`, `lstm.py` and `gru.py` in `arrays/numpy`), which
walk over time once, forth and back. What is here is slower, and differentiable itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapegrad.arrays.numpy.rnn import steps
from tapegrad.core.annotations import Array, Namespace


def through_time(
    xp: Namespace, state: tuple, sizes: tuple, reverse: bool, step: Callable
) -> tuple[list, list]:
    """Walk over time with `state = step(start, stop, state)` for rows start to stop.

    Returns what each step gave, in the order of the rows, and for each part of the state what it is
    at each sequence's end.
    """
    order = steps(sizes, reverse)
    first = state
    n = order[0][1] - order[0][0]
    state = tuple(x[:n, ...] for x in first)
    ended: list[tuple] = []
    found = []
    for start, stop in order:
        n, m = stop - start, state[0].shape[0]
        if n < m:
            ended.append(tuple(x[n:, ...] for x in state))
            state = tuple(x[:n, ...] for x in state)
        elif n > m:
            state = tuple(xp.concat([x, y[m:n, ...]]) for x, y in zip(state, first, strict=True))
        state = step(start, stop, state)
        found.append(state)
    last = [xp.concat(list(parts)) for parts in zip(state, *reversed(ended), strict=True)]
    return (found[::-1] if reverse else found), last


def joined(xp: Namespace, found: list, part: int, x: Array) -> Any:
    """One part of all states, with the leading axes of `x`."""
    rows = xp.concat([state[part] for state in found])
    return xp.reshape(rows, (*x.shape[:-1], rows.shape[-1]))


def rows_of(xp: Namespace, x: Array) -> Any:
    """(T, N, F) or (rows, F) as (rows, F)."""
    if len(x.shape) == 2:
        return x
    return xp.reshape(x, (x.shape[0] * x.shape[1], x.shape[2]))


def affine(xp: Namespace, x: Array, weight: Array, bias: Array = None) -> Any:
    product = xp.matmul(x, xp.matrix_transpose(weight))
    return product if bias is None else product + bias


def affine_tangent(
    xp: Namespace, x: Array, t: Array, weight: Array, t_weight: Any, t_bias: Any = None
) -> Any:
    """The tangent of `affine`."""
    change = affine(xp, t, weight) + affine(xp, x, t_weight)
    return change if t_bias is None else change + t_bias


def sigmoid(xp: Namespace, x: Array) -> Any:
    return 0.5 * xp.tanh(0.5 * x) + 0.5


def derivatives(function: Callable, inputs: Sequence, cotangents: Sequence) -> list:
    """The cotangents of the inputs of a function of tensors, differentiable themselves."""
    from tapegrad.autograd.backward_grad import grad
    from tapegrad.autograd.mode import enable_grad, is_grad_enabled

    recorded = is_grad_enabled()
    with enable_grad():
        # as names of their own: one input may depend on another
        own = [x.view_as(x) for x in inputs]
        found = iter(
            grad(
                function(own),
                [x for x in own if x.requires_grad],
                cotangents,
                create_graph=recorded,
                allow_unused=True,
            )
        )
    return [next(found) if x.requires_grad else None for x in own]
