"""A layer of long short-term memory, of all times, as one operator."""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core.annotations import Array, Namespace
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.dispatch.op import primitive, vjp
from tapegrad.operators.nn.rnn.step import (
    affine,
    affine_tangent,
    derivatives,
    joined,
    rows_of,
    sigmoid,
    through_time,
)


def _cotangents(
    xp, g_output, g_cell, inputs, before, gates, cells, has_bias, sizes, reverse, wants_input
):
    return xp.lstm_back(
        inputs, g_output, g_cell, before, gates, cells, has_bias, sizes, reverse, wants_input
    )


@vjp(inputs=_cotangents)
@primitive(
    node="MkldnnRnnLayerBackward0",
    outputs=("output", "cell", "before", "gates", "cells"),
    nondiff=("before", "gates", "cells"),
    kernels=("lstm", "lstm_back"),
)
def lstm_layer(xp, *inputs, has_bias, sizes, reverse, wants_input):
    """A layer of long short-term memory: the outputs h of all times, and the last cells c.

        i, f, o = sigmoid(w x_t + b + u h_(t-1) + d), with w, b, u, d of each,
        n = tanh(w_n x_t + b_n + u_n h_(t-1) + d_n),
        c_t = f c_(t-1) + i n,    h_t = w_hr (o tanh(c_t)).

    `inputs` are x (T, N, I) or (rows, I), h_0 (N, P), c_0 (N, H), w_ih (4H, I), w_hh (4H, P), with
    `has_bias` b_ih and b_hh (4H), and w_hr (P, H) or nothing. `sizes` are the rows of each time;
    `reverse` walks from the last time to the first.
    """
    return xp.lstm(inputs, has_bias, sizes, reverse)


def _named(inputs: Any, has_bias: bool) -> tuple:
    """x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr; None for what there is not."""
    rest = list(inputs[5:])
    biases = rest[:2] if has_bias else (None, None)
    return (*inputs[:5], *biases, rest[-1] if len(rest) % 2 else None)


def _activated(xp: Namespace, a: Array) -> tuple:
    """The gates i, f, n, o of their arguments side by side."""
    n = a.shape[-1] // 4
    i, f, candidate, o = (a[..., k * n : (k + 1) * n] for k in range(4))
    return sigmoid(xp, i), sigmoid(xp, f), xp.tanh(candidate), sigmoid(xp, o)


def _tangent(xp, t, inputs, has_bias, sizes, reverse):
    x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr = _named(inputs, has_bias)
    t_x, t_h, t_c, t_w_ih, t_w_hh, t_b_ih, t_b_hh, t_w_hr = _named(t, has_bias)
    rows = rows_of(xp, x)
    product = affine(xp, rows, w_ih, b_ih)
    change = affine_tangent(xp, rows, rows_of(xp, t_x), w_ih, t_w_ih, t_b_ih)
    size = c.shape[-1]

    def step(start, stop, state):
        h, c, t_h, t_c = state
        i, f, n, o = _activated(xp, product[start:stop, ...] + affine(xp, h, w_hh, b_hh))
        t_a = change[start:stop, ...] + affine_tangent(xp, h, t_h, w_hh, t_w_hh, t_b_hh)
        t_i, t_f, t_n, t_o = (t_a[..., k * size : (k + 1) * size] for k in range(4))
        t_i, t_f, t_o = t_i * i * (1 - i), t_f * f * (1 - f), t_o * o * (1 - o)
        t_c = t_f * c + f * t_c + t_i * n + i * (1 - n * n) * t_n
        c = f * c + i * n
        y = xp.tanh(c)
        h, t_h = o * y, t_o * y + o * (1 - y * y) * t_c
        if w_hr is not None:
            h, t_h = affine(xp, h, w_hr), affine_tangent(xp, h, t_h, w_hr, t_w_hr)
        return h, c, t_h, t_c

    found, last = through_time(xp, (h, c, t_h, t_c), sizes, reverse, step)
    return joined(xp, found, 2, x), last[3]


lstm_layer.jvp(inputs=_tangent)


# --- the kernel on tensors, for derivatives of derivatives ----------------------------------------


@tensor_kernel
def lstm_back(inputs, g, g_cell, before, gates, cells, has_bias, sizes, reverse, wants_input):
    xp = TENSOR_NAMESPACE()

    def forward(inputs):
        x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr = _named(inputs, has_bias)
        product = affine(xp, rows_of(xp, x), w_ih, b_ih)

        def step(start, stop, state):
            h, c = state
            i, f, n, o = _activated(xp, product[start:stop, ...] + affine(xp, h, w_hh, b_hh))
            c = f * c + i * n
            h = o * xp.tanh(c)
            return h if w_hr is None else affine(xp, h, w_hr), c

        found, last = through_time(xp, (h, c), sizes, reverse, step)
        return [joined(xp, found, 0, x), last[1]]

    return derivatives(forward, inputs, [g, g_cell])
