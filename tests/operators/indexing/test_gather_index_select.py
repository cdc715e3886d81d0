"""Gathering and selecting: values, gradients, what is refused."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises

ARRAY = np.arange(24.0).reshape(2, 3, 4)


@pytest.fixture
def x():
    return torch.from_numpy(ARRAY.copy())


# --- gather, take and their kin ---


def test_gather_and_its_gradient():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x.gather(1, torch.tensor([[0, 0], [1, 0]]))
    assert y.tolist() == [[1.0, 1.0], [4.0, 3.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 0.0], [1.0, 1.0]]


def test_gather_checks_its_index():
    x = torch.zeros(2, 3)
    with raises(RuntimeError, "index 5 is out of bounds for dimension 0 with size 2"):
        x.gather(0, torch.tensor([[5]]))
    with raises(
        RuntimeError, "Index tensor must have the same number of dimensions as input tensor"
    ):
        x.gather(0, torch.tensor([0]))


def test_index_select_takes_slices_in_any_order():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = torch.index_select(x, 0, torch.tensor([1, 0, 1]))
    assert y.tolist() == [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0], [2.0, 2.0]]
    with raises(IndexError, "index out of range in self"):
        x.index_select(0, torch.tensor([-1]))
    with raises(RuntimeError, "INDICES element is out of DATA bounds, id=5 axis_dim=2"):
        x.index_select(1, torch.tensor([0, 5]))
    with raises(RuntimeError, "index_select(): self indexing axis dim should be positive"):
        torch.ones(0, 3).index_select(0, torch.tensor([0]))


def test_take_along_dim_sorts_as_argsort_says():
    x = torch.tensor([[3, 1], [2, 4]])
    order = torch.tensor([[1, 0], [0, 1]])
    assert torch.take_along_dim(x, order, dim=1).tolist() == [[1, 3], [2, 4]]


def test_nodes_of_tensors_without_dimensions():
    one, row = torch.tensor(1.0, requires_grad=True), torch.ones(3, requires_grad=True)
    for x, index in ((one, torch.tensor(0)), (one, torch.tensor([0])), (row, torch.tensor(1))):
        y = x.gather(0, index)
        assert y.shape == index.shape
        assert y.grad_fn.name() == "GatherBackward0"
        assert [node.name() for node, _ in y.grad_fn.next_functions] == [
            "torch::autograd::AccumulateGrad"
        ]
