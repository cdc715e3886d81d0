"""Norms of vectors of one element, whose powers would overflow."""

import pytest

import tapegrad as torch


@pytest.mark.parametrize("order", [0.5, 2, 3, -2, 1e300, 1e-300, float("inf")])
def test_the_norm_of_one_element_is_its_size(order):
    x = torch.tensor([[1e30], [-2.0], [0.0]], requires_grad=True)
    y = torch.linalg.vector_norm(x, order, dim=1)
    assert y.tolist() == pytest.approx([1e30, 2, 0], rel=1e-6)
    assert torch.linalg.vector_norm(torch.tensor(-3.0), order).item() == 3
    if order in (2, float("inf")):
        y.sum().backward()
        assert x.grad.tolist() == [[1], [-1], [0]]


def test_an_order_that_is_no_number_gives_none():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.linalg.vector_norm(x, float("nan"))
    y.backward()
    assert y.isnan()
    assert x.grad.isnan().all()
