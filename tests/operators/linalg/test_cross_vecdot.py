"""Products of vectors."""

import pytest

import tapegrad


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_vector_products_broadcast():
    a, b = tensor([[1.0, 2.0, 3.0]]), tensor([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    assert tapegrad.linalg.cross(a, b).tolist() == [[-3.0, 6.0, -3.0], [-6.0, 12.0, -6.0]]
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.cross(a, tapegrad.ones(2, 2).double())
    assert str(caught.value) == (
        "linalg.cross: inputs dimension -1 must have length 3. Got 3 and 2"
    )


def test_vecdot_conjugates_the_first():
    x = tapegrad.tensor([1j, 2.0])
    assert tapegrad.linalg.vecdot(x, x).item() == 5
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor"):
        tapegrad.linalg.vecdot(tapegrad.ones(2).long(), tapegrad.ones(2).long())
