"""SparseAdam: what it refuses."""

import re

import pytest

import tapegrad as torch


def test_a_tensor_as_learning_rate_has_one_element():
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        torch.optim.SparseAdam([torch.ones(2)], lr=torch.tensor([0.1, 0.1]))


@pytest.mark.parametrize(
    ("param", "refused"),
    [
        (torch.zeros(2).to_sparse(), "Sparse params at indices [[0, 1]]: SparseAdam requires"),
        (torch.zeros(2, dtype=torch.complex64), "Complex params at indices [[0, 1]]: SparseAdam"),
    ],
)
def test_parameters_are_dense_and_real(param, refused):
    with pytest.raises(ValueError, match=re.escape(refused)):
        torch.optim.SparseAdam([torch.ones(2), param])
