"""`torch.compile(backend=f)`: what a backend is given, and when what it gives back is called."""

import operator
import pickle

import pytest

import tapegrad as torch
from tapegrad import nn


class Backend:
    """Compiles graphs into themselves, and keeps what it was given."""

    __name__ = "Backend"

    def __init__(self, change=None):
        self.graphs, self.inputs, self.options, self.calls = [], [], [], 0
        self.change = change

    def __call__(self, module, example_inputs, **options):
        self.graphs.append(module)
        self.inputs.append(example_inputs)
        self.options.append(options)
        if self.change is not None:
            self.change(module)

        def run(*inputs):
            self.calls += 1
            return module(*inputs)

        return run

    def nodes(self):
        return [(x.op, x.name) for x in self.graphs[-1].graph.nodes]


def test_the_graph_is_that_of_the_call():
    backend = Backend()

    @torch.compile(backend=backend)
    def f(x, y):
        a = torch.cos(x)
        b = torch.sin(y)
        return a + b

    x, y = torch.rand(3), torch.rand(3)
    assert torch.equal(f(x, y), x.cos() + y.sin())
    assert backend.nodes() == [
        ("placeholder", "l_x_"), ("placeholder", "l_y_"), ("call_function", "a"),
        ("call_function", "b"), ("call_function", "add"), ("output", "output"),
    ]  # fmt: skip
    assert [each is given for each, given in zip(backend.inputs[0], (x, y), strict=True)] == [
        True
    ] * 2
    assert torch.equal(f(y, x), y.cos() + x.sin())
    assert len(backend.graphs) == 1 and backend.calls == 2
    assert "torch.cos(l_x_)" in f.source
    assert f.explain().ops_per_graph == [[torch.cos, torch.sin, operator.add]]


def test_the_table_of_a_graph_can_be_printed(capsys):
    pytest.importorskip("tabulate")

    def printing(module, example_inputs):
        module.graph.print_tabular()
        return module.forward

    torch.compile(lambda x: x * 2, backend=printing)(torch.ones(2))
    assert "call_function  mul" in capsys.readouterr().out


def test_what_the_backend_changes_is_what_is_computed():
    def to_products(module):
        for node in module.graph.nodes:
            if node.name == "add":
                node.target = torch.mul
        module.recompile()

    f = torch.compile(lambda x, y: x + y, backend=Backend(to_products))
    three, five = torch.full((2,), 3.0), torch.full((2,), 5.0)
    assert f(three, five).tolist() == f(five, three).tolist() == [15, 15]


def test_parameters_are_inputs_and_get_gradients():
    torch.manual_seed(0)
    backend, x = Backend(), torch.rand(4, 3)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    compiled = torch.compile(model, backend=backend)
    model(x).sum().backward()
    wanted = [p.grad.clone() for p in model.parameters()]
    for _ in range(2):
        model.zero_grad()
        compiled(x).sum().backward()
        assert all(map(torch.equal, wanted, [p.grad for p in model.parameters()]))
    assert {id(p) for p in model.parameters()} <= {id(each) for each in backend.inputs[0]}
    assert len(backend.graphs) == 1 and backend.calls == 2


def test_buffers_are_written_once_a_call():
    backend, x = Backend(), torch.rand(4, 3)
    model, plain = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    compiled = torch.compile(model, backend=backend)
    for n in (1, 2, 3):
        assert torch.equal(compiled(x), plain(x))
        assert torch.equal(model.running_mean, plain.running_mean)
        assert model.num_batches_tracked == n
    assert backend.calls == 2  # the first call has written when the graph is compiled


def test_draws_are_those_of_eager():
    model = nn.Dropout(0.5)
    compiled = torch.compile(model, backend=Backend())
    x = torch.ones(50)
    torch.manual_seed(3)
    wanted = [model(x) for _ in range(3)]
    torch.manual_seed(3)
    assert all(torch.equal(compiled(x), each) for each in wanted)


