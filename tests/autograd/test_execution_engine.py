"""Functions queued for the end of a backward pass."""

import pytest

import tapegrad as torch
from tapegrad.inspect import step
from tests.messages import raises

ENGINE = torch.autograd.Variable._execution_engine


def test_they_are_called_when_all_leaves_have_their_gradients():
    x = torch.ones(2, requires_grad=True)
    seen = []

    def last():
        seen.append("last")

    def end():
        seen.append(x.grad.tolist())
        ENGINE.queue_callback(last)

    y = x * 3
    y.register_hook(lambda g: ENGINE.queue_callback(end))
    y.sum().backward()
    assert seen == [[3, 3], "last"]


def test_they_wait_for_the_innermost_pass():
    order = []

    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            ENGINE.queue_callback(lambda: order.append("inner ends"))
            return g

    class Outer(Inner):
        @staticmethod
        def backward(ctx, g):
            ENGINE.queue_callback(lambda: order.append("outer ends"))
            with torch.enable_grad():
                Inner.apply(g.detach().requires_grad_()).sum().backward()
            order.append("outer goes on")
            return g

    Outer.apply(torch.ones(2, requires_grad=True)).sum().backward()
    assert order == ["inner ends", "outer goes on", "outer ends"]


def test_outside_of_a_pass_there_is_no_end_to_wait_for():
    message = "Final callbacks can only be installed during backward pass."
    with raises(RuntimeError, message):
        ENGINE.queue_callback(print)
    x = torch.ones(2, requires_grad=True)
    handle = x.register_hook(lambda g: ENGINE.queue_callback(3))
    with pytest.raises(TypeError, match="'int' object is not callable"):
        x.sum().backward()
    handle.remove()
    with raises(RuntimeError, message):
        ENGINE.queue_callback(print)


def test_stepping_through_a_pass_calls_them_at_its_end():
    x = torch.ones(2, requires_grad=True)
    seen = []
    y = x * 3
    y.register_hook(lambda g: ENGINE.queue_callback(lambda: seen.append(x.grad.tolist())))
    step(y.sum()).run()
    assert seen == [[3, 3]]
