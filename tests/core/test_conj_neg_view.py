"""Conjugate and negative views as NumPy's functions see them."""

import numpy as np
import pytest

from tapegrad.core.conj_neg_view import ConjNegView, resolved, turned


def pair(conj=True, neg=False):
    memory = np.array([1 + 2j, 3 - 4j])
    return memory, turned(memory, conj, neg)


def test_numpy_reads_the_turned_numbers():
    _, x = pair()
    assert np.asarray(x).tolist() == [1 - 2j, 3 + 4j]
    assert np.add(x, 1).tolist() == (1 + x).tolist() == [2 - 2j, 4 + 4j]
    assert np.stack([x, x]).shape == (2, 2) and np.stack([x])[0].tolist() == x.tolist()
    assert np.sum(x) == x.sum() == np.add.reduce(x) == 4 + 2j
    assert x.imag.tolist() == [-2, 4] and x.item(1) == 3 + 4j and x[1] == 3 + 4j
    assert np.asarray(x, np.complex64).dtype == np.complex64
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(x, copy=False)
    with pytest.raises(AttributeError, match="no attribute 'sort'"):
        x.sort()


def test_numpy_writes_the_turned_numbers():
    memory, x = pair()
    x[0] = 5j
    np.copyto(x[1:], [1j])
    assert memory.tolist() == [-5j, -1j]
    np.multiply(x, 2, out=x)
    x += 1
    assert memory.tolist() == [1 - 10j, 1 - 2j]
    np.add.at(x, [1, 1], 1j)
    assert memory.tolist() == [1 - 10j, 1 - 4j]
    plain = np.zeros(2, complex)
    np.copyto(plain, x)
    plain[:1] = x[1:]
    assert plain.tolist() == [1 + 4j, 1 + 4j]
    x.fill(2j)
    assert memory.tolist() == [-2j, -2j]


def test_both_signs_are_kept_apart():
    memory, x = pair(True, True)
    assert x.tolist() == [-1 + 2j, -3 - 4j]
    assert turned(memory, False, False).tolist() == memory.tolist()
    assert resolved(memory) is memory and resolved(x).tolist() == x.tolist()


def test_views_are_turned_and_copies_are_not():
    memory, x = pair()
    part = x.through(lambda array: array[1:])
    assert type(part) is ConjNegView and np.shares_memory(part, memory)
    assert type(x[:1]) is ConjNegView and type(x[[0]]) is np.ndarray
    assert x.through(np.copy).tolist() == x.tolist() and type(x.through(np.copy)) is np.ndarray
    assert x.through(np.imag).tolist() == [-2, 4]
    assert [type(each) for each in x.through(np.split, **{"indices_or_sections": 2})] == [
        ConjNegView
    ] * 2
