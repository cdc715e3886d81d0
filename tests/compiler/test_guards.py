"""Compiled functions after a change of what they read: never what was, always what is."""

import argparse
import array
import collections
import ctypes
import functools
import threading
import types
import weakref
from collections import OrderedDict

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.utils.checkpoint import checkpoint
from tests.compiler.side_by_side import side_by_side

SCALE = 1.0
SHIFT = torch.ones(2)
TABLE = {"a": 1.0, "list": [1.0, 2.0]}


class Settings:
    factor = 2.0


SETTINGS = Settings()


def helper(x, k=2.0):
    return x * k


def several(run, function, *args, n=3):
    for _ in range(n):
        run.call(function, *(x() if callable(x) else x for x in args))


def ones():
    return torch.ones(2)


@side_by_side("numpy", "c")
def test_shapes_and_dtypes(run):
    f = run.compile(lambda x, w: (x @ w).tanh().sum(0))
    for n in (2, 2, 2, 3, 3, 2, 1, 1, 3):
        for dtype in (torch.float32, torch.float64):
            run.call(f, torch.randn(n, 4, dtype=dtype), torch.randn(4, 3, dtype=dtype))


@side_by_side()
def test_strides(run):
    f = run.compile(lambda x: (x * 2 + 1).relu())
    for _ in range(3):
        x = torch.randn(4, 8)
        for y in (x[:, :4], x.t()[:4], x[:, ::2], x[:, :1].expand(4, 4), x.flip(0)):
            run.call(f, y)


@side_by_side("numpy", "c")
def test_requires_grad_and_grad_mode(run):
    f = run.compile(lambda x, w: (x * w).sin())
    for _ in range(3):
        for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
            x = torch.randn(3, requires_grad=bool(a))
            w = torch.randn(3, requires_grad=bool(b))
            y = run.call(f, x, w)
            if y.requires_grad:
                y.sum().backward()
            with torch.no_grad():
                run.call(f, x, w)
            with torch.inference_mode():
                run.call(f, x, w)
            run.look(x, w)


@side_by_side()
def test_arguments_with_a_history(run):
    f = run.compile(lambda x: (x * 3).exp())
    for _ in range(4):
        x = torch.randn(3, requires_grad=True)
        for y in (lambda x: x * 2, lambda x: x, lambda x: torch.stack([x, x]), lambda x: x[:3]):
            run.call(f, y(x)).sum().backward()
            run.look(x)


@side_by_side("numpy", "c")
def test_train_and_eval(run):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    f = run.compile(model)
    for train in (1, 1, 1, 0, 0, 0, 1):
        model.train(bool(train))
        run.call(f, torch.randn(5, 3)).sum().backward()
        run.look(model)
    model[1].eval()
    several(run, f, torch.randn(5, 3))
    model[2].p = 0.1
    several(run, f, torch.randn(5, 3))
    model[1].eps = 0.1
    several(run, f, torch.randn(5, 3))


@side_by_side(programs=None)
def test_hooks_of_modules(run):
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    f = run.compile(lambda x: model(x))
    x = torch.randn(5, 3)

    def go():
        for _ in range(3):
            model.zero_grad()
            run.call(f, x).sum().backward()
            run.look(model)

    go()
    everywhere = nn.modules.module.register_module_forward_hook
    for register in (
        lambda: model[0].register_forward_hook(lambda module, args, out: out * 2),
        lambda: model[0].register_forward_pre_hook(lambda module, args: (args[0] + 1,)),
        lambda: model.register_forward_hook(lambda module, args, out: out * 5),
        lambda: model[2].register_full_backward_hook(lambda m, g, _: tuple(x * 3 for x in g)),
        lambda: everywhere(lambda module, args, out: out * 2),
    ):
        handle = register()
        go()
        handle.remove()
        go()


@side_by_side(programs=None)
def test_hooks_of_tensors(run):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    f, x, seen = run.compile(step), torch.randn(5, 3), []
    for register in (
        lambda: model.weight.register_hook(lambda g: g * 10),
        lambda: model.weight.register_post_accumulate_grad_hook(lambda p: seen.append(1)),
    ):
        several(run, f, x)
        handle = register()
        several(run, f, x)
        handle.remove()
        several(run, f, x)
        run.look(model, seen)


