"""ASGD: its rate and its averages."""

import pytest

import tapegrad as torch
from tapegrad import optim


def leaf(*values, dtype=None):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def test_asgd_keeps_its_rate_and_averages():
    w = leaf(1.0)
    optimizer = optim.ASGD([w], lr=0.1, lambd=0.1, alpha=0.5, t0=2)
    for _ in range(4):
        w.grad = torch.ones(1)
        optimizer.step()
    state = optimizer.state[w]
    assert state["eta"].item() == pytest.approx(0.09805807, rel=1e-6)
    assert state["mu"].item() == 0.5
    assert state["ax"].item() == pytest.approx(0.5697035193443298, rel=1e-6)
    assert w.item() == pytest.approx(0.5697035193443298, rel=1e-6)
