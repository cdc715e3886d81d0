"""Objects and containers among the arguments of a compiled function."""

import gc
import types
import weakref
from collections import OrderedDict, deque, namedtuple

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import side_by_side


class Layer:
    """The keys of one layer of attention, with room for some."""

    def __init__(self, room):
        self.room, self.keys, self.is_ready = room, None, False
        self.length = torch.tensor(0)

    def update(self, x):
        if not self.is_ready:
            self.keys = x.new_zeros(self.room, x.shape[-1])
            self.device, self.is_ready = x.device, True
        self.keys.index_copy_(0, torch.arange(len(x)) + self.length, x)
        self.length.add_(len(x))
        return self.keys


class GrowingLayer:
    """The keys of one layer of attention, as many as there are."""

    def __init__(self):
        self.keys, self.seen = None, {"all"}

    def update(self, x):
        self.keys = x if self.keys is None else torch.cat([self.keys, x])
        return self.keys


class Cache:
    """A cache of several layers."""

    def __init__(self, layers):
        self.layers = layers

    def contents(self):
        return [vars(each) | {"seen": None} for each in self.layers]


class Given:
    """What a model gives: an object of its own."""

    def __init__(self, y, cache):
        self.y, self.cache = y, cache


class Model(nn.Module):
    """Attends to what is in a cache."""

    def __init__(self):
        super().__init__()
        self.maps = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])

    def forward(self, x, cache=None):
        for layer, each in zip(cache.layers, self.maps, strict=True):
            keys = layer.update(each(x))
            x = x + (x @ keys.T).softmax(-1) @ keys
        return {"x": x, "cache": cache}


def n_programs(f):
    return len(getattr(f, "dynamo_ctx", f).entries)


@side_by_side("numpy", "c")
def test_a_cache_of_fixed_size_that_is_given_back(run):
    model = Model()
    f = run.compile(model, fullgraph=True)
    with torch.no_grad():
        for _ in range(5):
            cache = Cache([Layer(8) for _ in model.maps])
            for n in (3, 1, 1, 1):
                result = f(torch.randn(n, 3), cache=cache)
                assert result["cache"] is cache
                run.look(result["x"], cache.contents())
    if run.backend:
        assert n_programs(f) == 2  # for an empty cache and the others


@side_by_side("numpy", "c")
def test_a_cache_that_grows(run):
    model = Model()
    f = run.compile(model)
    with torch.no_grad():
        for _ in range(5):
            cache = Cache([GrowingLayer() for _ in model.maps])
            for n in (3, 1, 1):
                run.look(f(torch.randn(n, 3), cache)["x"], cache.contents())
    if run.backend:
        assert n_programs(f) == 3


@side_by_side("numpy")
def test_gradients_go_through_what_is_put_in_an_argument(run):
    model = Model()
    f = run.compile(model, fullgraph=True)
    for _ in range(4):
        cache = Cache([GrowingLayer() for _ in model.maps])
        x = torch.randn(2, 3, requires_grad=True)
        f(x, cache)
        for layer in cache.layers:
            layer.keys = layer.keys.detach()
        y = f(x, cache)["x"]
        (g,) = torch.autograd.grad(y.sum() + cache.layers[1].keys.sum(), x, create_graph=True)
        before = cache.layers[0].keys
        model.zero_grad()
        g.pow(2).sum().backward()
        assert cache.layers[0].keys is before
        run.look(g, x, model)


@side_by_side("numpy")
def test_second_derivatives_read_what_was_there_before_the_call(run):
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.h = nn.Parameter(torch.ones(2)), torch.zeros(2)

        def forward(self, x):
            self.h = (self.h.detach() * self.w + x * self.w**2).tanh()
            return self.h.sum()

    cell = Cell()
    f = run.compile(cell, fullgraph=True)
    for _ in range(5):
        (g,) = torch.autograd.grad(f(torch.full((2,), 0.3)), cell.w, create_graph=True)
        run.look(g, *torch.autograd.grad(g.sum(), cell.w))


@side_by_side("numpy")
def test_containers_that_are_changed(run):
    def f(state, pair):
        state["sum"] = state["x"] + 1
        state["n"] = state.get("n", 0) + 1
        state["more"] = [state["x"], {"twice": state["x"] * 2}, "text"]
        pair[0], pair[1] = pair[1], pair[0]
        return state["sum"] * 2

    f = run.compile(f, fullgraph=True)
    for i in range(5):
        state, pair = {"x": torch.randn(2)}, [torch.ones(1) * i, torch.zeros(2)]
        x, (a, b) = state["x"], pair
        run.look(f(state, pair), state)
        assert pair[0] is b and pair[1] is a and state["more"][0] is x


@pytest.mark.filterwarnings("ignore:.*is not compiled")
@side_by_side("numpy", programs=False)
def test_containers_that_get_shorter_or_longer(run):
    def longer(x, found):
        found.append(x * 2)
        return x + 1

    def shorter(x, found):
        del found["y"]
        return x + 1

    for f, kind in ((longer, list), (shorter, lambda: {"y": 1})):
        f = run.compile(f)
        for _ in range(4):
            found = kind()
            run.look(f(torch.ones(2), found), found)


@side_by_side("numpy")
def test_arguments_that_are_one_object(run):
    shared = Given(torch.zeros(2), None)

    def f(a, b):
        a.y = a.y + 1
        b.y = b.y * 3
        return a.y + b.y + shared.y

    f = run.compile(f, recompile_limit=20)
    for i in range(12):
        a, b = Given(torch.ones(2), None), Given(torch.full((2,), float(i)), None)
        if i % 4 == 1:
            b = a
        elif i % 4 == 3:
            a = shared
        run.look(f(a, b), a.y, b.y, shared.y)
        shared.y = torch.zeros(2)


