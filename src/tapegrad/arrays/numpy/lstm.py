"""Kernels of long short-term memory on NumPy arrays; see `arrays/numpy/rnn.py`.

The four gates stand side by side: input, forget, candidate, output. A sigmoid is a tanh of half
the argument, so that one call of tanh serves all four: sigmoid(a) = tanh(a / 2) / 2 + 1/2.
"""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy import rnn
from tapegrad.core.annotations import Any, Array


@kernel
@rnn.wide
def lstm(inputs: Any, has_bias: bool, sizes: tuple, reverse: bool) -> tuple:
    """Outputs of all times and the last cells; then, for the way back, the states h before each
    time, all gates and all cells."""
    x, first_h, first_c, w_ih, w_hh, *rest = inputs
    w_hr = rest[-1].T if len(rest) % 2 else None
    n = first_c.shape[1]
    half = np.full(4 * n, 0.5, x.dtype)
    half[2 * n : 3 * n] = 1
    shift = 1 - half
    rows = rnn.flat(x)
    gates = np.matmul(rows, (w_ih * half[:, None]).T, out=rnn.empty(x, len(rows), 4 * n))
    if has_bias:
        gates += (rest[0] + rest[1]) * half
    w = np.multiply(w_hh.T, half, order="C")  # a copy, also of a single column
    output = rnn.empty(x, len(rows), first_h.shape[1])
    cells = rnn.empty(x, len(rows), n)
    inner = rnn.empty(x, len(first_h), 4 * n)
    order = rnn.steps(sizes, reverse)
    last = None
    for start, stop in order:
        a = gates[start:stop]
        h = rnn.state_before(output, first_h, start, stop, last)
        a += np.matmul(h, w, out=inner[: stop - start])
        np.tanh(a, a)
        a *= half
        a += shift
        c = cells[start:stop]
        np.multiply(a[:, n : 2 * n], rnn.state_before(cells, first_c, start, stop, last), c)
        t = a[:, :n] * a[:, 2 * n : 3 * n]
        c += t
        np.tanh(c, t)
        if w_hr is None:
            np.multiply(a[:, 3 * n :], t, output[start:stop])
        else:
            t *= a[:, 3 * n :]
            np.matmul(t, w_hr, output[start:stop])
        last = start, stop
    before = rnn.states_before(output, first_h, order)
    return rnn.like_input(output, x), rnn.last_states(cells, first_c, order), before, gates, cells


def _slopes(gates: Array, cells: Any, first_c: Any, order: list) -> tuple:
    """What a change of the cell, or of the output, does to each gate's argument; tanh(cells), and
    what a change of the output does to the cell."""
    n = cells.shape[1]
    i, candidate, o = (gates[:, k * n : (k + 1) * n] for k in (0, 2, 3))
    t = np.tanh(cells, rnn.empty(cells, *cells.shape))
    d = np.subtract(1, gates, rnn.empty(gates, *gates.shape))
    d *= gates  # the slope of a sigmoid; that of the candidate follows
    d[:, :n] *= candidate
    d[:, n : 2 * n] *= rnn.states_before(cells, first_c, order)
    slope = d[:, 2 * n : 3 * n]
    np.multiply(candidate, candidate, slope)
    np.subtract(1, slope, slope)
    slope *= i
    d[:, 3 * n :] *= t
    through = np.multiply(t, t, rnn.empty(t, *t.shape))
    np.subtract(1, through, through)
    through *= o
    return d, t, through


@kernel
@rnn.wide
def lstm_back(
    inputs: Any,
    g: Array,
    g_cell: Any,
    before: Any,
    gates: Array,
    cells: Any,
    has_bias: bool,
    sizes: tuple,
    reverse: bool,
    wants_input: bool,
) -> list:
    """The cotangents of the inputs of `lstm`."""
    x, first_h, first_c, w_ih, w_hh, *rest = inputs
    w_hr = rest[-1] if len(rest) % 2 else None
    n = cells.shape[1]
    order = rnn.steps(sizes, reverse)
    d, t, through = _slopes(gates, cells, first_c, order)
    by_gate = d.reshape(-1, 4, n)
    g_h, g_c = np.zeros_like(first_h), np.array(g_cell)
    projected = None if w_hr is None else rnn.empty(g, len(gates), g.shape[-1])
    forget = gates[:, n : 2 * n]
    for (start, stop), arriving in zip(
        reversed(order), reversed(rnn.pieces(g, order)), strict=True
    ):
        h = g_h[: stop - start]
        h += arriving
        hidden = h
        if projected is not None:
            projected[start:stop] = h
            hidden = h @ w_hr
        d[start:stop, 3 * n :] *= hidden
        change = through[start:stop]
        change *= hidden
        c = g_c[: stop - start]
        c += change
        by_gate[start:stop, :3] *= c[:, None]
        c *= forget[start:stop]
        np.matmul(d[start:stop], w_hh, out=h)
    found = [rnn.like_input(d @ w_ih, x) if wants_input else None, g_h, g_c]
    found += [d.T @ rnn.flat(x), d.T @ before]
    if has_bias:
        total = rnn.column_sums(d)
        found += [total, total.copy()]
    if projected is not None:
        t *= gates[:, 3 * n :]
        found.append(projected.T @ t)
    return found
