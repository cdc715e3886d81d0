"""Kernels of recurrent layers on NumPy arrays: what they have in common, and the simplest one.

Rows of a batch of sequences stand one time after the other: `sizes[t]` of them at time t, never
more than at the time before, as in a packed sequence. A kernel walks over time once; whatever does
not depend on the state is computed for all times at once.
"""

from functools import partial, wraps
from itertools import accumulate, pairwise
from math import prod

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.blas_threads import RUN, one_blas_thread, product
from tapegrad.arrays.numpy.blocks import PRODUCT
from tapegrad.arrays.numpy.memory_pool import empty as empty_array
from tapegrad.core.annotations import Any, Array, Callable, Sequence
from tapegrad.core.threads import Line, beside

F32 = np.dtype(np.float32)
CHUNKS = 4  # of steps at most, before and after which other threads do what can be done
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


def rows_of(g: Array, start: int, stop: int) -> Any:
    """The rows of a step of (T, N, F) or (rows, F)."""
    return g[start:stop] if g.ndim == 2 else g[start // (stop - start)]


def like_input(rows: Any, x: Array) -> Any:
    """(rows, F) with the leading axes of `x`."""
    return rows.reshape(*x.shape[:2], rows.shape[1]) if x.ndim == 3 else rows


def column_sums(d: Array) -> Any:
    return np.ones(len(d), d.dtype) @ d


def chunks_of(order: list, amount: int) -> tuple[list, Any]:
    """The steps in chunks, the same for any number of threads, and what multiplies rows of one.

    `amount` is how many multiply-adds of all rows do not depend on a state.
    """
    count = max(1, min(CHUNKS, len(order), amount // RUN))
    ends = [len(order) * i // count for i in range(count + 1)]
    return [order[i:j] for i, j in pairwise(ends)], product if count == 1 else np.matmul


def walk_over(
    chunks: list,
    before: Callable[[slice], Any],
    walk: Callable[[int, int], Any],
    *after: Callable[[slice], Any],
) -> list:
    """Call `walk(start, stop)` for each step, in order; for each of `after` what it returns.

    `before(rows)` is called for the rows of a chunk before the walk gets there, and each of `after`
    when it has left: by other threads beside the walk.
    """
    count = len(chunks)
    rows = [slice(min(steps[0], steps[-1])[0], max(steps[0], steps[-1])[1]) for steps in chunks]
    found: list[list] = [[None] * count for _ in after]

    def keep(i: int, k: int) -> None:
        found[k][i] = after[k](rows[i])

    def work(line: Line) -> None:
        for i, chunk in enumerate(chunks):
            line.need(i)
            for start, stop in chunk:
                walk(start, stop)
            line.allow(count + (i + 1) * len(after))

    calls: list[Callable[[], Any]] = [partial(before, each) for each in rows]
    calls += [partial(keep, i, k) for i in range(count) for k in range(len(after))]
    if count > 1:
        beside(work, calls, count)
        return found
    before(rows[0])
    for start, stop in chunks[0]:
        walk(start, stop)
    return [[each(rows[0])] for each in after]


def of_weights(multiply: Callable, of_input: tuple, of_state: tuple) -> tuple:
    """What `walk_over` calls behind the walk back: the gradients of the two weights, by rows.

    Args:
        of_input: the cotangents of what the weight of the input gives, the weight, the input, and
            where the cotangents of the input go, or None
        of_state: the cotangents of what the weight of the state gives, and the states before
    """
    d_input, w, rows, g_rows = of_input
    d_state, earlier = of_state

    def input_part(now: slice) -> Any:
        if g_rows is not None:
            multiply(d_input[now], w, g_rows[now])
        return multiply(d_input[now].T, rows[now])

    def state_part(now: slice) -> Any:
        return multiply(d_state[now].T, earlier[now])

    return input_part, state_part


def total(parts: Sequence) -> Any:
    """The sum of arrays, the first of which it overwrites."""
    for each in parts[1:]:
        np.add(parts[0], each, out=parts[0])
    return parts[0]


def wide(kernel: Callable) -> Callable:
    """The kernel, which computes numbers of 16 bits in float32.

    The BLAS starts no threads: work is shared out in larger pieces.
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
    output = empty(x, len(rows), first.shape[1])
    w = np.ascontiguousarray(w_hh.T)
    inner = np.empty_like(first)
    last = None
    chunks, multiply = chunks_of(steps(sizes, reverse), rows.size * first.shape[1])

    def before(now: slice) -> None:
        multiply(rows[now], w_ih.T, output[now])
        if biases:
            output[now] += biases[0] + biases[1]

    def walk(start: int, stop: int) -> None:
        nonlocal last
        h = output[start:stop]
        h += np.matmul(state_before(output, first, start, stop, last), w, out=inner[: stop - start])
        if activation == "tanh":
            np.tanh(h, h)
        else:
            np.maximum(h, 0, out=h)
        last = start, stop

    walk_over(chunks, before, walk)
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
    rows, earlier = flat(x), states_before(states, first, order)
    g_state, d = np.zeros_like(first), empty(states, *states.shape)
    g_rows = empty(x, *rows.shape) if wants_input else None
    chunks, multiply = chunks_of(order[::-1], rows.size * first.shape[1])

    def before(now: slice) -> None:
        if activation == "tanh":
            np.square(states[now], d[now])
            np.subtract(1, d[now], d[now])
        else:
            d[now] = states[now] > 0

    def walk(start: int, stop: int) -> None:
        d_now, g_now = d[start:stop], g_state[: stop - start]
        g_now += rows_of(g, start, stop)
        d_now *= g_now
        np.matmul(d_now, w_hh, out=g_now)

    after = of_weights(multiply, (d, w_ih, rows, g_rows), (d, earlier))
    parts = walk_over(chunks, before, walk, *after)
    found = [None if g_rows is None else like_input(g_rows, x), g_state]
    found += map(total, parts)
    if biases:
        sums = column_sums(d)
        found += [sums, sums.copy()]
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
    gates = empty(x, len(rows), 4 * n)
    w_of_input = (w_ih * half[:, None]).T
    bias = (rest[0] + rest[1]) * half if has_bias else None
    w = np.multiply(w_hh.T, half, order="C")  # a copy, also of a single column
    output = empty(x, len(rows), first_h.shape[1])
    cells = empty(x, len(rows), n)
    inner = empty(x, len(first_h), 4 * n)
    order = steps(sizes, reverse)
    last = None
    chunks, multiply = chunks_of(order, gates.size * x.shape[-1])

    def before(now: slice) -> None:
        multiply(rows[now], w_of_input, gates[now])
        if bias is not None:
            gates[now] += bias

    def walk(start: int, stop: int) -> None:
        nonlocal last
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

    walk_over(chunks, before, walk)
    earlier = states_before(output, first_h, order)
    return like_input(output, x), last_states(cells, first_c, order), earlier, gates, cells


def _slopes(gates: Array, cells: Any, before: Any, d: Any, t: Any, through: Any) -> None:
    """What a change of the cell, or of the output, does to each gate's argument; tanh(cells), and
    what a change of the output does to the cell: in `d`, `t` and `through`."""
    rows, n = cells.shape
    step = max(BLOCK // (4 * n), 1)
    for start in range(0, rows, step):
        now = slice(start, min(start + step, rows))
        _slopes_of(gates[now], cells[now], before[now], d[now], t[now], through[now])


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
    rows, cells_before = flat(x), states_before(cells, first_c, order)
    d, t, through = (empty(each, *each.shape) for each in (gates, cells, cells))
    by_gate = d.reshape(-1, 4, n)
    g_h, g_c = np.zeros_like(first_h), np.array(g_cell)
    g_rows = empty(x, *rows.shape) if wants_input else None
    projected = None if w_hr is None else empty(g, len(gates), g.shape[-1])
    forget = gates[:, n : 2 * n]
    chunks, multiply = chunks_of(order[::-1], d.size * x.shape[-1])

    def slopes(now: slice) -> None:
        _slopes(*(each[now] for each in (gates, cells, cells_before, d, t, through)))

    def walk(start: int, stop: int) -> None:
        h = g_h[: stop - start]
        h += rows_of(g, start, stop)
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

    after = of_weights(multiply, (d, w_ih, rows, g_rows), (d, before))
    parts = walk_over(chunks, slopes, walk, *after)
    found = [None if g_rows is None else like_input(g_rows, x), g_h, g_c]
    found += map(total, parts)
    if has_bias:
        sums = column_sums(d)
        found += [sums, sums.copy()]
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
    w, w_of_input = np.ascontiguousarray(w_hh.T), _candidate_first(w_ih).T
    bias = _candidate_first(biases[0]) if biases else None
    output = empty(x, len(x_rows), n)
    inner = empty(x, len(first), 3 * n)
    last = None
    order = steps(sizes, reverse)
    chunks, multiply = chunks_of(order, gates.size * x.shape[-1])

    def before(now: slice) -> None:
        of_input = gates[now, : 3 * n]
        multiply(x_rows[now], w_of_input, of_input)
        if bias is not None:
            of_input += bias

    def walk(start: int, stop: int) -> None:
        nonlocal last
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

    walk_over(chunks, before, walk)
    return like_input(output, x), states_before(output, first, order), gates


def _gru_slopes(gates: Array, before: Any, d: Any) -> None:
    """What a change of the state does to each gate's argument, in `d`."""
    n = before.shape[1]
    candidate, r, z, a = (gates[:, k * n : (k + 1) * n] for k in range(4))
    by_candidate, by_r, by_z, by_a = (d[:, k * n : (k + 1) * n] for k in range(4))
    # n' = (1 - z)(1 - n^2), r' = n' a r (1 - r), z' = (h - n) z (1 - z), a' = n' r
    np.subtract(1, gates, d)
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
    rows, d = flat(x), empty(gates, *gates.shape)
    by_gate, d_input, d_state = d.reshape(-1, 4, n), d[:, : 3 * n], d[:, n:]
    g_h, w_of_input = np.zeros_like(first), _candidate_first(w_ih)
    g_rows = empty(x, *rows.shape) if wants_input else None

    def walk(start: int, stop: int) -> None:
        h = g_h[: stop - start]
        h += rows_of(g, start, stop)
        by_gate[start:stop] *= h[:, None]
        h *= gates[start:stop, 2 * n : 3 * n]
        h += d_state[start:stop] @ w_hh

    chunks, multiply = chunks_of(order[::-1], d.size * x.shape[-1])

    def slopes(now: slice) -> None:
        _gru_slopes(gates[now], before[now], d[now])

    after = of_weights(multiply, (d_input, w_of_input, rows, g_rows), (d_state, before))
    parts = walk_over(chunks, slopes, walk, *after)
    g_w_ih, g_w_hh = map(total, parts)
    g_input = None if g_rows is None else like_input(g_rows, x)
    found = [g_input, g_h, _candidate_last(g_w_ih), g_w_hh]
    if biases:
        sums = column_sums(d)
        found += [_candidate_last(sums[: 3 * n]), sums[n:]]
    return found
