"""Recurrent layers of arrays without elements."""

from typing import Any

from tapegrad.arrays.kernel import meta_rule
from tapegrad.core.meta_array import nowhere


def _output(x: Any, size: int) -> Any:
    """As the input lies: packed rows (rows, size), or (time, batch, size)."""
    return nowhere((*x.shape[:-1], size), x.dtype)


def _flat(x: Any, size: int) -> Any:
    return nowhere((x.size // max(x.shape[-1], 1), size), x.dtype)


@meta_rule
def rnn(inputs: Any, activation: str, sizes: tuple, reverse: bool) -> Any:
    x, n = inputs[0], inputs[1].shape[1]
    return _output(x, n), _flat(x, n)


@meta_rule
def lstm(inputs: Any, has_bias: bool, sizes: tuple, reverse: bool) -> Any:
    x, first_h, first_c = inputs[:3]
    n, size = first_c.shape[1], first_h.shape[1]
    last = nowhere(first_c.shape, x.dtype)
    return _output(x, size), last, _flat(x, size), _flat(x, 4 * n), _flat(x, n)


@meta_rule
def gru(inputs: Any, sizes: tuple, reverse: bool) -> Any:
    x, n = inputs[0], inputs[1].shape[1]
    return _output(x, n), _flat(x, n), _flat(x, 4 * n)


def _cotangents(inputs: Any, *given: Any) -> Any:
    wants_input = given[-1]
    found: list[Any] = [nowhere(x.shape, x.dtype) for x in inputs]
    if not wants_input:
        found[0] = None
    return found


@meta_rule
def rnn_back(inputs: Any, *given: Any) -> Any:
    return _cotangents(inputs, *given)


lstm_back = meta_rule(rnn_back)
gru_back = meta_rule(rnn_back)
