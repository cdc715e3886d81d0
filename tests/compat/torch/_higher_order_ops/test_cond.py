"""`torch.cond`. The numbers and the errors are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad.compat.torch._dynamo.exc import UncapturedHigherOrderOpError
from tests.messages import raises, raises_beginning
from tests.tolerance import assert_near

X = torch.arange(3.0)


@pytest.mark.parametrize(
    "pred",
    [True, 1, 0.5, torch.tensor(True), torch.tensor([2]), torch.tensor(float("nan")), X.sum() > 1],
)
def test_what_is_not_zero_takes_the_first_branch(pred):
    assert torch.cond(pred, torch.square, torch.neg, (X,)).tolist() == [0, 1, 4]


@pytest.mark.parametrize("pred", [False, 0, 0.0, torch.tensor([False]), X.sum() > 9])
def test_zero_takes_the_second(pred):
    assert torch.cond(pred, torch.square, torch.neg, [X]).tolist() == [0, -1, -2]


def test_only_the_branch_that_is_taken_runs():
    assert torch.cond(torch.tensor(False), lambda: 1 / 0, lambda: X * 2).tolist() == [0, 2, 4]


def test_operands_and_results_are_trees():
    got = torch.cond(
        torch.tensor(True),
        lambda d: {"a": d["x"] + 1, "b": [d["x"] + 2, 1]},
        lambda d: {"a": d["x"] - 1, "b": [d["x"] - 2, 2]},
        ({"x": X},),
    )
    assert got["a"].tolist() == [1, 2, 3] and got["b"][0].tolist() == [2, 3, 4]
    assert got["b"][1] == 1


def test_gradients_are_those_of_the_branch():
    x, w = X.clone().requires_grad_(), torch.ones(3, requires_grad=True)
    for pred, expected in (True, ([1, 1, 1], [0, 1, 2])), (False, ([1, 1, 1], [2, 2, 2])):
        y = torch.cond(torch.tensor(pred), lambda x: x * w, lambda x: x + 2 * w, (x,))
        found = torch.autograd.grad(y.sum(), (x, w))
        assert tuple(g.tolist() for g in found) == expected


def test_nested_branches():
    def inner(x):
        return torch.cond(x.sum() > 100, torch.sin, torch.cos, (x,))

    got = torch.cond(torch.tensor(True), inner, torch.sin, (X,))
    assert_near(got, torch.tensor([1.0, 0.5403023, -0.4161468]))


def test_samples_of_a_batch_choose_by_themselves():
    x = torch.arange(6.0).view(2, 3)
    got = torch.vmap(lambda x: torch.cond(x.sum() > 4, torch.square, torch.neg, (x,)))(x)
    assert got.tolist() == [[0, -1, -2], [9, 16, 25]]
    slope = torch.func.grad(lambda x: torch.cond(x.sum() > 4, torch.square, torch.neg, (x,)).sum())
    assert torch.vmap(slope)(x).tolist() == [[-1, -1, -1], [6, 8, 10]]
    got = torch.vmap(torch.vmap(lambda x: torch.cond(x > 2, torch.square, torch.neg, (x,))))(x)
    assert got.tolist() == [[0, -1, -2], [9, 16, 25]]
    with pytest.raises(UncapturedHigherOrderOpError):
        torch.vmap(lambda x: torch.cond(x > 0, lambda x: (x + 1,), torch.neg, (x,)))(X)


def test_tangents():
    got = torch.func.jvp(
        lambda x: torch.cond(x.sum() > 1, torch.square, torch.neg, (x,)), (X,), (X,)
    )
    assert [t.tolist() for t in got] == [[0, 1, 4], [0, 2, 8]]


def test_what_is_asked_of_arguments():
    true = torch.tensor(True)
    with raises(RuntimeError, "Expected pred to be bool or tensor, but got None."):
        torch.cond(None, 3, 4, 5)
    expected = "Expected pred to be bool or single-element tensor, but got tensor([ True, False])."
    with raises(RuntimeError, expected):
        torch.cond(torch.tensor([True, False]), torch.sin, torch.cos, (X,))
    with raises(RuntimeError, "Expect both branches to be callable."):
        torch.cond(true, torch.sin, None, (X,))
    expected = (
        "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of "
        "tensor leaves, but got "
    )
    for operands in X, {"x": X}, (X, 3), (X, None):
        with raises_beginning(RuntimeError, expected):
            torch.cond(true, torch.sin, torch.cos, operands)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_each_branch_is_compiled(backend):
    torch.compiler.reset()

    def f(x, w):
        return torch.cond(x.sum() > 1, lambda x: x * w, lambda x: x + 2 * w, (x,)).sum()

    compiled = torch.compile(f, backend=backend)
    w = torch.ones(3, requires_grad=True)
    for i in range(12):
        x = torch.full((3,), float(i % 3) - 1 + i / 8)
        expected, got = f(x, w), compiled(x, w)
        assert_near(got, expected.detach())
        slopes = [torch.autograd.grad(y, w)[0] for y in (got, expected)]
        assert_near(*slopes)
    assert len(compiled.explain().programs) == 2