@side_by_side(programs=None)
def test_parameters_replaced(run):
    model = nn.Linear(3, 2)
    f = run.compile(model, recompile_limit=40)
    x = torch.randn(5, 3)

    def new():
        return nn.Parameter(torch.randn(2, 3))

    def go():
        for _ in range(2):
            model.zero_grad()
            y = run.call(f, x)
            if y is not None and y.requires_grad:
                y.sum().backward()
            run.look(model)

    go()
    for change in (
        lambda: setattr(model, "weight", new()),
        lambda: model._parameters.update(weight=new()),
        lambda: setattr(model.weight, "data", torch.randn(2, 3)),
        lambda: setattr(model.weight, "data", torch.randn(3, 2).t()),
        lambda: model.double(),
        lambda: model.float(),
        lambda: model.weight.requires_grad_(False),
        lambda: model.weight.requires_grad_(True),
        lambda: setattr(model, "bias", None),
        lambda: model.register_parameter("bias", nn.Parameter(torch.randn(2))),
        lambda: model.load_state_dict({k: v + 1 for k, v in model.state_dict().items()}),
        lambda: model.weight.data.mul_(2),
        lambda: model.weight.detach().numpy().fill(2),
        lambda: setattr(model.weight, "data", torch.randn(4, 3)),
        lambda: setattr(model.bias, "data", torch.randn(4)),
    ):
        change()
        go()


@side_by_side(programs=None)
def test_buffers_and_attributes(run):
    class Sum(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(2))
            self.k, self.parts = 1.0, [1, 2]

        def forward(self, x):
            self.total += x
            return self.total * self.k + self.parts[0]

    model = Sum()
    f = run.compile(model, recompile_limit=40)
    several(run, f, ones)
    for change in (
        lambda: setattr(model, "k", 2.0),
        lambda: model.parts.__setitem__(0, 5),
        lambda: setattr(model, "parts", [9]),
        lambda: setattr(model, "total", torch.full((2,), 3.0)),
        lambda: model.total.zero_(),
        lambda: model._buffers.update(total=torch.ones(2) * 7),
        lambda: setattr(model, "total", model.total.double()),
        lambda: model.__dict__.update(k=4.0),
        lambda: object.__setattr__(model, "k", 6.0),
    ):
        change()
        several(run, f, ones)
        run.look(model)


@side_by_side()
def test_globals(run):
    def read(x):
        return helper(x * SCALE + SHIFT) * TABLE["list"][0] + TABLE["a"] + SETTINGS.factor

    f = run.compile(read, recompile_limit=40)
    space, code = globals(), helper.__code__
    kept = {name: space[name] for name in ("SCALE", "SHIFT", "TABLE", "SETTINGS", "helper")}
    shift = SHIFT.clone()
    try:
        several(run, f, ones)
        for change in (
            lambda: space.update(SCALE=2.0),
            lambda: space.update(SCALE=2),
            lambda: space.update(SCALE=torch.tensor(3.0)),
            lambda: space.update(SHIFT=torch.ones(2) * 5),
            lambda: SHIFT.add_(1),
            lambda: setattr(SHIFT, "data", torch.ones(2) * 9),
            lambda: space.update(TABLE={"a": 3.0, "list": [4.0]}),
            lambda: TABLE["list"].__setitem__(0, 6.0),
            lambda: space.update(TABLE=collections.OrderedDict(TABLE)),
            lambda: TABLE.update(a=1.5),
            lambda: setattr(Settings, "factor", 7.0),
            lambda: setattr(SETTINGS, "factor", 8.0),
            lambda: space.update(SETTINGS=Settings()),
            lambda: setattr(helper, "__defaults__", (5.0,)),
            lambda: setattr(helper, "__code__", (lambda x, k=1: x + k).__code__),
            lambda: space.update(helper=lambda x: x + 100),
        ):
            change()
            several(run, f, ones)
    finally:
        kept["helper"].__code__, kept["helper"].__defaults__ = code, (2.0,)
        kept["SHIFT"].data, Settings.factor = shift, 2.0
        vars(kept["SETTINGS"]).clear()
        space.update(kept)


