"""The fast path of small calls, where it meets tensors for the first time."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.dispatch.fast_pointwise import binary, unary
from tapegrad.dispatch.op import REGISTRY, Op


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(2, 3), (3, 1), (1, 1)])
def test_two_fresh_operands_give_what_two_known_ones_give(order, shape):
    values = np.arange(1.0, 1 + np.prod(shape), dtype=np.float32).reshape(shape)

    def fresh():
        return torch.from_numpy(np.array(values, order=order)).requires_grad_()

    a, b = fresh(), fresh()
    first = a * b
    again = a * b  # by now their shapes are known
    assert first.stride() == again.stride()
    assert first.equal(again)
    (first * again).sum().backward()
    assert a.grad.equal(b.grad)
    assert np.array_equal(a.grad.numpy(), 2 * values**3)


def test_fresh_operands_of_two_shapes_get_gradients_of_theirs():
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.shape == (2, 3)
    assert b.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("name", ["mul", "sin"])
def test_a_thread_that_meets_the_first_call_of_another_records(name, monkeypatch):
    op = REGISTRY[name]
    call = (unary if len(op.inputs) == 1 else binary)(op)
    given = [torch.ones(2, requires_grad=True)] * len(op.inputs)
    made = []

    def plan(self, *args):
        if not made:
            made.append(None)
            made.append(call(*given))  # as another thread may do now
        return own(self, *args)

    own = Op.plan
    monkeypatch.setattr(Op, "plan", plan)
    assert call(*given).requires_grad and made[1].requires_grad
