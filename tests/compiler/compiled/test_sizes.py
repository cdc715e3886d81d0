"""Tensors of many sizes: one compiled file for all of them, and what each program computes."""

import threading

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.compiler import compiled, worth
from tapegrad.compiler.c_backend import blas, pool, toolchain
from tapegrad.nn import functional as F
from tests.compiler.c_programs import needs_compiler
from tests.compiler.side_by_side import compare, side_by_side


@pytest.fixture
def compilations(monkeypatch, tmp_path):
    """The programs that a C compiler was given, in an empty cache."""
    if pool.IS_THERE:
        pool._library()  # the threads that all programs share: compiled before, and kept
    for suffix in ("f32", "f64"):
        blas.found().address(suffix)  # and the products, where they are our own
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path))
    seen, compile = [], toolchain.Compiler.compile

    def noted(self, source, target):
        seen.append(source)
        return compile(self, source, target)

    monkeypatch.setattr(toolchain.Compiler, "compile", noted)
    return seen


def trained(batches, **options):
    """A compiled step of training, called with batches of these sizes."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(step, backend="c", **options)
    losses = [step(torch.randn(n, 4), torch.randint(3, (n,))) for n in batches]
    return step, losses


BATCHES = 16, 16, 16, 12, 12, 9, 20, 16, 12, 9, 33, 40, 7, 10, 11, 13, 14, 15


@needs_compiler()
def test_other_sizes_are_not_compiled_again(compilations, monkeypatch):
    monkeypatch.setattr(compiled, "MOST", 20)  # sizes that are recorded as they come
    step, losses = trained(BATCHES)
    assert len(step.entries) == len(set(BATCHES)) > 8 and not step.why_not
    assert len(compilations) == 2  # as it is written, and with sizes
    _, wanted = trained(BATCHES, disable=True)
    torch.testing.assert_close(losses, wanted)


@needs_compiler()
def test_each_size_for_itself(compilations):
    step, _ = trained((16, 16, 12, 9, 16), dynamic=False)
    assert len(compilations) == len(step.entries) == 3
    f = torch.compile(lambda x: x + 1, backend="numpy", dynamic=False, recompile_limit=3)
    with pytest.warns(UserWarning, match="it was recorded 3 times; last, its arguments are others"):
        for n in range(1, 6):
            f(torch.ones(n))


def attention(x, w):
    b, n, d = x.shape
    q, k, v = (x @ w).reshape(b, n, 3, 2, d // 2).permute(2, 0, 3, 1, 4)
    scores = q @ k.transpose(-1, -2) / n**0.5
    mask = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
    return (torch.softmax(scores + mask, -1) @ v).transpose(1, 2).reshape(b, n, d)


FUNCTIONS = {
    "attention": (attention, lambda n: (torch.randn(2, n, 6), torch.randn(6, 18))),
    "outer": (lambda x: (x[:, None] * x).sum(0) / len(x) ** 2, lambda n: (torch.randn(n),)),
    "parts": (lambda x: x[: len(x) // 2].mean() + x[1:].amax(), lambda n: (torch.randn(n + 2),)),
    "flat": (lambda x: x.t().reshape(-1).cumsum(0), lambda n: (torch.randn(n, n + 1),)),
    "ints": (lambda x: x * len(x) % 7 + x // len(x), lambda n: (torch.arange(n * 3).view(n, 3),)),
    "made": (lambda x: x + torch.arange(len(x)) / len(x), lambda n: (torch.randn(n),)),
    "branch": (lambda x: x.sin() if len(x) > 9 else x.cos(), lambda n: (torch.randn(n, 2),)),
    "mean": (lambda x: x.var(0) + x.mean(), lambda n: (torch.randn(n, 5, dtype=torch.float64),)),
    "many": (lambda x: (x.tanh() * x).sum(), lambda n: (torch.randn(n, 3000),)),
    "conv": (
        lambda x, w: F.max_pool2d(F.conv2d(x, w).relu(), 2).flatten(1),
        lambda n: (torch.randn(n, 2, n + 5, 8), torch.randn(3, 2, 3, 3)),
    ),
    "embedding": (
        lambda i, w: F.embedding(i, w).sum(1).norm(dim=-1),
        lambda n: (torch.randint(10, (n, 4)), torch.randn(10, 6)),
    ),
}


@needs_compiler()
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results(name, compilations):
    function, arguments = FUNCTIONS[name]

    def scenario(run):
        f = run.compile(function)
        for n in (5, 5, 5, 6, 9, 14, 1, 2, 12, 5, 9, 3, 14):
            args = arguments(n)
            run.call(f, *args)
            for x in args:
                x.requires_grad_(x.is_floating_point())
            y = f(*args)
            if y.requires_grad:
                y.sum().backward()
            run.look(y, *args)

    compare(scenario, "c")
    assert len(compilations) < 12  # of 27 programs


@side_by_side("c")
def test_lstm_and_dropout(run):
    model = nn.LSTM(3, 4, batch_first=True)
    f = run.compile(lambda x: F.dropout(model(x)[0], 0.25).sum())
    for batch, n in ((2, 5), (2, 5), (2, 7), (3, 5), (3, 9), (4, 2), (2, 5)):
        run.call(f, torch.randn(batch, n, 3)).backward()
        run.look(model)


@needs_compiler()
def test_programs_of_two_sizes_run_at_once():
    f = torch.compile(lambda x: (x * x).cumsum(0) / len(x), backend="c")
    sizes = (300, 300, 301, 302, 303)
    given = {n: torch.arange(float(n)) for n in sizes}
    wanted = {n: f.compiled_function(x) for n, x in given.items()}
    for n in sizes:
        f(given[n])
    entries = {entry.outputs[0].shape[0]: entry for entry in f.entries}
    wrong = []

    def work(n):
        for _ in range(300):
            found = entries[n].call((given[n],), {})
            if not torch.allclose(found, wanted[n]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in sizes[1:]]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_programs_that_are_kept(monkeypatch):
    monkeypatch.setattr(compiled, "MOST_SIZES", 10)
    f = torch.compile(lambda x: x * 2 + 1, backend="numpy")
    for n in range(1, 10):
        f(torch.ones(n))
    assert len(f.entries) == 8
    f._worth.cost = 0.0
    for n in range(9, 20):
        assert f(torch.ones(n)).sum() == 3 * n
        f._worth.cost = 0.0
    assert len(f.entries) == 10 and not f.why_not
    last = f.entries[0]
    f(torch.ones(12))
    assert f.entries[0] is not last and f.entries[1] is last


def test_a_further_size_is_recorded_when_it_has_cost_as_much(monkeypatch):
    f = torch.compile(lambda x: x * 2 + 1, backend="numpy")
    for n in range(10):
        f(torch.ones(n))
    sizes = [entry.outputs[0].shape[0] for entry in f.entries]
    assert sizes == [8, 7, 6, 5, 4, 3, 2, 1]  # the first call is not recorded, and 9 is too many
    clock = iter(range(1000))
    monkeypatch.setattr(worth, "perf_counter", lambda: next(clock))  # a call takes a second
    f._worth.cost = 2.5
    for n, m in enumerate([9, 20, 9, 20, 9, 20]):
        assert f(torch.ones(m)).sum() == 3 * m and len(f.entries) == 8, n
    f(torch.ones(20))
    assert f.entries[0].outputs[0].shape == (20,) and len(f.entries) == 9
    f(torch.ones(30))
    assert f.entries[0].outputs[0].shape == (20,) and len(f.entries) == 9
