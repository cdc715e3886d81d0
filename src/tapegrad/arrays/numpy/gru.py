"""Kernels of gated recurrent units on NumPy arrays; see `arrays/numpy/rnn.py`.

Kept for the way back are, side by side: the candidate n, the reset gate r, the update gate z, and
what the state gives to the candidate, a = w_hn h + b_hn. In this order the arguments of the gates
stand together both for the state's weights (r, z, a) and for the input's (n, r, z).
"""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy import rnn
from tapegrad.core.annotations import Any, Array


def _candidate_first(weight: Array) -> Any:
    """The blocks r, z, n of a weight as n, r, z."""
    n = len(weight) // 3
    return np.concatenate((weight[2 * n :], weight[: 2 * n]))


def _candidate_last(weight: Array) -> Any:
    n = len(weight) // 3
    return np.concatenate((weight[n:], weight[:n]))


@kernel
@rnn.wide
def gru(inputs: Any, sizes: tuple, reverse: bool) -> tuple:
    """Outputs of all times; then, for the way back, the states before them and all gates."""
    x, first, w_ih, w_hh, *biases = inputs
    n = first.shape[1]
    x_rows = rnn.flat(x)
    gates = rnn.empty(x, len(x_rows), 4 * n)
    np.matmul(x_rows, _candidate_first(w_ih).T, gates[:, : 3 * n])
    w = np.ascontiguousarray(w_hh.T)
    if biases:
        gates[:, : 3 * n] += _candidate_first(biases[0])
    output = rnn.empty(x, len(x_rows), n)
    inner = rnn.empty(x, len(first), 3 * n)
    last = None
    order = rnn.steps(sizes, reverse)
    for start, stop in order:
        h = rnn.state_before(output, first, start, stop, last)
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
    return rnn.like_input(output, x), rnn.states_before(output, first, order), gates


@kernel
@rnn.wide
def gru_back(
    inputs: Any, g: Array, before: Any, gates: Array, sizes: tuple, reverse: bool, wants_input: bool
) -> list:
    """The cotangents of the inputs of `gru`."""
    x, first, w_ih, w_hh, *biases = inputs
    n = first.shape[1]
    order = rnn.steps(sizes, reverse)
    candidate, r, z, a = (gates[:, k * n : (k + 1) * n] for k in range(4))
    d = np.subtract(1, gates, rnn.empty(gates, *gates.shape))
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
    for (start, stop), arriving in zip(
        reversed(order), reversed(rnn.pieces(g, order)), strict=True
    ):
        h = g_h[: stop - start]
        h += arriving
        by_gate[start:stop] *= h[:, None]
        h *= z[start:stop]
        h += d[start:stop, n:] @ w_hh
    of_input, of_state = d[:, : 3 * n], d[:, n:]
    found = [None, g_h, _candidate_last(of_input.T @ rnn.flat(x)), of_state.T @ before]
    if wants_input:
        found[0] = rnn.like_input(of_input @ _candidate_first(w_ih), x)
    if biases:
        total = rnn.column_sums(d)
        found += [_candidate_last(total[: 3 * n]), total[n:]]
    return found
