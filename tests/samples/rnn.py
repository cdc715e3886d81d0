"""Samples of recurrent layers: both directions, sequences of several lengths, without bias."""

from __future__ import annotations

from typing import Any

from tests.samples.sample import Make, Sample, row

_CASES = [  # shape of x, sizes, reverse, bias
    ((3, 2, 2), (2, 2, 2), False, True),
    ((3, 2, 2), (2, 2, 2), True, False),
    ((6, 2), (3, 2, 1), False, True),
    ((6, 2), (3, 2, 1), True, True),
]


def _arrays(make: Make, shape: tuple, n: int, gates: int, out: int, bias: bool) -> list:
    found = [make(gates * 3, shape[-1]), make(gates * 3, out)]
    return found + ([make(gates * 3), make(gates * 3)] if bias else [])


def _cases(make: Make, gates: int, **params: Any) -> list[Sample]:
    return [
        Sample(
            *(make(*shape), make(sizes[0], 3), *_arrays(make, shape, sizes[0], gates, 3, bias)),
            sizes=sizes,
            reverse=reverse,
            wants_input=True,
            **params,
        )
        for shape, sizes, reverse, bias in _CASES
    ]


@row
def rnn_layer(make):
    return _cases(make, 1, activation="tanh") + _cases(make, 1, activation="relu")[::3]


@row
def gru_layer(make):
    return _cases(make, 3)


@row
def lstm_layer(make):
    found = []
    for shape, sizes, reverse, bias in _CASES:
        for out in (3, 2):
            inputs = [make(*shape), make(sizes[0], out), make(sizes[0], 3)]
            inputs += _arrays(make, shape, sizes[0], 4, out, bias)
            if out == 2:
                inputs.append(make(2, 3))
            params = {"sizes": sizes, "reverse": reverse, "has_bias": bias, "wants_input": True}
            found.append(Sample(*inputs, **params))
    return found
