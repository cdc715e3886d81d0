"""Counts in attributes are counted on, and are no condition of a program."""

import pytest

import tapegrad as torch
from tapegrad import nn


class Counting(nn.Module):
    """Counts its calls in two ways."""

    def __init__(self):
        super().__init__()
        self.calls, self.rows = 0, 100
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        self.calls += 1
        self.rows = self.rows - 2
        return self.count(self.linear(x).tanh())

    def count(self, y):
        self.calls += 3
        return y * 2


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_module_that_counts(backend):
    torch.manual_seed(0)
    model = Counting()
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    for n in range(1, 7):
        x = torch.full((3, 2), float(n), requires_grad=True)
        y = compiled(x)
        assert (model.calls, model.rows) == (4 * n, 100 - 2 * n)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(g.sum(), x)
        assert (model.calls, model.rows) == (4 * n, 100 - 2 * n)
        plain = Counting()
        plain.load_state_dict(model.state_dict())
        torch.testing.assert_close(y, plain(x))
        assert second.abs().sum() > 0
    assert len(compiled.entries) == 1
    model.calls = 1000  # somebody else sets it
    compiled(x)
    assert model.calls == 1004 and len(compiled.entries) == 1


class Plain:
    steps = 0

    def __init__(self):
        self.steps = 0


def counted():
    held = Plain()

    @torch.compile(backend="numpy", fullgraph=True)
    def step(x):
        held.steps += 1
        return x * 2

    return held, step


def test_an_object_that_counts():
    held, step = counted()
    for _ in range(5):
        step(torch.ones(2))
    assert held.steps == 5 and len(step.entries) == 1


def by_value(held, x):
    held.steps += 1
    return x * held.steps


def by_branch(held, x):
    held.steps += 1
    return x * 2 if held.steps % 2 else x


def by_name(held, x):
    held.steps += 1
    return x * getattr(held, "steps")  # noqa: B009


def by_dictionary(held, x):
    held.steps += 1
    return x * held.__dict__["steps"]


def by_another_amount(held, x):
    held.steps += held.steps + 1
    return x * 2


def anew(held, x):
    held.steps = 0
    held.steps += 1
    return x * 2


@pytest.mark.parametrize(
    "function", [by_value, by_branch, by_name, by_dictionary, by_another_amount, anew]
)
@pytest.mark.filterwarnings("ignore:.*is not compiled and runs as it is")
def test_a_count_that_is_read_is_none(function):
    held, plain = Plain(), Plain()
    held.steps = plain.steps = 7
    step = torch.compile(lambda x: function(held, x), backend="numpy")
    for _ in range(6):
        assert torch.equal(step(torch.ones(2)), function(plain, torch.ones(2)))
        assert held.steps == plain.steps
