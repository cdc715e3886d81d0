"""Recurrent layers on several threads."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.numpy import blas_threads, rnn

nn = torch.nn
BATCH, LENGTH, FEATURES, HIDDEN = 50, 5, 96, 72

LAYERS = {
    "rnn": lambda: nn.RNN(FEATURES, 2 * HIDDEN),
    "rnn of relu": lambda: nn.RNN(FEATURES, 2 * HIDDEN, nonlinearity="relu", bidirectional=True),
    "lstm": lambda: nn.LSTM(FEATURES, HIDDEN, num_layers=2),
    "lstm that goes both ways": lambda: nn.LSTM(FEATURES, HIDDEN, bidirectional=True),
    "lstm with projections": lambda: nn.LSTM(FEATURES, HIDDEN, proj_size=40, batch_first=True),
    "gru": lambda: nn.GRU(FEATURES, HIDDEN, bidirectional=True),
}


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def results(layer, x, packed):
    """Outputs, states and all gradients."""
    leaf = torch.tensor(x, requires_grad=True)
    layer.zero_grad()
    given = leaf
    if packed:
        lengths = torch.arange(BATCH).remainder(LENGTH) + 1
        given = nn.utils.rnn.pack_padded_sequence(
            leaf, lengths, layer.batch_first, enforce_sorted=False
        )
    output, states = layer(given)
    output = output.data if packed else output
    states = states if isinstance(states, tuple) else (states,)
    ((output * output).sum() + sum((s * s).sum() for s in states)).backward()
    gradients = [leaf.grad, *(p.grad for p in layer.parameters())]
    return [each.detach().numpy().copy() for each in (output, *states, *gradients)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_recurrent_layers_do_not_depend_on_the_number_of_threads(
    name, packed, threads, monkeypatch, rng
):
    monkeypatch.setattr(rnn, "RUN", 1 << 16)
    layer = LAYERS[name]()
    shape = (BATCH, LENGTH) if layer.batch_first else (LENGTH, BATCH)
    x = rng.standard_normal((*shape, FEATURES), dtype=np.float32)
    found = []
    for n in (1, 2, 3, 8):
        threads(n)
        found.append(results(layer, x, packed))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("reverse", [False, True])
def test_chunks_are_walked_over_in_order(reverse, threads):
    sizes = (7, 7, 5, 5, 5, 2, 1, 1, 1)
    order = rnn.steps(sizes, reverse)
    assert rnn.chunks_of(order, 0) == ([order], blas_threads.product)
    chunks, _ = rnn.chunks_of(order, 100 * rnn.RUN)
    assert len(chunks) == rnn.CHUNKS and [each for chunk in chunks for each in chunk] == order
    for n in (1, 2, 5):
        threads(n)
        ready, walked = np.zeros(34, bool), np.zeros(34, bool)

        def before(rows, ready=ready):
            ready[rows] = True

        def walk(start, stop, ready=ready, walked=walked):
            assert ready[start:stop].all() and walked.sum() == sum(
                b - a for a, b in order[: order.index((start, stop))]
            )
            walked[start:stop] = True

        def after(rows, walked=walked):
            assert walked[rows].all()
            return rows.stop - rows.start

        first, second = rnn.walk_over(chunks, before, walk, after, after)
        assert first == second == [sum(b - a for a, b in chunk) for chunk in chunks]
        assert walked.all()
