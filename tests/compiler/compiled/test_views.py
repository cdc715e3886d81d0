"""Results of compiled functions that are views of what they are given."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import compare, side_by_side

FUNCTIONS = {
    "a row": lambda x: x[1],
    "rows of a row": lambda x: x.view(2, 2, 4)[1][:, ::2],
    "transposed": lambda x: x.t(),
    "detached": lambda x: x.detach(),
    "a detached row": lambda x: x[1].detach(),
    "a row of the detached": lambda x: x.detach()[1],
    "all parts": lambda x: x.split(2),
    "with a result": lambda x: (x.view(-1), (x.view(-1) * 2).sum()),
    "with itself": lambda x: (x.t(), x, x * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("needs_grad", [False, True])
def test_views_of_arguments_are_views(name, needs_grad):
    f = FUNCTIONS[name]

    def scenario(run):
        g = run.compile(f)
        for i in range(4):
            x = (torch.arange(-8.0, 8.0) + i).reshape(4, 4).requires_grad_(needs_grad)
            found = run.call(g, x)
            each = found if isinstance(found, tuple) else (found,)
            run.look([y.untyped_storage().data_ptr() == x.data_ptr() for y in each])
            run.look([y.storage_offset() for y in each], [y._is_view() for y in each])
            live = [(y * y).sum() for y in each if y.requires_grad]
            if live:
                (dx,) = torch.autograd.grad(sum(live), x, create_graph=True)
                (dx * dx).sum().backward()
            else:
                each[0].add_(1)
            run.look(x)

    compare(scenario, "numpy", True)


@side_by_side()
def test_views_of_what_was_written_and_of_parameters(run):
    def writes(x):
        x.mul_(2)
        return x[1:], x.sum()

    class Keeps(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.linspace(0, 1, 6).reshape(2, 3))

        def forward(self, x):
            self.last = x[0]
            return self.weight.t(), x @ self.weight.t()

    g, model = run.compile(writes), Keeps()
    compiled = run.compile(model)
    for i in range(4):
        x = torch.full((3, 3), 1.0 + i)
        run.call(g, x[1:])
        run.look(x)
        weight, y = run.call(compiled, x)
        (weight.sum() + y.sum()).backward()
        x.add_(1)
        run.look(model.last, model.weight, weight.data_ptr() == model.weight.data_ptr())
