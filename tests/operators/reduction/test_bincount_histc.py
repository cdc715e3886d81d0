"""Counts against PyTorch 2.13."""

import tapegrad as torch
from tests.messages import raises


def test_bincount_with_weights():
    x = torch.tensor([1, 3, 1])
    assert x.bincount(minlength=5).tolist() == [0, 2, 0, 1, 0]
    got = x.bincount(torch.tensor([0.5, 1, 2]))
    assert got.dtype == torch.float32 and got.tolist() == [0, 2.5, 0, 1]
    assert x.bincount(torch.tensor([1, 2, 3])).dtype == torch.float64
    with raises(RuntimeError, "bincount only supports 1-d non-negative integral inputs."):
        torch.bincount(torch.tensor([-1]))
    weights = torch.ones(3, requires_grad=True)
    with raises(RuntimeError, "derivative for aten::bincount is not implemented"):
        x.bincount(weights).sum().backward()
