"""What a graph keeps alive, and for how long: counted with the garbage collector switched off."""

import gc
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd.node import AccumulateGrad, Node, Port

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="memory goes at once where references are counted"
)


@pytest.fixture(autouse=True)
def _no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive():
    """How many tensors and nodes there are."""
    kinds = (torch.Tensor, Node, Port, AccumulateGrad)
    return sum(issubclass(type(x), kinds) for x in gc.get_objects())  # no code of others runs


def nothing_is_left(work):
    """Run `work` once to fill caches, then see that a second run leaves no object behind."""
    work()
    gc.collect()
    before = alive()
    work()
    assert alive() == before


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


# --- graphs go when the last name goes ---


def a_chain():
    y = x = leaf(3)
    for _ in range(5):
        y = (y * x).exp().log() + 1
    return y.sum()


def a_diamond():
    x, w = leaf(3, 4), leaf(4, 2)
    h = (x @ w).relu()
    return (h * h.sigmoid() + h.t().reshape(3, 2)).mean()


def a_softmax():
    return torch.nn.functional.cross_entropy(leaf(3, 4) * 2, torch.tensor([0, 1, 2]))


def several_outputs():
    a, b, _ = leaf(3, 4).unbind()
    values, _ = (a * b).sort()
    return values.sum() + torch.cat([a, b]).max()


def writes():
    x = leaf(4)
    y = x * 2
    y.mul_(3).add_(x)
    y[0] = x[1] * 5
    y[1:].exp_()
    return y.sum()


def writes_through_views():
    x = leaf(4)
    n = torch.zeros(2, 2)
    v = n.view(4)[1:3]
    v.copy_(x[:2])
    n.t().mul_(2)
    return (n * v.sum()).sum() + v.sum()


def views():
    x = leaf(4, 4)
    return x.view(16)[::2].reshape(2, 4).t().unsqueeze(0).expand(3, 4, 2).sum()


def hooks():
    x = leaf(3)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.grad_fn.register_hook(lambda i, o: None)
    x.register_post_accumulate_grad_hook(lambda t: None)
    return (y * y).sum()


GRAPHS = [
    a_chain,
    a_diamond,
    a_softmax,
    several_outputs,
    writes,
    writes_through_views,
    views,
    hooks,
]


@pytest.mark.parametrize("build", GRAPHS)
def test_a_graph_that_is_dropped_goes_at_once(build):
    nothing_is_left(build)


@pytest.mark.parametrize("build", GRAPHS)
def test_a_graph_goes_at_once_after_its_backward_pass(build):
    nothing_is_left(lambda: build().backward())


@pytest.mark.parametrize("build", GRAPHS)
def test_a_graph_that_was_retained_goes_at_once(build):
    nothing_is_left(lambda: build().backward(retain_graph=True))


def test_gradients_of_gradients_go_at_once():
    def work():
        x = torch.ones(3, dtype=torch.float64, requires_grad=True)
        y = (x.exp() * x.tanh()).sum()
        for _ in range(3):
            (g,) = torch.autograd.grad(y, x, create_graph=True)
            y = g.sum()
        y.backward()

    nothing_is_left(work)


def test_a_backward_pass_that_fails_leaves_nothing():
    def work():
        x = leaf(3)
        y = x * x
        w = y.exp()
        y.add_(1)
        with pytest.raises(RuntimeError):
            (y * w).sum().backward()
            w.sum().backward()
            w.sum().backward()

    nothing_is_left(work)


def test_a_training_loop_does_not_grow():
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.ones(8, 4)

    def work():
        for _ in range(3):
            optimizer.zero_grad()
            (model(x) ** 2).mean().backward()
            optimizer.step()

    nothing_is_left(work)


# --- what a tensor keeps alive ---


def test_a_tensor_goes_although_its_graph_stays():
    x = leaf(3)
    y = x * 2
    gone = weakref.ref(y)
    z = y + 1
    del y
    assert gone() is None
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_leaf_goes_although_its_graph_stays():
    x = leaf(3)
    y = x + 1
    gone = weakref.ref(x)
    del x
    assert gone() is None and y.grad_fn is not None


