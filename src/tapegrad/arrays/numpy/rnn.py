"""Kernels of recurrent layers on NumPy arrays: what they have in common, and the simplest one.

Rows of a batch of sequences stand one time after the other: `sizes[t]` of them at time t, never
more than at the time before, as in a packed sequence. A kernel walks over time once; whatever does
not depend on the state is computed for all times at once.
"""

from functools import wraps
from itertools import accumulate, pairwise
from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blas_threads import one_blas_thread, product, share_products
from tapegrad.arrays.numpy.blocks import PRODUCT
from tapegrad.arrays.numpy.memory_pool import empty as empty_array
from tapegrad.core.annotations import Any, Array, Callable, Sequence

F32 = np.dtype(np.float32)
BLOCK = 1 << 15  # elements: all gates of so many rows stay in a second-level cache


def steps(sizes: tuple[int, ...], reverse: bool) -> list[tuple[int, int]]:
    """First and last row of each step, in the order in which they are walked."""
    found = list(pairwise(accumulate(sizes, initial=0)))
    return found[::-1] if reverse else found


def empty(like: Array, *shape: int) -> Any:
    """An array of any values in the dtype of `like`."""
    return empty_array(prod(shape), like.dtype).reshape(shape)


def state_before(states: Any, first: Any, start: int, stop: int, last: tuple | None) -> Any:
    """The state that the step `start:stop` begins with; `last` is the step before it."""
    n = stop - start
    if last is None:
        return first[:n]
    m = last[1] - last[0]
    if n <= m:
        return states[last[0] : last[0] + n]
    return np.concatenate((states[last[0] : last[1]], first[m:n]))


def states_before(states: Any, first: Any, order: list) -> Any:
    """For each row the state before it."""
    found = empty(states, *states.shape)
    last = None
    for start, stop in order:
        found[start:stop] = state_before(states, first, start, stop, last)
        last = start, stop
    return found


def last_states(states: Any, first: Any, order: list) -> Any:
    """The state in which each sequence ends."""
    start, stop = order[-1]
    if stop - start == len(first):
        return states[start:stop].copy()
    found = np.empty_like(first)
    for start, stop in order:
        found[: stop - start] = states[start:stop]
    return found


def flat(x: Array) -> Any:
    """(T, N, F) or (rows, F) as (rows, F)."""
    return x.reshape(-1, x.shape[2]) if x.ndim == 3 else x


def pieces(g: Array, order: list) -> list:
    """The rows of each step of (T, N, F) or (rows, F)."""
    if g.ndim == 2:
        return [g[start:stop] for start, stop in order]
    return list(g if order[0][0] == 0 else g[::-1])


def like_input(rows: Any, x: Array) -> Any:
    """(rows, F) with the leading axes of `x`."""
    return rows.reshape(*x.shape[:2], rows.shape[1]) if x.ndim == 3 else rows


def column_sums(d: Array) -> Any:
    return np.ones(len(d), d.dtype) @ d


def wide(kernel: Callable) -> Callable:
    """The kernel, which computes numbers of 16 bits in float32.

    A product for each time is too short for the BLAS to start threads; those for all times are
    shared out by `product`.
    """

    @wraps(kernel)
    def call(inputs: Sequence, *values: Any) -> Any:
        x = inputs[0]
        if x.size * inputs[1].shape[-1] < PRODUCT:
            return compute(inputs, values)
        with one_blas_thread():
            return compute(inputs, values)

    def compute(inputs: Sequence, values: tuple) -> Any:
        dtype = inputs[0].dtype
        if dtype.itemsize != 2:
            return kernel(inputs, *values)
        values = tuple(_cast(x, dtype, F32) for x in values)
        out = kernel([x.astype(F32) for x in inputs], *values)
        if isinstance(out, np.ndarray):
            return out.astype(dtype)
        return type(out)(_cast(x, F32, dtype) for x in out)

    return call


def _cast(x: Array, source: Array, target: Array) -> Any:
    return x.astype(target) if isinstance(x, np.ndarray) and x.dtype == source else x


# --- tanh and relu ---------------------------------------------------------------------------


@kernel
@wide
def rnn(inputs: Sequence, activation: str, sizes: tuple, reverse: bool) -> tuple:
    """h_t = activation(w_ih x_t + b_ih + w_hh h_(t-1) + b_hh) of all times, and a copy of them.

    The copy is for the way back: what is given out may be written in place.
    """
    x, first, w_ih, w_hh, *biases = inputs
    rows = flat(x)
    output = product(rows, w_ih.T, empty(x, len(rows), first.shape[1]))
    if biases:
        output += biases[0] + biases[1]
    w = np.ascontiguousarray(w_hh.T)
    inner = np.empty_like(first)
    last = None
    for start, stop in steps(sizes, reverse):
        h = output[start:stop]
        h += np.matmul(state_before(output, first, start, stop, last), w, out=inner[: stop - start])
        if activation == "tanh":
            np.tanh(h, h)
        else:
            np.maximum(h, 0, out=h)
        last = start, stop
    return like_input(output, x), output.copy()