@side_by_side("numpy")
def test_objects_that_hold_an_argument(run):
    kept = types.SimpleNamespace(last=None)

    def f(x, cache):
        kept.last = [x * 2, cache]
        cache.layers[0].inner = Given(x * 3, cache.layers)
        return Given(x + 1, cache), cache.layers[0], cache

    f = run.compile(f, fullgraph=True)
    for _ in range(5):
        cache = Cache([GrowingLayer()])
        found, layer, same = f(torch.randn(2), cache)
        run.look(found.y, kept.last[0], layer.inner.y)
        assert found.cache is cache is same is kept.last[1] and layer is cache.layers[0]
        assert layer.inner.cache is cache.layers


class Table(OrderedDict):
    """A dictionary whose entries are attributes, too, as the results of a model are."""

    def __init__(self, **entries):
        super().__init__(entries)
        self.__dict__.update(entries)

    def __getitem__(self, key):
        return list(self.values())[key] if isinstance(key, int) else super().__getitem__(key)


Pair = namedtuple("Pair", "x y")


@side_by_side("numpy")
def test_tables_and_named_tuples(run):
    def f(table, pair):
        return table.x * table[1] + table["y"] + pair.y

    f = run.compile(f, fullgraph=True)
    for _ in range(5):
        table = Table(x=torch.randn(2), y=torch.randn(2))
        run.look(f(table, Pair(table.x, torch.randn(2))))
    for i in range(5):
        table.__dict__["x"] = torch.ones(2) * i
        run.look(f(table, Pair(torch.ones(1), torch.randn(2))))
    if run.backend:
        assert len(f.entries) == 2


@side_by_side("numpy", programs=False)
def test_tables_that_are_changed(run):
    def f(table, pair):
        table["x"] = pair.x
        return pair.y + 1

    f = run.compile(f)
    for _ in range(4):
        table = Table(x=torch.ones(1))
        run.look(f(table, Pair(torch.ones(2), torch.ones(1))), table)


FACTOR = 2.0


class Scaled:
    """An object that reads a global, and has a module."""

    def __init__(self, module):
        self.module, self.x = module, torch.ones(2)

    def __call__(self, x):
        self.x = self.module(x) * FACTOR
        return self.x


@side_by_side("numpy")
def test_what_is_read_by_objects_among_the_arguments(run):
    global FACTOR
    module = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))

    def f(x, scaled):
        return scaled(x)

    f = run.compile(f, recompile_limit=20)
    for i in range(12):
        module.train(i // 3 % 2 == 0)
        FACTOR = 2.0 if i < 9 else 5.0
        if i == 7:
            module[0].weight.requires_grad_(False)
        scaled = Scaled(module)
        run.look(f(torch.ones(2), scaled), scaled.x)
    FACTOR = 2.0


@side_by_side("numpy", programs=False)
def test_numbers_that_python_computes_are_no_constants_of_an_object(run):
    kept = types.SimpleNamespace(last=None)

    def f(x, given):
        given.mean = x.mean().item()
        kept.last = [x * 2, x.mean().item()]
        return x + 1

    f = run.compile(f)
    for _ in range(5):
        given = Given(None, None)
        run.look(f(torch.randn(3), given), given.mean, kept.last)


@side_by_side("numpy")
def test_methods_that_are_compiled_where_they_are_defined(run):
    class Trainer:
        def __init__(self):
            self.model, self.log = nn.Linear(2, 1), []
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            self.n_steps, self.recent = 0, deque([torch.ones(2)])

        def step(self, x):
            self.n_steps += 1
            loss = (self.model(x) * self.recent[0].sum()).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.loss = loss.detach() * 2
            return loss

        def penalty(self, x):
            self.n_steps += 2
            return self.model(x).exp().sum()

    Trainer.step, Trainer.penalty = run.compile(Trainer.step), run.compile(Trainer.penalty)
    trainers = [Trainer(), Trainer()]
    for i in range(10):
        trainer = trainers[i > 6]
        if i == 4:
            trainer.recent[0] = torch.full((2,), 3.0)
        run.look(trainer.step(torch.randn(4, 2)), trainer.loss, trainer.n_steps, trainer.model)
        x = torch.randn(4, 2, requires_grad=True)
        (g,) = torch.autograd.grad(trainer.penalty(x), x, create_graph=True)
        run.look(*torch.autograd.grad(g.sum(), x), trainer.n_steps)
    if run.backend:
        assert [len(each.entries) for each in run.compiled] == [4, 3]


@side_by_side("numpy", programs=False)
def test_a_chain_of_many_objects(run):
    f = run.compile(lambda x, chain: x * 2 + chain.y)
    chain = None
    for _ in range(3000):
        chain = Given(torch.ones(1), chain)
    for _ in range(4):
        run.look(f(torch.ones(2), chain))


def test_arguments_are_not_kept():
    f = torch.compile(Model(), backend="numpy", fullgraph=True)
    found = []
    with torch.no_grad():
        for _ in range(3):
            cache = Cache([GrowingLayer() for _ in range(2)])
            f(torch.ones(2, 3), cache)
            found.append(weakref.ref(cache))
            del cache
    gc.collect()
    assert [each() for each in found] == [None] * 3


def test_explain_says_what_is_put_in_an_argument():
    f = torch.compile(Model(), backend="numpy", fullgraph=True)
    with torch.no_grad():
        for _ in range(3):
            f(torch.ones(2, 3), Cache([GrowingLayer() for _ in range(2)]))
    assert f.explain().programs[0]["stores"] == ["GrowingLayer.keys"] * 2
