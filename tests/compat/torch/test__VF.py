"""Functions that answer otherwise than those of `torch` of the same name."""

import tapegrad as torch
from tapegrad.compat.torch import _VF


def test_unique_always_gives_three():
    x = torch.tensor([[1, 1, 2], [1, 1, 2], [3, 0, 0]])
    values, inverse, counts = _VF._unique2(x, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([0, 1, 2, 3], [], [2, 4, 2, 1])
    values, inverse, counts = _VF.unique_dim(x, 0)
    assert values.tolist() == [[1, 1, 2], [3, 0, 0]]
    assert inverse.tolist() == [0, 0, 1] and counts.tolist() == [2, 1]
    values, inverse, counts = _VF.unique_consecutive(x, return_inverse=True, dim=0)
    assert inverse.tolist() == [0, 0, 1] and counts.tolist() == []