@kernel
@wide
def rnn_back(
    inputs: Sequence,
    g: Array,
    states: Any,
    activation: str,
    sizes: tuple,
    reverse: bool,
    wants_input: bool,
) -> list:
    """The cotangents of the inputs of `rnn`."""
    x, first, w_ih, w_hh, *biases = inputs
    order = steps(sizes, reverse)
    d = 1 - states * states if activation == "tanh" else (states > 0).astype(states.dtype)
    g_state = np.zeros_like(first)
    for (start, stop), arriving in zip(reversed(order), reversed(pieces(g, order)), strict=True):
        d_now = d[start:stop]
        g_now = g_state[: stop - start]
        g_now += arriving
        d_now *= g_now
        np.matmul(d_now, w_hh, out=g_now)
    found = [like_input(product(d, w_ih), x) if wants_input else None, g_state]
    found += [product(d.T, flat(x)), product(d.T, states_before(states, first, order))]
    if biases:
        total = column_sums(d)
        found += [total, total.copy()]
    return found


@kernel
@wide
def lstm(inputs: Sequence, has_bias: bool, sizes: tuple, reverse: bool) -> tuple:
    """Outputs of all times and the last cells; then, for the way back, the states h before each
    time, all gates and all cells."""
    x, first_h, first_c, w_ih, w_hh, *rest = inputs
    w_hr = rest[-1].T if len(rest) % 2 else None
    n = first_c.shape[1]
    half = np.full(4 * n, 0.5, x.dtype)
    half[2 * n : 3 * n] = 1
    shift = 1 - half
    rows = flat(x)
    gates = product(rows, (w_ih * half[:, None]).T, empty(x, len(rows), 4 * n))
    if has_bias:
        gates += (rest[0] + rest[1]) * half
    w = np.multiply(w_hh.T, half, order="C")  # a copy, also of a single column
    output = empty(x, len(rows), first_h.shape[1])
    cells = empty(x, len(rows), n)
    inner = empty(x, len(first_h), 4 * n)
    order = steps(sizes, reverse)
    last = None
    for start, stop in order:
        a = gates[start:stop]
        h = state_before(output, first_h, start, stop, last)
        a += np.matmul(h, w, out=inner[: stop - start])
        np.tanh(a, a)
        a *= half
        a += shift
        c = cells[start:stop]
        np.multiply(a[:, n : 2 * n], state_before(cells, first_c, start, stop, last), c)
        t = a[:, :n] * a[:, 2 * n : 3 * n]
        c += t
        np.tanh(c, t)
        if w_hr is None:
            np.multiply(a[:, 3 * n :], t, output[start:stop])
        else:
            t *= a[:, 3 * n :]
            np.matmul(t, w_hr, output[start:stop])
        last = start, stop
    before = states_before(output, first_h, order)
    return like_input(output, x), last_states(cells, first_c, order), before, gates, cells


