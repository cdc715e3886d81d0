"""Unique elements: what of them is part of the graph."""

import pytest

import tapegrad as torch
from tests.messages import raises


@pytest.mark.parametrize(
    ("unique", "node", "name"),
    [
        (torch.unique, "Unique2Backward0", "_unique2"),
        (lambda x: torch.unique(x, dim=0), "UniqueDimBackward0", "unique_dim"),
        (torch.unique_consecutive, "UniqueConsecutiveBackward0", "unique_consecutive"),
        (
            lambda x: x.unique_consecutive(True, dim=0)[0],
            "UniqueConsecutiveBackward0",
            "unique_consecutive",
        ),
    ],
)
def test_unique_elements_have_a_node_without_derivative(unique, node, name):
    x = torch.tensor([1.0, 2.0, 2.0], requires_grad=True)
    y = unique(x)
    assert y.tolist() == [1, 2] and type(y.grad_fn).__name__ == node
    with raises(NotImplementedError, f"the derivative for '{name}' is not implemented."):
        y.sum().backward()
    with torch.no_grad():
        assert not unique(x).requires_grad
    assert not unique(x.detach()).requires_grad


def test_slices_lie_in_memory_one_behind_the_other():
    x = torch.tensor([[4, 5, -1, 4, 5], [-1, 5, 3, -4, -4]], dtype=torch.int8)
    assert x.unique_consecutive(dim=-1).stride() == (1, 2)
    assert x.T.contiguous().T.unique_consecutive(dim=0).stride() == (5, 1)


def test_slices_with_nan_are_left_as_an_insertion_sort_leaves_them():
    nan = float("nan")
    x = torch.tensor([nan, 1, nan, 0, 2, 1])
    found, inverse, counts = x.unique(dim=0, return_inverse=True, return_counts=True)
    assert str(found.tolist()) == "[nan, 1.0, nan, 0.0, 1.0, 2.0]"
    assert inverse.tolist() == [0, 1, 2, 3, 5, 4] and counts.tolist() == [1] * 6
    x = torch.tensor([[nan, 1], [nan, 1], [0, 2], [nan, 1], [0, 2]])
    found, inverse = x.unique(dim=0, return_inverse=True)
    assert str(found.tolist()) == "[[nan, 1.0], [nan, 1.0], [nan, 1.0], [0.0, 2.0]]"
    assert inverse.tolist() == [0, 1, 3, 2, 3]
