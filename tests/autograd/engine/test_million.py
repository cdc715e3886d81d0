"""A chain of a million operators is built, differentiated, copied and freed like one of ten."""

import copy
import gc
import sys
import weakref

import pytest

import tapegrad as torch

N = 1_000_000


@pytest.fixture(autouse=True)
def _without_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def chain(x, n):
    y = x
    for _ in range(n):
        y = y + x
    return y


def test_a_million_operators_are_built_differentiated_and_freed():
    assert sys.getrecursionlimit() < N
    x = torch.ones((), dtype=torch.float64, requires_grad=True)
    y = chain(x, N)
    first = weakref.ref(y.grad_fn.next_functions[0][0])
    y.backward()
    assert x.grad.item() == N + 1
    assert y.grad_fn.name() == "AddBackward0"
    del y
    assert first() is None


def test_a_deep_graph_is_freed_without_a_backward_pass():
    x = torch.ones(3, requires_grad=True)
    y = chain(x * 2, N // 4)
    first = weakref.ref(y.grad_fn)
    del y
    assert first() is None


def test_a_deep_graph_is_freed_while_it_is_walked_with_what_it_kept():
    x = torch.ones((), dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(N // 10):
        y = y * x
    y.backward()
    assert x.grad.item() == N // 10 + 1


def test_a_deep_graph_has_gradients_by_its_middle():
    x = torch.ones((), dtype=torch.float64, requires_grad=True)
    middle = chain(x, N // 20)
    y = chain(middle, N // 20)
    g, h = torch.autograd.grad(y, (middle, x))
    assert g.item() == N // 20 + 1 and h.item() == (N // 20 + 1) ** 2


def test_a_deep_graph_is_differentiated_twice():
    x = torch.ones((), dtype=torch.float64, requires_grad=True)
    y, n = x, N // 100
    for _ in range(n):
        y = y * x
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert g.item() == n + 1 and h.item() == n * (n + 1)


def test_a_deep_chain_of_writes_is_differentiated():
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    for _ in range(N // 100):
        y += x
    y.sum().backward()
    assert x.grad.tolist() == [N // 100 + 1] * 2


def test_leaves_with_deep_graphs_behind_them_are_copied():
    x = torch.ones(3, requires_grad=True)
    chain(x, N // 10).sum().backward()
    y = copy.deepcopy(x)
    assert y.grad.tolist() == [N // 10 + 1.0] * 3 and y.is_leaf
    deep = chain(x, N // 10)
    detached = copy.deepcopy(deep.detach())
    assert detached.tolist() == [N // 10 + 1.0] * 3
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(deep)
