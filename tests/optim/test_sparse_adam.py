"""SparseAdam: what it refuses."""

import pytest

import tapegrad as torch


def test_a_tensor_as_learning_rate_has_one_element():
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        torch.optim.SparseAdam([torch.ones(2)], lr=torch.tensor([0.1, 0.1]))
