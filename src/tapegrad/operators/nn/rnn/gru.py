"""A layer of gated recurrent units, of all times, as one operator."""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.kernel import tensor_kernel
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


@vjp(
    inputs=lambda xp, g, inputs, before, gates, sizes, reverse, wants_input: xp.gru_back(
        inputs, g, before, gates, sizes, reverse, wants_input
    )
)
@primitive(
    node="StackBackward0",
    outputs=("output", "before", "gates"),
    nondiff=("before", "gates"),
    kernels=("gru", "gru_back"),
)
def gru_layer(xp, *inputs, sizes, reverse, wants_input):
    """A layer of gated recurrent units: the outputs h of all times.

        r, z = sigmoid(w x_t + b + u h_(t-1) + d), with w, b, u, d of each,
        n = tanh(w_n x_t + b_n + r (u_n h_(t-1) + d_n)),
        h_t = (1 - z) n + z h_(t-1).

    `inputs` are x (T, N, I) or (rows, I), h_0 (N, H), w_ih (3H, I), w_hh (3H, H), and two biases
    (3H) or none. `sizes` are the rows of each time; `reverse` walks from the last to the first.
    """
    return xp.gru(inputs, sizes, reverse)


def _three(a: Any) -> tuple:
    n = a.shape[-1] // 3
    return a[..., :n], a[..., n : 2 * n], a[..., 2 * n :]


def _tangent(xp, t, inputs, sizes, reverse):
    x, h, w_ih, w_hh, *biases = inputs
    b_ih, b_hh = biases or (None, None)
    t_x, t_h, t_w_ih, t_w_hh, *t_biases = t
    t_b_ih, t_b_hh = t_biases or (None, None)
    rows = rows_of(xp, x)
    product = affine(xp, rows, w_ih, b_ih)
    change = affine_tangent(xp, rows, rows_of(xp, t_x), w_ih, t_w_ih, t_b_ih)

    def step(start, stop, state):
        h, t_h = state
        r_x, z_x, n_x = _three(product[start:stop, ...])
        t_r_x, t_z_x, t_n_x = _three(change[start:stop, ...])
        r_h, z_h, n_h = _three(affine(xp, h, w_hh, b_hh))
        t_r_h, t_z_h, t_n_h = _three(affine_tangent(xp, h, t_h, w_hh, t_w_hh, t_b_hh))
        r, z = sigmoid(xp, r_x + r_h), sigmoid(xp, z_x + z_h)
        t_r, t_z = (t_r_x + t_r_h) * r * (1 - r), (t_z_x + t_z_h) * z * (1 - z)
        n = xp.tanh(n_x + r * n_h)
        t_n = (t_n_x + t_r * n_h + r * t_n_h) * (1 - n * n)
        return n + z * (h - n), t_n + t_z * (h - n) + z * (t_h - t_n)

    return joined(xp, through_time(xp, (h, t_h), sizes, reverse, step)[0], 1, x)


gru_layer.jvp(inputs=_tangent)


# --- the kernel on tensors, for derivatives of derivatives ----------------------------------------


@tensor_kernel
def gru_back(inputs, g, before, gates, sizes, reverse, wants_input):
    xp = TENSOR_NAMESPACE()

    def forward(inputs):
        x, h, w_ih, w_hh, *biases = inputs
        b_ih, b_hh = biases or (None, None)
        product = affine(xp, rows_of(xp, x), w_ih, b_ih)

        def step(start, stop, state):
            h = state[0]
            r_x, z_x, n_x = _three(product[start:stop, ...])
            r_h, z_h, n_h = _three(affine(xp, h, w_hh, b_hh))
            n = xp.tanh(n_x + sigmoid(xp, r_x + r_h) * n_h)
            return (n + sigmoid(xp, z_x + z_h) * (h - n),)

        return [joined(xp, through_time(xp, (h,), sizes, reverse, step)[0], 0, x)]

    return derivatives(forward, inputs, [g])
