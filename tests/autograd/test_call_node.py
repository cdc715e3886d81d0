"""`y.grad_fn(g)`, against what PyTorch 2.13 gave."""

import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning


@pytest.fixture
def x():
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def test_a_node_gives_the_gradients_of_its_inputs(x):
    ones = torch.ones(3)
    assert x.neg().grad_fn(ones).tolist() == [-1, -1, -1]
    left, right = (x * x).grad_fn(ones)
    assert left.tolist() == right.tolist() == [1, 2, 3]
    left, right = (x * 2).grad_fn(ones)
    assert left.tolist() == [2, 2, 2] and right is None
    first, second = torch.cat([x, x]).grad_fn(torch.arange(6.0))
    assert first.tolist() == [0, 1, 2] and second.tolist() == [3, 4, 5]
    assert (x * x).grad_fn(None) == (None, None)


def test_what_it_gives_is_recorded_where_gradients_are(x):
    y = x.exp()
    assert y.grad_fn(torch.ones(3)).grad_fn.name() == "MulBackward0"
    with torch.no_grad():
        assert y.grad_fn(torch.ones(3)).requires_grad is False
    g = torch.ones(3, requires_grad=True)
    (x * 2).grad_fn(g)[0].sum().backward()
    assert g.grad.tolist() == [2, 2, 2]


def test_one_cotangent_is_given_for_each_output(x):
    node = x.unbind()[0].grad_fn
    assert node(torch.tensor(1.0), None, torch.tensor(3.0)).tolist() == [1, 0, 3]
    with raises(TypeError, "expected 3 arguments, got 1 instead"):
        node(torch.tensor(1.0))
    with raises(TypeError, "argument 0 is not a Variable"):
        x.exp().grad_fn(3)
    with raises(TypeError, "keyword arguments are not supported"):
        x.exp().grad_fn(torch.ones(3), g=1)


def test_a_leaf_accumulates(x):
    node = (x * 2).grad_fn.next_functions[0][0]
    assert node(torch.ones(3)) == () and node(None) == ()
    node(torch.ones(3))
    assert x.grad.tolist() == [2, 2, 2]


def test_a_node_that_was_freed_says_so(x):
    y = x.exp()
    y.sum().backward()
    with raises_beginning(RuntimeError, "Trying to backward through the graph a second time"):
        y.grad_fn(torch.ones(3))


def test_hooks_are_not_called_and_custom_functions_are_not_callable(x):
    y = x.exp()
    seen = []
    y.register_hook(seen.append)
    y.grad_fn.register_prehook(seen.append)
    y.grad_fn(torch.ones(3))
    assert seen == []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with raises(TypeError, "'TwiceBackward' object is not callable"):
        Twice.apply(x).grad_fn(torch.ones(3))
