"""What kernels of recurrent layers share, and those of the simplest one, on NumPy arrays.

Rows of a batch of sequences stand one time after the other: `sizes[t]` of them at time t, never
more than at the time before, as in a packed sequence. A kernel walks over time once; whatever does
not depend on the state is computed for all times at once.
"""

from functools import wraps

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.memory_pool import empty as empty_array
from tapegrad.core.annotations import Any, Array, Callable

F32 = np.dtype(np.float32)


def steps(sizes: tuple[int, ...], reverse: bool) -> list[tuple[int, int]]:
    """First and last row of each step, in the order in which they are walked."""
    found = []
    start = 0
    for n in sizes:
        found.append((start, start + n))
        start += n
    return found[::-1] if reverse else found


def empty(like: Array, *shape: int) -> Any:
    """An array of any values in the dtype of `like`."""
    size = 1
    for n in shape:
        size *= n
    return empty_array(size, like.dtype).reshape(shape)


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
    """The kernel, which computes numbers of 16 bits in float32."""

    @wraps(kernel)
    def call(inputs: Any, *values: Any) -> Any:
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
def rnn(inputs: Any, activation: str, sizes: tuple, reverse: bool) -> tuple:
    """h_t = activation(w_ih x_t + b_ih + w_hh h_(t-1) + b_hh) of all times, and a copy of them.

    The copy is for the way back: what is given out may be written in place.
    """
    x, first, w_ih, w_hh, *biases = inputs
    rows = flat(x)
    output = np.matmul(rows, w_ih.T, out=empty(x, len(rows), first.shape[1]))
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
    inputs: Any,
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
    found = [like_input(d @ w_ih, x) if wants_input else None, g_state]
    found += [d.T @ flat(x), d.T @ states_before(states, first, order)]
    if biases:
        total = column_sums(d)
        found += [total, total.copy()]
    return found