def test_a_node_goes_with_its_tensor():
    y = leaf(3) * 2
    gone = weakref.ref(y.grad_fn)
    assert gone() is not None
    del y
    assert gone() is None


def test_dropping_a_result_drops_what_only_it_kept():
    x = leaf(3)
    h = x.exp()
    gone = weakref.ref(h.grad_fn)
    y = h * h
    del h
    assert gone() is not None
    del y
    assert gone() is None


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True:UserWarning")
def test_a_leaf_whose_gradient_has_history_goes_when_the_gradient_is_taken_away():
    x = leaf(3)
    (x**3).sum().backward(create_graph=True)
    gone = weakref.ref(x)
    assert x.grad.requires_grad
    x.grad = None
    del x
    assert gone() is None


def test_hooks_go_with_their_graph():
    class Hook:
        def __call__(self, g):
            return None

    hook = Hook()
    gone = weakref.ref(hook)
    y = leaf(3) * 2
    y.register_hook(hook)
    del hook
    assert gone() is not None
    y.sum().backward()
    assert gone() is not None
    del y
    assert gone() is None


# --- what a node keeps ---


def kept_bytes(function, n=200_000):
    """Bytes that `function(x)` keeps beside its own result, in units of the size of x."""
    x = torch.ones(n, requires_grad=True)
    function(x)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    y = function(x)
    own = 0 if np.may_share_memory(y._array, x._array) else y._array.nbytes
    kept = tracemalloc.get_traced_memory()[0] - before - own
    tracemalloc.stop()
    return round(kept / (4 * n), 1)


@pytest.mark.parametrize(
    ("function", "copies"),
    [
        (lambda x: x + 1, 0),
        (lambda x: x * 2, 0),
        (lambda x: -x, 0),
        (lambda x: x * x, 0),
        (lambda x: x.exp(), 0),
        (lambda x: x.tanh(), 0),
        (lambda x: x.sum(), 0),
        (lambda x: x.view(2, -1), 0),
        (lambda x: x.exp() + 1, 1),
        (lambda x: x * 2 + 1, 0),
        (lambda x: (x + 1) * 2, 0),
        (lambda x: (x + 1).exp(), 0),
        (lambda x: (x + 1) ** 2, 1),
        (lambda x: x.exp().log(), 1),
        (lambda x: (x + 1).sin() + (x + 2).cos(), 2),
        (lambda x: (x * 3).sum(), 0),
    ],
)
def test_a_node_keeps_what_its_rules_ask_for_and_no_more(function, copies):
    assert kept_bytes(function) == copies


def test_what_was_kept_goes_with_the_backward_pass():
    n = 200_000
    x = torch.ones(n, requires_grad=True)
    ((x + 1) ** 2 * x.exp()).sum().backward()  # what is loaded on its first use, is
    x.grad = None
    tracemalloc.start()
    y = ((x + 1) ** 2 * x.exp()).sum()
    full = tracemalloc.get_traced_memory()[0]
    y.backward()
    rest = tracemalloc.get_traced_memory()[0] - x.grad._array.nbytes
    tracemalloc.stop()
    assert full > 3 * 4 * n and rest < 0.1 * 4 * n


def test_what_was_kept_stays_with_retain_graph():
    n = 200_000
    x = torch.ones(n, requires_grad=True)
    tracemalloc.start()
    y = (x + 1).exp().sum()
    full = tracemalloc.get_traced_memory()[0]
    y.backward(retain_graph=True)
    rest = tracemalloc.get_traced_memory()[0] - x.grad._array.nbytes
    tracemalloc.stop()
    assert abs(rest - full) < 0.1 * 4 * n


def test_gradients_on_the_way_go_as_soon_as_they_are_used():
    n, depth = 200_000, 30
    x = torch.ones(n, requires_grad=True)
    y = x
    for _ in range(depth):
        y = -y
    tracemalloc.start()
    y.backward(torch.ones(n))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * 4 * n
