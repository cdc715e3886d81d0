"""A layer of the simplest recurrent network, of all times, as one operator."""

from __future__ import annotations

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
    through_time,
)


@vjp(
    inputs=lambda xp, g, inputs, states, activation, sizes, reverse, wants_input: xp.rnn_back(
        inputs, g, states, activation, sizes, reverse, wants_input
    )
)
@primitive(
    node="StackBackward0",
    outputs=("output", "states"),
    nondiff=("states",),
    kernels=("rnn", "rnn_back"),
)
def rnn_layer(xp, *inputs, activation, sizes, reverse, wants_input):
    """A recurrent layer: h_t = activation(w_ih x_t + b_ih + w_hh h_(t-1) + b_hh) of all times.

    `inputs` are x (T, N, I) or (rows, I), h_0 (N, H), w_ih (H, I), w_hh (H, H), and two biases (H)
    or none. `sizes` are the rows of each time; `reverse` walks from the last time to the first.
    """
    return xp.rnn(inputs, activation, sizes, reverse)


def _activated(xp: Namespace, a: Array, activation: str) -> tuple:
    """The activation, and its slope."""
    if activation == "tanh":
        y = xp.tanh(a)
        return y, 1 - y * y
    positive = a > 0
    zero = xp.zeros_like(a)
    return xp.where(positive, a, zero), xp.where(positive, zero + 1, zero)


def _tangent(xp, t, inputs, activation, sizes, reverse):
    x, h, w_ih, w_hh, *biases = inputs
    b_ih, b_hh = biases or (None, None)
    t_x, t_h, t_w_ih, t_w_hh, *t_biases = t
    t_b_ih, t_b_hh = t_biases or (None, None)
    rows = rows_of(xp, x)
    product = affine(xp, rows, w_ih, b_ih)
    change = affine_tangent(xp, rows, rows_of(xp, t_x), w_ih, t_w_ih, t_b_ih)

    def step(start, stop, state):
        h, t_h = state
        a = product[start:stop, ...] + affine(xp, h, w_hh, b_hh)
        t_a = change[start:stop, ...] + affine_tangent(xp, h, t_h, w_hh, t_w_hh, t_b_hh)
        y, slope = _activated(xp, a, activation)
        return y, slope * t_a

    return joined(xp, through_time(xp, (h, t_h), sizes, reverse, step)[0], 1, x)


rnn_layer.jvp(inputs=_tangent)


# --- the kernel on tensors, for derivatives of derivatives ----------------------------------------


@tensor_kernel
def rnn_back(inputs, g, states, activation, sizes, reverse, wants_input):
    xp = TENSOR_NAMESPACE()

    def forward(inputs):
        x, h, w_ih, w_hh, *biases = inputs
        b_ih, b_hh = biases or (None, None)
        product = affine(xp, rows_of(xp, x), w_ih, b_ih)

        def step(start, stop, state):
            a = product[start:stop, ...] + affine(xp, state[0], w_hh, b_hh)
            return (_activated(xp, a, activation)[0],)

        return [joined(xp, through_time(xp, (h,), sizes, reverse, step)[0], 0, x)]

    return derivatives(forward, inputs, [g])
