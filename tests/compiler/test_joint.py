"""The backward program of a compiled function, where only some of the results have gradients."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import side_by_side


class TwoHeads(nn.Module):
    """Gives a result, and another that is made of a part of it, as a transformer's pooler is."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 3)

    def forward(self, x):
        h = self.body(x)
        return h, self.head(h[:, 0]).tanh()


@side_by_side("numpy", "c")
def test_results_without_a_gradient_lead_to_none(run):
    model = TwoHeads()
    f = run.compile(model)
    x = torch.randn(2, 3, 4)
    for _ in range(4):
        for which in (0, 1):
            model.zero_grad()
            f(x)[which].sum().backward()
            run.look(model)
        grads = torch.autograd.grad(f(x)[0].sum(), list(model.parameters()), allow_unused=True)
        run.look([g is None for g in grads])


@side_by_side("numpy", "c")
def test_gradients_that_are_differentiated_where_a_result_has_none(run):
    model = TwoHeads()
    f = run.compile(model)
    x = torch.randn(2, 3, 4, requires_grad=True)
    for _ in range(4):
        _, pooled = f(x)
        (g,) = torch.autograd.grad(pooled.sum(), x, create_graph=True)
        model.zero_grad()
        g.square().sum().backward()
        run.look(g, model)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_result_is_written_of_which_a_part_was_saved(backend):
    model = TwoHeads()
    f = torch.compile(model, backend=backend, fullgraph=True)
    x = torch.randn(2, 3, 4)
    for _ in range(3):
        f(x)
    f.dynamo_ctx.wait()
    h, pooled = f(x)
    h.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        pooled.sum().backward()


class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.tanh()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 - x.tanh() ** 2)


@side_by_side("numpy", "c")
def test_a_function_of_the_users_that_saves_a_view(run):
    model = nn.Linear(4, 3)
    f = run.compile(lambda x: Squash.apply(model(x)))
    for _ in range(4):
        model.zero_grad()
        f(torch.randn(2, 3, 4)).sum().backward()  # in three dimensions a layer gives a view
        run.look(model)


class Pooling(nn.Module):
    """Gives a result and a part of it, as a vision transformer's pooled token is."""

    def __init__(self):
        super().__init__()
        self.body, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)

    def forward(self, x):
        h = self.norm(self.body(x))
        return {"all": h, "first": h[:, 0], "again": h, "rest": h[:, 1:].transpose(1, 2)}


@side_by_side("numpy", "c")
def test_a_result_and_parts_of_it(run):
    model = Pooling()
    f = run.compile(model)
    for i in range(6):
        found = f(torch.randn(2, 3, 4))
        run.look(found)
        model.zero_grad()
        terms = found["first"].sum(), found["all"].square().sum(), found["rest"].exp().sum()
        sum(terms[: 1 + i % 3]).backward()
        run.look(model)
        with torch.no_grad():
            found["first"].zero_()
        run.look(found["all"], found["rest"])


@side_by_side("numpy")
def test_a_part_is_written_and_the_whole_goes_on(run):
    model = Pooling()
    f = run.compile(model)
    for _ in range(4):
        found = f(torch.randn(2, 3, 4))
        found["first"].mul_(2)
        model.zero_grad()
        found["all"].square().sum().backward()
        run.look(found["all"], model)


@side_by_side("numpy")
def test_gradients_of_a_part_are_differentiated(run):
    model = Pooling()
    f = run.compile(model)
    for _ in range(4):
        x = torch.randn(2, 3, 4, requires_grad=True)
        (g,) = torch.autograd.grad(f(x)["first"].square().sum(), x, create_graph=True)
        run.look(g)
        g.sum().backward()


class Averaged(nn.Module):
    """A module that writes buffers, one of which its result is made of, and an argument."""

    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Linear(4, 4, bias=False), nn.BatchNorm1d(4)
        self.register_buffer("mean", torch.ones(4))

    def forward(self, x, y):
        h = self.norm(self.layer(x)).tanh() + self.mean
        with torch.no_grad():
            self.mean.mul_(0.9).add_(h.mean(0))
        y.mul_(2)
        return h.pow(2) * self.mean * y.clone()


@side_by_side("numpy", "c")
def test_a_second_derivative_leaves_alone_what_the_function_writes(run):
    model = Averaged()
    f = run.compile(model)
    for _ in range(4):
        x, y = torch.randn(3, 4, requires_grad=True), torch.ones(4)
        z = run.call(f, x, y)
        (g,) = torch.autograd.grad(z.sum(), x, create_graph=True)
        run.look(model, y)
        g.pow(2).sum().backward()
        run.look(model, x, y)
        model.zero_grad()


@side_by_side("numpy", "c")
def test_numbers_of_tensors_that_the_backward_program_reads(run):
    f = run.compile(lambda x: (x * x.detach().mean().item()).sin() * x.detach().max().item())
    g = run.compile(lambda x: (x / (1 + x.detach().norm().item())).pow(2))
    for _ in range(4):
        for each in (f, g):
            x = torch.randn(3, requires_grad=True)
            y = run.call(each, x)
            y.sum().backward()
            run.look(x)


def test_a_result_may_be_detached_in_place_and_then_not_be_written():
    f = torch.compile(lambda x: (x * 2).exp())
    for change in (lambda y: None, lambda y: None, lambda y: y.add_(1)):
        x = torch.ones(2, requires_grad=True)
        y = f(x)
        z = (y * 1).sum()
        change(y.detach_())
        if y._version:
            with pytest.raises(RuntimeError, match="which is output 0 of CompiledFunction"):
                z.backward()
        else:
            z.backward()
            assert torch.allclose(x.grad, 2 * (2 * x).exp())
