"""What a compiled function puts in attributes, globals and containers: the same as uncompiled."""

import gc
import types
import weakref

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.compiler.stores import MISSING, Place, Store, with_stores
from tests.compiler.c_backend.c_compiler import compiler
from tests.compiler.side_by_side import side_by_side

HIDDEN = None


class Keeping(nn.Module):
    """Keeps all kinds of things that it computes."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.weights = self.several = self.distribution = self.result = None
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        y = self.linear(x).tanh()
        self.weights = y.softmax(-1)
        self.several = (y * 2, [x + 1, 3, None], {"square": y * y}, x)
        self.distribution = torch.distributions.Normal(y, 1.0)
        self.mean = (self.mean * 0.9 + x.mean(0)).detach()
        self.result = y.sum()
        return self.result


@side_by_side("numpy", "c")
def test_attributes_of_a_module(run):
    model = Keeping()
    f = run.compile(model)
    for n in (2, 2, 2, 2, 4, 2, 4):
        x = torch.randn(n, 3)
        y = f(x)
        assert model.result is y and model.several[3] is x
        loss = y + model.weights.pow(2).sum() + model.several[0].sum()
        loss = loss + model.distribution.log_prob(x).mean()
        model.zero_grad()
        loss.backward()
        run.look(loss, model, model.weights, model.several, vars(model.distribution))
        run.look(type(model.distribution).__name__, model.distribution.batch_shape)


@side_by_side("numpy", "c")
def test_hidden_state(run):
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.h = nn.GRUCell(3, 4), None

        def forward(self, x):
            h = x.new_zeros(len(x), 4) if self.h is None else self.h
            self.h = self.cell(x, h)
            return self.h.sum()

    model = Cell()
    f = run.compile(model, recompile_limit=20)
    for i in range(14):
        if i % 5 == 4:
            model.h = None
        elif i % 5 == 2:
            model.h = model.h.detach()
        loss = run.call(f, torch.randn(2, 3))
        if loss is not None:
            model.zero_grad()
            loss.backward(retain_graph=True)
        run.look(model, model.h)
        if i == 11:
            model.h = torch.randn(2, 4, dtype=torch.float64)  # an error, or another program
    run.look(model.h)


@side_by_side("numpy", "c")
def test_globals_and_containers(run):
    table = {"last": torch.zeros(2), "all": [torch.zeros(2), torch.ones(2)]}

    def f(x):
        global HIDDEN
        HIDDEN = x * 2 if HIDDEN is None else HIDDEN + x
        table["last"] = table["all"][0] * x
        table["all"][0] = table["last"] + 1
        return x.exp()

    globals()["HIDDEN"] = None
    f = run.compile(f)
    for i in range(8):
        run.call(f, torch.randn(2))
        run.look(HIDDEN, table)
        if i == 4:
            table["all"] = [torch.ones(2), torch.ones(2)]
        if i == 5:
            table["last"] = None
        if i == 6:
            globals()["HIDDEN"] = None


class Counted:
    def __init__(self, x, n):
        self.x, self.n = x, n


@side_by_side("numpy", programs=None)
def test_what_has_to_run_as_it_is(run):
    holder, both = {"counted": Counted(torch.ones(2), 0)}, {}
    shared = torch.ones(2)
    both["a"], both["b"] = shared, [shared]

    def counting(x):
        holder["counted"] = Counted(x * 2, holder["counted"].n + 1)
        return x + holder["counted"].n

    def twice(x):
        both["a"] = x * 2
        return both["b"][0] + x

    def parts(x):
        y = x * 2
        both["c"] = y.detach()
        return y

    def cyclic(x):
        both["d"] = Counted(x * 2, None)
        both["d"].n = [both["d"]]
        return x + 1

    def known(x):
        both["e"] = [holder, x * 2]
        return x + 1

    functions = (counting, twice, parts, cyclic, known)
    functions = [run.compile(f, recompile_limit=4) for f in functions]
    for i in range(7):
        for f in functions:
            run.call(f, torch.randn(2, requires_grad=True))
        assert both["d"].n[0] is both["d"] and both["e"][0] is holder
        run.look(vars(holder["counted"]), [both[k] for k in "abc"], both["e"][1], both["d"].x)
        if i == 4:
            both["b"][0] = torch.zeros(2)


@side_by_side("numpy")
def test_second_derivatives_store_nothing(run):
    kept = {"y": torch.ones(2)}

    def f(x):
        kept["y"] = x.sin()
        return (kept["y"] * x).sum()

    f = run.compile(f)
    for _ in range(5):
        x = torch.randn(2, requires_grad=True)
        (g,) = torch.autograd.grad(f(x), x, create_graph=True)
        before = kept["y"]
        (second,) = torch.autograd.grad(g.pow(2).sum(), x)
        assert kept["y"] is before
        run.look(g, second, kept["y"])


def test_with_stores_leaves_places_as_they_were():
    kept = {}

    def f(x):
        kept["y"] = x * 2
        return x

    place = Place(kept, "y", None, ())
    kept["y"] = torch.ones(1)
    stores = [Store(place)]
    del kept["y"]
    result, tensors = with_stores(f, stores)((kept,), (MISSING,))(torch.ones(2))
    assert result.tolist() == [1, 1] and tensors[0][0].tolist() == [2, 2] and not kept


@side_by_side("numpy", "c")
def test_a_result_that_is_given_twice(run):
    f = run.compile(lambda x: (x.exp(), [x, x.exp()][0], *[(x * 2,)] * 2))
    g = run.compile(lambda x: [x.sin()] * 3)
    for _ in range(5):
        x = torch.randn(3, requires_grad=True)
        y = run.call(g, x)
        assert y[0] is y[1] is y[2]
        (y[0] * y[2]).sum().backward()
        run.call(f, x)
        run.look(x)


@side_by_side("numpy", "c")
def test_tensors_that_somebody_replaces_between_calls(run):
    model = nn.Linear(2, 2)
    model.target, table = torch.zeros(2), {"mask": torch.ones(2)}

    def step(x):
        loss = ((model(x) - model.target) * table["mask"]).pow(2).sum()
        model.zero_grad()
        loss.backward()
        return loss

    step = run.compile(step)
    for i in range(12):
        model.target = torch.randn(2, requires_grad=i % 6 == 5)
        if i % 2:
            table["mask"] = torch.rand(2, dtype=torch.float64 if i == 7 else torch.float32)
        run.call(step, torch.randn(2))
        run.look(model, model.target, table)
    assert run.backend is None or len(step.entries) < 7


def test_explain_says_what_is_stored():
    model = Keeping()
    f = torch.compile(model, backend="numpy").dynamo_ctx
    for _ in range(3):
        f(torch.ones(2, 3))
    names = "weights several distribution mean result".split()
    stored = f.explain().programs[0]["stores"]
    assert sorted(stored) == sorted(f"Keeping.{name}" for name in names)
    assert "stores Keeping." in str(f.explain())


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_what_was_there_when_it_was_recorded_goes(backend):
    if backend == "c":
        compiler()

    class Hidden:
        pass

    hidden = Hidden()
    hidden.state = torch.zeros(3)

    @torch.compile(backend=backend, fullgraph=True)
    def step(x):
        hidden.state = (hidden.state * 0.5 + x).detach()
        return (hidden.state * x).sum()

    x = torch.ones(3, requires_grad=True)
    step(x)
    before = weakref.ref(hidden.state)
    step(x)
    gc.collect()
    for _ in range(3):
        step(x)
    gc.collect()
    assert before() is None
    assert step.entries


def test_reset_forgets_which_tensors_were_replaced():
    held = {"target": torch.zeros(2)}

    @torch.compile(backend="numpy", fullgraph=True)
    def step(x):
        return (x - held["target"]).sum()

    for target in (0.0, 1.0):
        held["target"] = torch.full((2,), target)
        for _ in range(3):
            step(torch.ones(2))
    step.reset()
    assert not step._replaced.among({}) and not step._replaced._several


class Layer:
    """What a model keeps of the past, as caches of attention do."""

    def __init__(self, kind):
        self.kind, self.dtype, self.keys, self.values = kind, None, None, None

    def put(self, keys, values):
        self.dtype = keys.dtype
        self.keys, self.values = keys, values


class Cache:
    def __init__(self, config):
        self.config, self.layers = config, [Layer("full") for _ in range(2)]


class Caching(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.config = nn.Linear(3, 3), types.SimpleNamespace(layers=2)

    def forward(self, x):
        cache = Cache(self.config)
        for layer in cache.layers:
            x = self.linear(x)
            layer.put(x * 2, x)
        return {"x": x, "cache": cache}


@side_by_side("numpy", "c")
def test_objects_among_what_a_call_gives(run):
    model = Caching()
    f = run.compile(model)
    for n in (2, 2, 2, 2, 4, 2, 2):
        found = f(torch.randn(n, 3))
        cache = found["cache"]
        assert type(cache) is Cache and cache.config is model.config
        assert cache.layers[1].values is found["x"] and cache.layers[0].dtype is torch.float32
        model.zero_grad()
        (found["x"].sum() + cache.layers[0].keys.square().sum()).backward()
        run.look(model, [vars(layer) for layer in cache.layers])


@side_by_side("numpy")
def test_gradients_of_what_is_in_an_object_are_differentiated(run):
    model = Caching()
    for parameter in model.parameters():  # sums of whole numbers are exact in any order
        nn.init.constant_(parameter, 2)
    f = run.compile(model)
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for _ in range(4):
        keys = f(x)["cache"].layers[1].keys
        (g,) = torch.autograd.grad(keys.square().sum(), x, create_graph=True)
        model.zero_grad()
        g.square().sum().backward()
        run.look(g, model)


class Registry(dict):
    """A table with a way of its own to look things up."""

    def get(self, owner):
        return super().get(type(owner).__name__)


REGISTRY = Registry(Caching=2.0)


@side_by_side("numpy")
def test_a_table_with_a_method_of_its_own(run):
    model = Caching()
    f = run.compile(lambda x: model.linear(x) * REGISTRY.get(model))
    for scale in (2.0, 2.0, 2.0, 3.0, 3.0):
        REGISTRY["Caching"] = scale
        run.look(f(torch.ones(2, 3)))


class Making(dict):
    """A table of classes, which gives a new object of one each time."""

    def __getitem__(self, name):
        return super().__getitem__(name)()


ACTIVATIONS = Making(tanh=nn.Tanh, relu=nn.ReLU)


@side_by_side("numpy")
def test_a_table_that_makes_what_it_gives(run):
    f = run.compile(lambda x: ACTIVATIONS["tanh"](x))
    for kind in (nn.Tanh, nn.Tanh, nn.Tanh, nn.Sigmoid, nn.Sigmoid):
        ACTIVATIONS["tanh"] = kind
        run.look(f(torch.ones(2, 3)))


FACTOR = 2.0


class Reader:
    """An object whose method reads a global."""

    def __init__(self, x):
        self.x = x

    def scaled(self):
        return self.x * FACTOR


@side_by_side("numpy")
def test_what_methods_of_a_stored_object_read(run):
    global FACTOR
    kept = types.SimpleNamespace(reader=Reader(torch.ones(2)))

    def f(x):
        kept.reader = type(kept.reader)(kept.reader.scaled() + x)
        return kept.reader.x + 1

    f = run.compile(f, fullgraph=True)
    for i in range(8):
        FACTOR = 2.0 if i < 5 else 0.5
        run.look(f(torch.ones(2)))
    FACTOR = 2.0


@side_by_side(programs=False)
def test_a_number_that_happens_to_be_there_already(run):
    thing = types.SimpleNamespace(mean=1.0)

    def noted(x):
        thing.mean = x.mean().item()
        return x * 2

    f = run.compile(noted)
    for mean in (1.0, 1.0, 1.0, 2.0, 3.0):
        run.call(f, torch.full((2,), mean))
        run.look(thing.mean)
