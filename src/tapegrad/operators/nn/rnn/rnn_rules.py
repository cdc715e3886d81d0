"""Recurrent layers step by step over any namespace: for tangents, and derivatives of derivatives.

The operators themselves run in kernels (`rnn.py`, `lstm.py` and `gru.py` in `arrays/numpy`), which
walk over time once, forth and back. What is here is slower, and differentiable itself.
"""

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.numpy.rnn import steps
from tapegrad.core.annotations import Any, Array, Callable, Namespace, Sequence
from tapegrad.dispatch.op import primitive, vjp
from tapegrad.operators.nn.rnn.cell import stepwise_gru, stepwise_lstm, stepwise_rnn


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
    return x if len(x.shape) == 2 else xp.reshape(x, (x.shape[0] * x.shape[1], x.shape[2]))


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


def _of_input(xp, x, t_x, w_ih, t_w_ih, b_ih, t_b_ih):
    """What the gates get of the input at all times, and the tangent of that."""
    rows = rows_of(xp, x)
    change = affine_tangent(xp, rows, rows_of(xp, t_x), w_ih, t_w_ih, t_b_ih)
    return affine(xp, rows, w_ih, b_ih), change


def _gru_tangent(xp, t, inputs, sizes, reverse):
    x, h, w_ih, w_hh, b_ih, b_hh = (*inputs, None, None)[:6]
    t_x, t_h, t_w_ih, t_w_hh, t_b_ih, t_b_hh = (*t, None, None)[:6]
    product, change = _of_input(xp, x, t_x, w_ih, t_w_ih, b_ih, t_b_ih)

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


gru_layer.jvp(inputs=_gru_tangent)


@tensor_kernel
def gru_back(inputs, g, before, gates, sizes, reverse, wants_input):
    def forward(inputs):
        x, h, *weights = inputs
        return stepwise_gru(x, [h], weights, sizes, reverse)

    return derivatives(forward, inputs, [g])


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


def _named(inputs: Sequence, has_bias: bool) -> tuple:
    """x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr; None for what there is not."""
    rest = list(inputs[5:])
    biases = rest[:2] if has_bias else (None, None)
    return (*inputs[:5], *biases, rest[-1] if len(rest) % 2 else None)


def _lstm_gates(xp: Namespace, a: Array) -> tuple:
    """The gates i, f, n, o of their arguments side by side."""
    n = a.shape[-1] // 4
    i, f, candidate, o = (a[..., k * n : (k + 1) * n] for k in range(4))
    return sigmoid(xp, i), sigmoid(xp, f), xp.tanh(candidate), sigmoid(xp, o)


def _lstm_tangent(xp, t, inputs, has_bias, sizes, reverse):
    x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr = _named(inputs, has_bias)
    t_x, t_h, t_c, t_w_ih, t_w_hh, t_b_ih, t_b_hh, t_w_hr = _named(t, has_bias)
    product, change = _of_input(xp, x, t_x, w_ih, t_w_ih, b_ih, t_b_ih)
    size = c.shape[-1]

    def step(start, stop, state):
        h, c, t_h, t_c = state
        i, f, n, o = _lstm_gates(xp, product[start:stop, ...] + affine(xp, h, w_hh, b_hh))
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


lstm_layer.jvp(inputs=_lstm_tangent)


@tensor_kernel
def lstm_back(inputs, g, g_cell, before, gates, cells, has_bias, sizes, reverse, wants_input):
    def forward(inputs):
        x, h, c, *weights = inputs
        return stepwise_lstm(x, [h, c], weights, sizes, reverse, has_bias)

    return derivatives(forward, inputs, [g, g_cell])


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
    x, h, w_ih, w_hh, b_ih, b_hh = (*inputs, None, None)[:6]
    t_x, t_h, t_w_ih, t_w_hh, t_b_ih, t_b_hh = (*t, None, None)[:6]
    product, change = _of_input(xp, x, t_x, w_ih, t_w_ih, b_ih, t_b_ih)

    def step(start, stop, state):
        h, t_h = state
        a = product[start:stop, ...] + affine(xp, h, w_hh, b_hh)
        t_a = change[start:stop, ...] + affine_tangent(xp, h, t_h, w_hh, t_w_hh, t_b_hh)
        y, slope = _activated(xp, a, activation)
        return y, slope * t_a

    return joined(xp, through_time(xp, (h, t_h), sizes, reverse, step)[0], 1, x)


rnn_layer.jvp(inputs=_tangent)


@tensor_kernel
def rnn_back(inputs, g, states, activation, sizes, reverse, wants_input):
    def forward(inputs):
        x, h, *weights = inputs
        return stepwise_rnn(x, [h], weights, sizes, reverse, activation)

    return derivatives(forward, inputs, [g])
