"""The first things to break, in five seconds: what the hook runs before each commit."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn


def test_a_gradient_reaches_every_leaf():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    (a * b + a.exp()).sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), 3 + np.exp([1.0, 2.0]), rtol=1e-6)
    assert b.grad.item() == 3


def test_a_gradient_has_a_gradient():
    x = torch.tensor(2.0, requires_grad=True)
    (first,) = torch.autograd.grad(x**3, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (12, 12)


def test_a_network_learns():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x = torch.randn(32, 3)
    y = x.sum(dim=1, keepdim=True)
    losses = []
    for _ in range(50):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_the_seed_gives_the_numbers_of_pytorch():
    torch.manual_seed(0)
    assert str(torch.randn(3)) == "tensor([ 1.5410, -0.2934, -2.1788])"


def test_a_write_through_a_view_is_differentiated():
    m = torch.tensor([2.0, 3.0], requires_grad=True)
    n = torch.zeros(2)
    n[0] = m[0] ** 2
    n.sum().backward()
    assert m.grad.tolist() == [4, 0]


def test_a_changed_tensor_is_found_out():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_freed_graph_is_refused():
    y = torch.ones(2, requires_grad=True).exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
