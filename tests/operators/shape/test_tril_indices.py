"""Places of triangles."""

import tapegrad as torch
from tests.messages import raises


def test_triangles_have_their_rows_and_columns():
    assert torch.tril_indices(3, 4, -1).tolist() == [[1, 2, 2], [0, 0, 1]]
    assert torch.triu_indices(3, 4, 1).tolist() == [[0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]]
    assert torch.tril_indices(0, 3).shape == (2, 0)
    assert torch.tril_indices(2, 2, dtype=torch.int32).dtype is torch.int32
    with raises(RuntimeError, "row must be non-negative, got-1"):
        torch.tril_indices(-1, 3)
    with raises(NotImplementedError, "\"triu_indices\" not implemented for 'Float'"):
        torch.triu_indices(2, 2, dtype=torch.float32)
