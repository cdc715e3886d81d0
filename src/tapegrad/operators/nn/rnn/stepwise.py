"""Recurrent layers one step after the other, as autocast runs them.

Products are in lower precision, the state stays in float32: what the one operator of a layer, which
computes in one dtype, cannot do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.core.annotations import TensorLike
from tapegrad.operators.linalg.linear import linear
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import sigmoid
from tapegrad.operators.pointwise.trigonometry import tanh
from tapegrad.operators.shape.cat_stack import cat, stack


def stepwise_lstm(
    x: TensorLike, start: list, weights: Any, sizes: tuple, reverse: bool, has_bias: bool
) -> tuple:
    """A layer of long short-term memory: the outputs, and the last c."""
    w_ih, w_hh, *rest = weights
    b_ih, b_hh, *rest = rest if has_bias else (None, None, *rest)

    def step(gates: Any, states: list) -> list:
        h, c = states
        i, f, n, o = (gates + linear(h, w_hh, b_hh)).chunk(4, 1)
        c = sigmoid(f) * c + sigmoid(i) * tanh(n)
        h = sigmoid(o) * tanh(c)
        return [linear(h, rest[0]) if rest else h, c]

    return _stepped(linear(x, w_ih, b_ih), start, sizes, reverse, step)


def stepwise_gru(x: TensorLike, start: list, weights: Any, sizes: tuple, reverse: bool) -> tuple:
    """A layer of gated recurrent units: the outputs."""
    w_ih, w_hh, b_ih, b_hh = (*weights, None, None)[:4]

    def step(gates: Any, states: list) -> list:
        (h,) = states
        r_x, z_x, n_x = gates.chunk(3, 1)
        r_h, z_h, n_h = linear(h, w_hh, b_hh).chunk(3, 1)
        n = tanh(n_x + sigmoid(r_x + r_h) * n_h)
        return [(h - n) * sigmoid(z_x + z_h) + n]

    return _stepped(linear(x, w_ih, b_ih), start, sizes, reverse, step)


def _stepped(gates: Any, start: list, sizes: tuple, reverse: bool, step: Callable) -> tuple:
    """The outputs of all steps, and the last of each part of the state but the first.

    `gates` are (length, batch, ...), or packed: the rows of all steps, `sizes` of them in each.
    """
    rows = gates.split(list(sizes)) if gates.ndim == 2 else gates.unbind(0)
    outputs: list[Any] = [None] * len(sizes)
    ended: list[list] = []  # states of sequences that are over
    states = [part[: sizes[-1 if reverse else 0]] for part in start]
    for i in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        n, before = sizes[i], states[0].shape[0]
        if n > before:  # sequences that begin here, seen from their end
            states = [cat([s, part[before:n]]) for s, part in zip(states, start, strict=True)]
        elif n < before:
            ended.append([s[n:] for s in states])
            states = [s[:n] for s in states]
        states = step(rows[i], states)
        outputs[i] = states[0]
    last = [
        cat([states[k], *(s[k] for s in reversed(ended))]) if ended else states[k]
        for k in range(1, len(states))
    ]
    return (cat(outputs) if gates.ndim == 2 else stack(outputs), *last)