@side_by_side()
def test_classes(run):
    class Table:
        factor, parts = 2.0, [1.0]

        @property
        def both(self):
            return self.factor * self.parts[0]

        @staticmethod
        def scaled(x):
            return x * Table.factor

        def method(self, x):
            return x * self.both

    table = Table()
    fs = [
        run.compile(g, recompile_limit=40)
        for g in (table.method, Table.scaled, lambda x: x * table.both)
    ]
    for change in (
        lambda: None,
        lambda: Table.parts.__setitem__(0, 5.0),
        lambda: setattr(Table, "parts", [6.0]),
        lambda: setattr(Table, "factor", 3.0),
        lambda: setattr(table, "factor", 4.0),
        lambda: setattr(table, "parts", [8.0]),
        lambda: setattr(Table, "both", property(lambda self: 77.0)),
    ):
        change()
        for f in fs:
            several(run, f, ones)


class Special:
    """A class whose methods Python calls by itself, and reads globals."""

    def __len__(self):
        return int(SCALE)

    def __getitem__(self, i):
        return SCALE * i

    def __iter__(self):
        return iter([SCALE])

    def __add__(self, x):
        return x + SCALE

    def __enter__(self):
        return SCALE

    def __exit__(self, *error):
        pass

    def __getattr__(self, name):
        if name == "away":
            return SCALE
        raise AttributeError(name)

    @functools.cached_property
    def kept(self):
        return SCALE

    times = functools.partialmethod(lambda self, x, n: x * n * SCALE, n=2)


def within(x):
    with Special() as scale:
        return x * scale


class Kind(type):
    @property
    def scale(cls):
        return SCALE


class OfKind(metaclass=Kind):
    pass


class Listed(list):
    factor = 1.0


@functools.lru_cache
def kept(n):
    return n * SCALE


def or_not(x):
    try:
        return x * ABSENT
    except NameError:
        return x


@side_by_side()
def test_methods_that_python_calls_by_itself(run):
    global SCALE
    functions = [
        lambda x: x * len(Special()),
        lambda x: x * Special()[2],
        lambda x: x * sum(Special()),
        lambda x: Special() + x,
        lambda x: x * Special().away,
        lambda x: x * Special().kept,
        lambda x: Special().times(x),
        lambda x: x * OfKind.scale,
        lambda x: x * kept(2),
        within,
    ]
    for function in functions:
        f = run.compile(function)
        for scale in (1.0, 1.0, 1.0, 3.0, 3.0, 1.0):
            if scale != SCALE:
                SCALE = scale
                kept.cache_clear()
            run.call(f, ones())


@side_by_side()
def test_holders_of_python(run):
    things = Special()
    things.k = 1.0
    local, options, listed = threading.local(), argparse.Namespace(k=1.0), Listed([1.0])
    local.k = 1.0
    chain, own = collections.ChainMap({"k": 1.0}), collections.UserDict(k=1.0)
    numbers, bits, table = array.array("d", [1.0]), bytearray([1]), {"k": 1.0}
    seen, reference = types.MappingProxyType(table), weakref.ref(things)
    cases = [
        (lambda x: x * options.k, lambda: setattr(options, "k", 2.0)),
        (lambda x: x * local.k, lambda: setattr(local, "k", 2.0)),
        (lambda x: x * chain["k"], lambda: chain.update(k=2.0)),
        (lambda x: x * own["k"], lambda: own.update(k=2.0)),
        (lambda x: x * numbers[0], lambda: numbers.__setitem__(0, 2.0)),
        (lambda x: x * bits[0], lambda: bits.__setitem__(0, 2)),
        (lambda x: x * seen["k"], lambda: table.update(k=2.0)),
        (lambda x: x * reference().k, lambda: setattr(things, "k", 2.0)),
        (lambda x: x * listed.factor, lambda: setattr(listed, "factor", 2.0)),
        (lambda x: x * kept.scale, lambda: setattr(kept, "scale", 2.0)),
        (lambda x: x * helper.scale, lambda: setattr(helper, "scale", 2.0)),
        (or_not, lambda: globals().update(ABSENT=2.0)),
    ]
    kept.scale = helper.scale = 1.0
    for function, change in cases:
        f = run.compile(function)
        several(run, f, ones)
        change()
        several(run, f, ones)
    del globals()["ABSENT"]
    f = run.compile(lambda x, options: x * options.k)
    for k in (1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0):
        run.call(f, ones(), argparse.Namespace(k=k))


