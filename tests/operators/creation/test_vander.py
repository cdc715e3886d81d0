"""Vandermonde matrices."""

import tapegrad


def test_vandermonde_matrices_rise_in_linalg_and_fall_at_the_top_level():
    x = tapegrad.tensor([2, 3], dtype=tapegrad.int8)
    assert tapegrad.linalg.vander(x, N=4).tolist() == [[1, 2, 4, 8], [1, 3, 9, 27]]
    assert tapegrad.vander(x, 4).tolist() == [[8, 4, 2, 1], [27, 9, 3, 1]]
    assert tapegrad.vander(x, 4).dtype is tapegrad.int64
    assert tapegrad.vander(x, 0).shape == (2, 0)
    assert tapegrad.linalg.vander(tapegrad.ones(4, 2)).shape == (4, 2, 2)


def test_a_column_of_ones_does_not_depend_on_the_numbers():
    x = tapegrad.ones(3, requires_grad=True)
    assert not tapegrad.vander(x, 1).requires_grad and tapegrad.vander(x, 2).requires_grad
