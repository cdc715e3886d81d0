"""Norms of vectors of one element, whose powers would overflow."""

import pytest

import tapegrad as torch
from tests.messages import raises


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


def test_a_number_of_elements_has_no_gradient():
    x = torch.tensor([1.0, 0.0, 3.0], requires_grad=True)
    y = torch.linalg.vector_norm(x, 0)
    assert y.requires_grad and y.item() == 2
    assert torch.autograd.grad(y, x, allow_unused=True) == (None,)
    again = torch.linalg.vector_norm(x, 0)
    assert torch.autograd.grad(again, x, create_graph=True, allow_unused=True) == (None,)
    both = x * 2
    (torch.linalg.vector_norm(both, 0) + both.sum()).backward()
    assert x.grad.tolist() == [2, 2, 2]
    moved = torch.func.jvp(lambda x: torch.linalg.vector_norm(x, 0), (x,), (x / 0,))
    assert moved[1].item() == 0


@pytest.mark.parametrize(("order", "want"), [(1, [0, 1, 1]), (float("inf"), [0, 0, 0])])
def test_nan_has_no_direction(order, want):
    x = torch.tensor([float("nan"), float("inf"), 1.0], requires_grad=True)
    y = torch.linalg.vector_norm(x, order)
    y.backward()
    assert y.isnan() and x.grad.tolist() == want


def test_sums_of_powers_are_norms_without_their_root():
    x = torch.arange(12.0).reshape(3, 4) - 3
    assert torch.linalg._powsum(x, 3, dim=1).tolist() == [36, 100, 1196]
    assert torch.linalg._powsum(x * 1j, 1, (0, 1), keepdim=True).tolist() == [[42]]
    infinite = float("inf")
    assert torch.linalg._powsum(x, -infinite, dim=1).tolist() == [infinite, 1, 0]
    with raises(NotImplementedError, "\"powsum_cpu\" not implemented for 'Long'"):
        torch.linalg._powsum(torch.tensor([1, 2]))
    y = torch.linalg._powsum(x.requires_grad_())
    with raises(RuntimeError, "derivative for aten::linalg__powsum is not implemented"):
        y.backward()


@pytest.mark.parametrize("order", [1.5, 2, 3])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_cotangent_that_is_not_finite_where_the_norm_is_zero(order, create_graph):
    """Of squares 0 times the cotangent; of other powers nothing of it arrives."""
    x = torch.zeros(2, requires_grad=True)
    for norm in (torch.linalg.vector_norm, lambda x, p: torch.dist(x, torch.zeros(2), p)):
        for g in (float("nan"), float("inf")):
            (got,) = torch.autograd.grad(
                norm(x, order), x, torch.tensor(g), create_graph=create_graph
            )
            assert got.isnan().all() if order == 2 else not got.any()
