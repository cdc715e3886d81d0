"""Broadcasts and their sums."""

import tapegrad as torch
from tests.messages import raises


def test_sum_to_size_undoes_a_broadcast():
    x = torch.ones(2, 3, requires_grad=True)
    assert x.sum_to_size(2, 3) is x
    assert x.sum_to_size(3).tolist() == [2, 2, 2]
    assert x.sum_to_size(2, 1).tolist() == [[3], [3]]
    assert torch.ones(2, dtype=torch.bool).sum_to_size(()).dtype == torch.int64
    with raises(RuntimeError, "size {[2]} is not expandable to size {[2, 3]}."):
        x.sum_to_size(2)
