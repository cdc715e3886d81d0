"""Products of several matrices."""

import pytest

import tapegrad

N = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]]


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_several_matrices_with_vectors_at_the_ends():
    v, a = tensor([1.0, 2.0, 3.0]), tensor(N)
    assert tapegrad.linalg.multi_dot([v, a, v]).item() == (v @ a @ v).item()
    assert tapegrad.linalg.multi_dot([v, a]).shape == (3,)
    assert tapegrad.linalg.multi_dot([a, a, v]).shape == (3,)


def test_matrices_that_do_not_fit_are_named():
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.multi_dot([tapegrad.ones(2, 2), tapegrad.ones(2, 3), tapegrad.ones(2, 3)])
    assert str(caught.value) == (
        "multi_dot(): tensors 1 and 2 with shapes [2, 3] and [2, 3] cannot be multiplied"
    )
