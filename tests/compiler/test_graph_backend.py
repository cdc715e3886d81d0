"""Compilers that the program brings: they are given graphs, and what they return runs."""

import warnings

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.compiler.backends import Unsupported

FACTOR = 2.0
HALF = torch.full((2,), 0.5)


class Compiler:
    """Keeps the graphs that it is given, and what it is given with them."""

    def __init__(self):
        self.graphs, self.inputs, self.runs = [], [], 0

    def __call__(self, gm, inputs):
        self.graphs.append(gm)
        self.inputs.append(inputs)

        def run(*given):
            self.runs += 1
            return gm.forward(*given)

        return run


def compiled(function, **options):
    compiler = Compiler()
    return torch.compile(function, backend=compiler, **options), compiler


def targets(gm):
    return [(node.op, getattr(node.target, "__name__", node.target)) for node in gm.graph.nodes]


def test_the_backend_of_the_tutorial():
    def toy(a, b):
        x = a / (torch.abs(a) + 1)
        if b.shape[0] < 0:
            b = b * -1
        return x * b, {"total": x.sum()}

    f, compiler = compiled(toy, fullgraph=True)
    a, b = torch.randn(10, requires_grad=True), torch.randn(10)
    for _ in range(3):
        y, rest = f(a, b)
    expected, others = toy(a, b)
    assert torch.equal(y, expected) and torch.equal(rest["total"], others["total"])
    (gm,) = compiler.graphs
    assert [x for x in targets(gm) if x[0] != "call_function"] == [
        ("placeholder", "l_a_"), ("placeholder", "l_b_"), ("call_method", "sum"),
        ("output", "output"),
    ]  # fmt: skip
    assert compiler.inputs[0][0] is a and compiler.inputs[0][1] is b
    assert compiler.runs == 3
    y.sum().backward()
    grad = a.grad.clone()
    a.grad = None
    toy(a, b)[0].sum().backward()
    assert torch.equal(grad, a.grad)


def test_a_module_trains_through_its_graph():
    def model():
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2)
        )

    def trained(model, call):
        torch.manual_seed(1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            call(torch.randn(6, 4)).square().sum().backward()
            optimizer.step()
        model.eval()
        return call(torch.ones(6, 4)), *model.state_dict().values()

    plain, mine = model(), model()
    f, compiler = compiled(mine, fullgraph=True)
    for x, y in zip(trained(plain, plain), trained(mine, f), strict=True):
        assert torch.equal(x, y)
    assert len(compiler.graphs) == 2  # for training, and for evaluation


def test_other_shapes_numbers_and_globals_are_other_graphs(monkeypatch):
    f, compiler = compiled(lambda x, n: x * n * FACTOR, fullgraph=True)
    for x, n in ((torch.ones(2), 3), (torch.ones(2), 3), (torch.ones(3), 3), (torch.ones(3), 4)):
        assert torch.equal(f(x, n), x * n * FACTOR)
    assert len(compiler.graphs) == 3
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert torch.equal(f(torch.ones(2), 3), torch.full((2,), 15.0))
    assert len(compiler.graphs) == 4


def test_what_is_drawn_is_drawn_each_time():
    layer = nn.Linear(3, 3)

    def noisy(x):
        return layer(x) + torch.rand(3)

    f, compiler = compiled(noisy, fullgraph=True)
    for _ in range(3):
        torch.manual_seed(3)
        expected = noisy(torch.ones(3))
        torch.manual_seed(3)
        assert torch.equal(f(torch.ones(3)), expected)
    assert not torch.equal(f(torch.ones(3)), f(torch.ones(3)))
    assert len(compiler.graphs) == 1


class Counting:
    def __init__(self):
        self.last, self.seen = None, []

    def store(self, x):
        self.last = x * 2
        return self.last

    def append(self, x):
        self.seen.append(1)
        return x * 2


def by_numbers(x):
    return x * 2 if x.sum() > 0 else x


def without_grad(x):
    with torch.no_grad():
        return x * 2


def constant(x):
    return torch.bernoulli(HALF) * 0 + x * 2


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (by_numbers, "cannot be traced: symbolically traced variables"),
        (without_grad, "it changes the grad mode"),
        (constant, "it draws random numbers that are no part of the graph"),
        (Counting().store, "it puts something in an attribute"),
        (Counting().append, r"list.append\(\) is called"),
    ],
)
def test_what_no_graph_says_runs_as_it_is(function, why):
    f, compiler = compiled(function)
    with pytest.warns(UserWarning, match=why):
        assert torch.equal(f(torch.ones(2)), torch.full((2,), 2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(f(torch.ones(2)), torch.full((2,), 2.0))
    assert not compiler.graphs
    owner = getattr(function, "__self__", None)
    if owner is not None:  # nothing of what was traced is left
        assert owner.seen in ([], [1, 1]) and (owner.last is None or owner.last.shape == (2,))
    with pytest.raises(Unsupported, match=why):
        compiled(function, fullgraph=True)[0](torch.ones(2))


def test_a_step_of_an_optimizer_runs_as_it_is():
    w = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], lr=0.5)

    def step(x):
        (w * x).sum().backward()
        optimizer.step()
        return w * 1

    with pytest.warns(UserWarning, match="it has an optimizer"):
        y = compiled(step)[0](torch.ones(2))
    assert torch.equal(y, torch.full((2,), 0.5))


def test_errors_of_the_compiler():
    def broken(gm, inputs):
        raise ValueError("no")

    f = torch.compile(lambda x: x * 2, backend=broken)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
        f(torch.ones(2))
    assert str(caught.value).startswith("backend='broken' raised:\nValueError: no")
    f = torch.compile(lambda x: x * 2, backend=lambda gm, inputs: None)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="it returned a NoneType"):
        f(torch.ones(2))


def test_options_are_given_to_the_compiler():
    def compiler(gm, inputs, options=None):
        return lambda *given: [x * options["factor"] for x in gm(*given)]

    f = torch.compile(lambda x: x + 1, backend=compiler, options={"factor": 3})
    assert torch.equal(f(torch.ones(2)), torch.full((2,), 6.0))


def test_too_many_graphs():
    f, compiler = compiled(lambda x: x * 2, recompile_limit=2)
    for n in (1, 2):
        f(torch.ones(n))
    with pytest.warns(UserWarning, match="it was traced 2 times"):
        assert f(torch.ones(3)).shape == (3,)
    assert len(compiler.graphs) == 2