@pytest.mark.parametrize(
    "change", ["shape", "dtype", "grad", "number", "global", "mode", "alias", "structure"]
)
def test_another_graph_is_made_where_the_first_does_not_hold(change):
    backend = Backend()
    model = nn.Linear(2, 2)
    state = {"factor": 2.0}

    @torch.compile(backend=backend)
    def f(x, y, n=1, more=()):
        return model(x).sum() * state["factor"] + y.sum() * n + sum(z.sum() for z in more)

    x, y = torch.ones(3, 2), torch.ones(3, 2)
    given = {"x": x, "y": y}
    f(**given), f(**given)
    assert len(backend.graphs) == 1
    if change == "shape":
        given["x"] = torch.ones(5, 2)
    elif change == "dtype":
        given["y"] = y.double()
    elif change == "grad":
        given["y"] = y.clone().requires_grad_()
    elif change == "number":
        given["n"] = 3
    elif change == "global":
        state["factor"] = 5.0
    elif change == "mode":
        model.eval()
    elif change == "alias":
        given["y"] = x
    else:
        given["more"] = (y,)
    plain = f.compiled_function(**given)
    assert torch.equal(f(**given), plain)
    assert len(backend.graphs) == 2
    assert torch.equal(f(**given), plain) and len(backend.graphs) == 2


def test_results_keep_their_structure():
    backend = Backend()

    @torch.compile(backend=backend)
    def f(x):
        return {"twice": x * 2, "same": x, "n": 3, "list": [x + 1, None]}

    for _ in range(2):
        x = torch.rand(2)
        found = f(x)
        assert found["same"] is x and found["n"] == 3 and found["list"][1] is None
        assert torch.equal(found["twice"], x * 2) and torch.equal(found["list"][0], x + 1)


def test_writes_to_arguments_happen_once():
    f = torch.compile(lambda x: x.add_(1).sum(), backend=Backend())
    x = torch.zeros(3)
    assert [f(x).item() for _ in range(3)] == [3, 6, 9]


def reads(x):
    return x * 2 if x.sum() > 0 else x


def prints(x):
    print("here")
    return x * 2


def reads_from_nowhere(x):
    return x + torch.tensor([1.0, 2.0]).numpy().sum()


def keeps_count(x, counter={"n": 0}):  # noqa: B006  the count is what it is about
    counter["n"] += 1
    return x * 2


@pytest.mark.parametrize("function", [reads, prints, reads_from_nowhere, keeps_count])
def test_what_is_no_graph_runs_as_it_is(function):
    backend = Backend()
    f = torch.compile(function, backend=backend)
    with pytest.warns(UserWarning, match="is not compiled and runs as it is"):
        result = f(torch.ones(2))
    assert torch.equal(result, function(torch.ones(2))) and not backend.graphs
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(function, backend=backend, fullgraph=True)(torch.ones(2))


def test_options_are_given_to_the_backend():
    backend = Backend()
    torch.compile(torch.neg, backend=backend, options={"level": 3})(torch.ones(2))
    torch.compile(torch.neg, backend=backend, mode="max-autotune")(torch.ones(2))
    assert backend.options == [{"options": {"level": 3}}, {"mode": "max-autotune"}]


@pytest.mark.parametrize("answer", ["error", "nothing"])
def test_a_backend_that_fails(answer):
    def failing(module, example_inputs):
        if answer == "error":
            raise ValueError("no")

    f = torch.compile(lambda x: x * 2, backend=failing)
    with pytest.raises(
        torch._dynamo.exc.BackendCompilerFailed, match=r"^backend='failing' raised:"
    ):
        f(torch.ones(2))


def test_what_cannot_be_had_says_so():
    f = torch.compile(torch.neg, backend=Backend())
    with pytest.raises(RuntimeError, match="not compiled yet"):
        f.source  # noqa: B018
    with pytest.raises(RuntimeError, match="cannot be saved"):
        f.save("f.py")


def copied(module, example_inputs):
    return module.forward


def test_it_can_be_pickled():
    f = pickle.loads(pickle.dumps(torch.compile(torch.neg, backend=copied)))
    assert f(torch.ones(2)).tolist() == [-1, -1] and "neg" in f.source