@side_by_side()
def test_closures_and_defaults(run):
    k, t, parts, nested = 1.0, torch.ones(2), [torch.ones(2), 2.0], {"x": (1.0, [2.0])}

    def closed(x):
        return x * k + t + parts[1] + parts[0] + nested["x"][0] + nested["x"][1][0]

    def default(x, k=2.0, *, w=SHIFT, parts=([1.0],)):
        return x * k + w + parts[0][0]

    f, g = run.compile(closed, recompile_limit=40), run.compile(default, recompile_limit=40)

    def go():
        several(run, f, ones)
        several(run, g, ones)

    go()
    k = 3.0
    go()
    t = torch.zeros(2)
    default.__defaults__ = (3.0,)
    go()
    parts[1] = nested["x"][1][0] = 5.0
    default.__kwdefaults__["w"] = torch.zeros(2)
    go()
    parts.append(3)
    default.__kwdefaults__["parts"][0][0] = 7.0
    go()
    nested["x"] = (4.0, [1.0])
    t.fill_(6)
    go()
    for _ in range(3):
        run.call(g, ones(), 5.0)
        run.call(g, ones(), k=5.0)
        run.call(g, ones(), w=ones() * 3)
        run.call(g, x=ones())
        run.call(g)


@side_by_side()
def test_partials_and_methods(run):
    class Scaled:
        def __init__(self):
            self.w, self.n = torch.randn(3), 2.0

        def __call__(self, x):
            return x * self.w * self.n

    a, b, table = Scaled(), Scaled(), {"k": 2.0}

    def scaled(x, w, k):
        return x * w * k["k"]

    p = functools.partial(scaled, w=a.w, k=table)
    fs = [run.compile(g, recompile_limit=40) for g in (a, b.__call__, p)]
    for change in (
        lambda: None,
        lambda: setattr(a, "n", 3.0),
        lambda: setattr(b, "w", torch.randn(3)),
        lambda: table.update(k=7.0),
        lambda: p.keywords.update(w=torch.randn(3)),
    ):
        change()
        for f in fs:
            several(run, f, torch.randn(3))


@side_by_side()
def test_settings(run):
    f = run.compile(lambda x: x + torch.ones(2))
    model = nn.Linear(3, 3)
    g = run.compile(lambda x: model(x))
    for _ in range(4):
        run.call(f, ones())
        torch.set_default_dtype(torch.float64)
        try:
            run.call(f, torch.ones(2, dtype=torch.float32))
        finally:
            torch.set_default_dtype(torch.float32)
        run.call(g, torch.ones(2, 3))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            run.call(g, torch.ones(2, 3))


@side_by_side("numpy", "c")
def test_numbers_from_the_random_generator(run):
    f = run.compile(lambda x: nn.functional.dropout(x) + torch.randn(3) + torch.rand_like(x))
    x = torch.ones(3)
    several(run, f, x)
    torch.manual_seed(3)
    several(run, f, x)
    state = torch.get_rng_state()
    several(run, f, x)
    torch.set_rng_state(state)
    several(run, f, x)


@side_by_side(programs=None)
def test_numbers_from_a_generator_of_its_own(run):
    generator, x = torch.Generator(), torch.ones(3)
    f = run.compile(lambda x: torch.bernoulli(x / 2, generator=generator))
    for seed in (1, 2, 1):
        generator.manual_seed(seed)
        several(run, f, x)
        run.look(generator.get_state())


@side_by_side("numpy", "c")
def test_generators_that_are_set_back(run):
    layer, generator = nn.Linear(3, 3), torch.Generator()

    def dropped(x):
        return nn.functional.dropout(layer(x), 0.5).relu()

    def trained(x):
        layer.zero_grad()
        y = checkpoint(dropped, x, use_reentrant=False) + torch.randn(3)  # dropped again after it
        y.sum().backward()
        return layer.weight.grad + torch.rand(3)

    def forked(x):
        with torch.random.fork_rng():
            y = x + torch.rand(3)
        return y + torch.rand(3)

    functions = [
        trained,
        forked,
        lambda x: x + torch.rand(3, generator=torch.Generator()),
        lambda x: x + torch.rand(3, generator=generator.clone_state()),
    ]
    for function in functions:
        f = run.compile(function)
        several(run, f, torch.ones(3), n=5)


