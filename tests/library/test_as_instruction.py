"""Operators that a program defined, in calls that are compiled: one instruction each."""

import pytest

import tapegrad as torch
from tests.compiler.side_by_side import side_by_side


@pytest.fixture(autouse=True)
def operators():
    """Rows in groups, each scaled by its number, as experts of a mixture have them."""
    with torch.library._scoped_library("instructions", "FRAGMENT"):
        scaled = torch.library.custom_op("instructions::scaled", _scaled, mutates_args=())
        torch.library.custom_op("instructions::both", _both, mutates_args=())

        def backward(ctx, g):
            return torch.ops.instructions.scaled(g, ctx.ends, ctx.factor), None, None

        def setup_context(ctx, inputs, output):
            _, ctx.ends, ctx.factor = inputs

        scaled.register_autograd(backward, setup_context=setup_context)
        yield


def _scaled(x: torch.Tensor, ends: torch.Tensor, factor: float) -> torch.Tensor:
    found, start = torch.zeros_like(x), 0
    for i, end in enumerate(ends.tolist()):
        found[start:end] = x[start:end] * (i + factor)
        start = end
    return found


def _both(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.sin(), x.t() * 2


@side_by_side("numpy", "c")
def test_what_it_reads_of_numbers_is_read_again_in_each_call(run):
    linear = torch.nn.Linear(3, 3)

    def step(x, ends):
        return torch.ops.instructions.scaled(linear(x), ends, 2.0).tanh()

    f = run.compile(step)
    for first in (1, 1, 1, 2, 3, 1):
        linear.zero_grad()
        y = f(torch.randn(6, 3), torch.tensor([first, 4, 6]))
        y.sum().backward()
        run.look(y, linear)
    for each in run.compiled:
        assert len(each.entries) == 1


@side_by_side("numpy", "c")
def test_several_results_and_views(run):
    f = run.compile(lambda x: [y * 2 for y in torch.ops.instructions.both(x + 1)])
    for _ in range(4):
        run.look(f(torch.randn(3, 4)))


@side_by_side("numpy")
def test_other_shapes_are_another_call(run):
    f = run.compile(lambda x, ends: torch.ops.instructions.scaled(x, ends, 1.5) + 1)
    for n in (6, 6, 6, 7, 7, 6):
        run.look(f(torch.randn(n, 2), torch.tensor([2, n])))