def _slopes(gates: Array, cells: Any, first_c: Any, order: list) -> tuple:
    """What a change of the cell, or of the output, does to each gate's argument; tanh(cells), and
    what a change of the output does to the cell."""
    rows, n = cells.shape
    before = states_before(cells, first_c, order)
    d, t, through = empty(gates, *gates.shape), empty(cells, rows, n), empty(cells, rows, n)
    step = max(BLOCK // (4 * n), 1)

    def work(first: int, last: int) -> None:
        for start in range(first, last, step):
            now = slice(start, min(start + step, last))
            _slopes_of(gates[now], cells[now], before[now], d[now], t[now], through[now])

    share_products(rows, 4 * n, work, step)
    return d, t, through


def _slopes_of(gates: Any, cells: Any, before: Any, d: Any, t: Any, through: Any) -> None:
    n = cells.shape[1]
    i, candidate, o = (gates[:, k * n : (k + 1) * n] for k in (0, 2, 3))
    np.tanh(cells, t)
    np.subtract(1, gates, d)
    d *= gates  # the slope of a sigmoid; that of the candidate follows
    d[:, :n] *= candidate
    d[:, n : 2 * n] *= before
    slope = d[:, 2 * n : 3 * n]
    np.multiply(candidate, candidate, slope)
    np.subtract(1, slope, slope)
    slope *= i
    d[:, 3 * n :] *= t
    np.multiply(t, t, through)
    np.subtract(1, through, through)
    through *= o


@kernel
@wide
def lstm_back(
    inputs: Sequence,
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
    order = steps(sizes, reverse)
    d, t, through = _slopes(gates, cells, first_c, order)
    by_gate = d.reshape(-1, 4, n)
    g_h, g_c = np.zeros_like(first_h), np.array(g_cell)
    projected = None if w_hr is None else empty(g, len(gates), g.shape[-1])
    forget = gates[:, n : 2 * n]
    for (start, stop), arriving in zip(reversed(order), reversed(pieces(g, order)), strict=True):
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
    found = [like_input(product(d, w_ih), x) if wants_input else None, g_h, g_c]
    found += [product(d.T, flat(x)), product(d.T, before)]
    if has_bias:
        total = column_sums(d)
        found += [total, total.copy()]
    if projected is not None:
        t *= gates[:, 3 * n :]
        found.append(projected.T @ t)
    return found


def _candidate_first(weight: Array) -> Any:
    """The blocks r, z, n of a weight as n, r, z."""
    n = len(weight) // 3
    return np.concatenate((weight[2 * n :], weight[: 2 * n]))


def _candidate_last(weight: Array) -> Any:
    n = len(weight) // 3
    return np.concatenate((weight[n:], weight[:n]))


@kernel
@wide
def gru(inputs: Sequence, sizes: tuple, reverse: bool) -> tuple:
    """Outputs of all times; then, for the way back, the states before them and all gates."""
    x, first, w_ih, w_hh, *biases = inputs
    n = first.shape[1]
    x_rows = flat(x)
    gates = empty(x, len(x_rows), 4 * n)
    product(x_rows, _candidate_first(w_ih).T, gates[:, : 3 * n])
    w = np.ascontiguousarray(w_hh.T)
    if biases:
        gates[:, : 3 * n] += _candidate_first(biases[0])
    output = empty(x, len(x_rows), n)
    inner = empty(x, len(first), 3 * n)
    last = None
    order = steps(sizes, reverse)
    for start, stop in order:
        h = state_before(output, first, start, stop, last)
        a = np.matmul(h, w, out=inner[: stop - start])
        if biases:
            a += biases[1]
        now = gates[start:stop]
        now[:, 3 * n :] = a[:, 2 * n :]
        sigmoids = now[:, n : 3 * n]
        sigmoids += a[:, : 2 * n]
        sigmoids *= 0.5
        np.tanh(sigmoids, sigmoids)
        sigmoids *= 0.5
        sigmoids += 0.5
        candidate = now[:, :n]
        candidate += now[:, n : 2 * n] * now[:, 3 * n :]
        np.tanh(candidate, candidate)
        y = output[start:stop]
        np.subtract(h, candidate, y)
        y *= now[:, 2 * n : 3 * n]
        y += candidate
        last = start, stop
    return like_input(output, x), states_before(output, first, order), gates


@kernel
@wide
def gru_back(
    inputs: Sequence,
    g: Array,
    before: Any,
    gates: Array,
    sizes: tuple,
    reverse: bool,
    wants_input: bool,
) -> list:
    """The cotangents of the inputs of `gru`."""
    x, first, w_ih, w_hh, *biases = inputs
    n = first.shape[1]
    order = steps(sizes, reverse)
    candidate, r, z, a = (gates[:, k * n : (k + 1) * n] for k in range(4))
    d = np.subtract(1, gates, empty(gates, *gates.shape))
    by_candidate, by_r, by_z, by_a = (d[:, k * n : (k + 1) * n] for k in range(4))
    # n' = (1 - z)(1 - n^2), r' = n' a r (1 - r), z' = (h - n) z (1 - z), a' = n' r
    by_r *= r
    by_r *= a
    kept = by_z.copy()
    by_z *= z
    by_z *= before - candidate
    np.multiply(candidate, candidate, by_candidate)
    np.subtract(1, by_candidate, by_candidate)
    by_candidate *= kept
    by_r *= by_candidate
    np.multiply(by_candidate, r, by_a)
    by_gate = d.reshape(-1, 4, n)
    g_h = np.zeros_like(first)
    for (start, stop), arriving in zip(reversed(order), reversed(pieces(g, order)), strict=True):
        h = g_h[: stop - start]
        h += arriving
        by_gate[start:stop] *= h[:, None]
        h *= z[start:stop]
        h += d[start:stop, n:] @ w_hh
    of_input, of_state = d[:, : 3 * n], d[:, n:]
    found = [None, g_h, _candidate_last(product(of_input.T, flat(x))), product(of_state.T, before)]
    if wants_input:
        found[0] = like_input(product(of_input, _candidate_first(w_ih)), x)
    if biases:
        total = column_sums(d)
        found += [_candidate_last(total[: 3 * n]), total[n:]]
    return found