@side_by_side(programs=None)
def test_arguments_that_share_memory(run):
    w = torch.randn(4)

    def read(x, y):
        a = y * 2
        x.add_(1)
        return a + y * 2 + w

    f = run.compile(read)
    for _ in range(3):
        x, y, z = torch.randn(4), torch.randn(4), torch.randn(6)
        for pair in ((x, y), (x, x), (x, x.view(4)), (x, x.detach()), (z[:4], z[2:]), (w, y)):
            run.call(f, *pair)
            run.look(x, y, z, w)
        for pair in ((z[2:], z[:4]), (w.view(4), y), (w.detach(), y), (x, w), (x, y)):
            run.call(f, *pair)
            run.look(x, y, z, w)


@side_by_side()
def test_arguments_of_every_kind(run):
    pair = collections.namedtuple("pair", "a b")

    def read(d, parts, p, text, n=None, **others):
        x = d["x"] * parts[0] + p.a * p.b
        x = -x if text == "negative" else x
        x = x if n is None else x + n
        return {"x": [sum(others.values(), x), (x * 2,)], "text": text, "n": n}

    f = run.compile(read, recompile_limit=64)
    for i in range(3):
        for text in ("positive", "negative"):
            for n in (None, 1, 2.0, True):
                d, p = {"x": torch.ones(2) * i}, pair(torch.ones(2), i % 2)
                run.call(f, d, [torch.ones(2), 5], p, text, n)
        run.call(f, d, [torch.ones(2)], p, text, y=torch.ones(2), z=i)


def _of_a_view():
    numbers = bytearray(b"\x01\x02")
    view = memoryview(numbers)
    return lambda x: x * view[0], lambda: numbers.__setitem__(0, 3)


def _of_ctypes():
    number = ctypes.c_double(1.0)
    return lambda x: x * number.value, lambda: setattr(number, "value", 3.0)


def _of_an_order():
    table = OrderedDict(a=1.0, b=2.0)
    return lambda x: x * next(iter(table.values())), lambda: table.move_to_end("a")


def _of_a_base():
    class Base:
        factor = 1.0

    class Derived(Base):
        pass

    return lambda x: x * Derived.factor, lambda: setattr(Derived, "factor", 3.0)


def _of_weak_keys():
    layer = torch.nn.Identity()
    table = weakref.WeakKeyDictionary({layer: 1.0})
    return lambda x: x * table[layer], lambda: table.__setitem__(layer, 3.0)


def _of_a_tensor():
    weight = torch.ones(2)
    weight.factor = 1.0
    return lambda x: x * weight.factor, lambda: setattr(weight, "factor", 3.0)


def _of_an_optimizer(change):
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([weight], lr=1.0)
    weight.grad = torch.ones(2)
    optimizer.step()
    return weight, optimizer, lambda: change(weight, optimizer)


def _of_state():
    weight, optimizer, change = _of_an_optimizer(
        lambda w, optimizer: optimizer.state[w].update(exp_avg=torch.full((2,), 9.0))
    )
    return lambda x: x * optimizer.state[weight]["exp_avg"], change


def _of_defaults():
    _, optimizer, change = _of_an_optimizer(lambda w, optimizer: optimizer.defaults.update(lr=3.0))
    return lambda x: x * optimizer.defaults["lr"], change


@pytest.mark.filterwarnings("ignore:.*runs as it is")
@pytest.mark.parametrize(
    "made",
    [
        _of_a_view, _of_ctypes, _of_an_order, _of_a_base, _of_weak_keys, _of_a_tensor, _of_state,
        _of_defaults,
    ],
)  # fmt: skip
def test_what_is_read_is_asked_about(made):
    function, change = made()
    found, x = torch.compile(function), torch.tensor([1.0, 2.0])
    for _ in range(3):
        assert found(x).tolist() == function(x).tolist()
    before = function(x).tolist()
    change()
    assert found(x).tolist() == function(x).tolist() != before
