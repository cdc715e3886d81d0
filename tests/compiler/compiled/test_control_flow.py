"""Branches, loops and numbers that depend on data, in compiled functions."""

import functools

import pytest

import tapegrad as torch
from tests.compiler.side_by_side import side_by_side


@side_by_side("numpy")
def test_branches(run):
    def f(x, flag=False):
        if flag:
            x = x * 2
        if x.sum() > 0:
            return x.sin()
        elif (x < -3).any():
            return x.cos()
        return x

    f = run.compile(f)
    for scale in (1, 1, -1, -1, 1, -9, -1, -9, 1):
        run.call(f, torch.ones(3) * scale)
        run.call(f, torch.ones(3) * scale, flag=True)


@side_by_side()
def test_loops(run):
    def halved(x):
        n = 0
        while x.norm() > 1:
            x, n = x / 2, n + 1
        return x, n

    def recurrent(x, n):
        h, out = torch.zeros(2), []
        for i in range(n):
            h = torch.tanh(h + x[i])
            out.append(h)
        return torch.stack(out), h

    f, g = run.compile(halved, recompile_limit=20), run.compile(recurrent)
    for scale in (1, 5, 5, 50, 1, 5, 50, 0.1, 100):
        run.call(f, torch.ones(3) * scale)
        run.call(g, torch.randn(4, 2), 2 + scale % 2 if type(scale) is int else 4)


@side_by_side()
def test_numbers_of_python(run):
    functions = [
        lambda x: x.tolist(),
        lambda x: x.sum().item(),
        lambda x: int(x[0]),
        lambda x: bool((x > 0).all()),
        lambda x: "more" if x.sum() > 0 else "less",
        lambda x: x * float(x.sum()),
        lambda x: [t * 2 for t in x],
        lambda x: x[int(x.argmax())] * 2,
        lambda x: {1: x + 1, 2: -x}[1 + int(x[0] > 0)],
        lambda x: torch.full((2,), x[0].item()),
        lambda x: torch.tensor([x[0].item(), 2.0]),
        lambda x: sorted(x.tolist()),
    ]
    functions = [run.compile(f, recompile_limit=20) for f in functions]
    for i in range(6):
        for f in functions:
            run.call(f, torch.tensor([1.0, 2.0]) * (i % 3 - 1))


@side_by_side(programs=None)
def test_shapes_that_depend_on_data(run):
    functions = [
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: torch.unique(x),
        lambda x: x.masked_select(x > 1),
        lambda x: torch.where(x > 0),
        lambda x: torch.arange(int(x.sum().abs())),
    ]
    functions = [run.compile(f) for f in functions]
    for i in range(6):
        for f in functions:
            run.call(f, torch.tensor([1.0, 2.0, -1.0]) * (i % 3 - 1))


@side_by_side()
def test_many_values_of_a_number(run):
    f, g = run.compile(lambda x: x * x.sum().item()), run.compile(lambda x, n: x * n)
    for i in range(12):
        run.call(f, torch.ones(2) * i)
        run.call(g, torch.ones(2), i)


@side_by_side()
def test_exceptions_that_are_caught(run):
    def f(x, i):
        try:
            return x[i] * 2
        except IndexError:
            return x.sum()

    def g(x):
        try:
            y = x * 2
            raise KeyError
        except KeyError:
            y = x + 1
        finally:
            x.add_(1)
        return y

    f, g = run.compile(f), run.compile(g)
    for i in (0, 1, 1, 2, 9, 9, 1, 9):
        run.call(f, torch.arange(3.0), torch.tensor([i]))
        x = torch.randn(3)
        run.call(g, x)
        run.look(x)


@side_by_side()
def test_functions_in_functions(run):
    k = 2.0

    def outer(x):
        parts = []

        def scaled(y):
            parts.append(y)
            return y * k

        def each():
            for i in range(3):
                yield scaled(x * i)

        return sum(each()) + len(parts)

    def power(x, n):
        return x if n < 2 else power(x, n - 1) + power(x, n - 2)

    def twice(g):
        @functools.wraps(g)
        def both(*args):
            return g(*args) + g(*args)

        return both

    f, g = run.compile(outer), run.compile(power)
    h, compiled_inside = run.compile(twice(outer)), twice(run.compile(outer))
    for i in range(8):
        if i == 4:
            k = 5.0
        for each in (f, h, compiled_inside):
            run.call(each, torch.ones(2) * i)
        run.call(g, torch.randn(2), 4)


@side_by_side()
def test_compiled_functions_in_compiled_functions(run):
    w = torch.randn(3, requires_grad=True)
    inner = run.compile(lambda x: (x * w).sin())
    outer = run.compile(lambda x: inner(x) + inner(x * 2))
    for _ in range(5):
        run.call(outer, torch.randn(3)).sum().backward()
        run.call(inner, torch.randn(3)).sum().backward()
        run.look(w)


@side_by_side()
def test_a_short_list_of_numbers_that_go_on(run):
    w = torch.ones(3, requires_grad=True)

    def f(x):
        losses = ((x * w) ** 2).mean(1)
        numbers = losses.detach().cpu().tolist()
        return losses.mean(), [(x[0] + 1, each) for each in numbers], losses.detach()[0].tolist()

    f = run.compile(f)
    for _ in range(12):
        loss, pairs, first = f(torch.randn(4, 3))
        assert type(pairs[0][1]) is float and type(first) is float
        loss.backward()
        run.look(loss, pairs, first, w)


def test_a_number_that_is_another_each_time_is_given_up():
    def f(x):
        return x * len(range(int(x.sum())))

    compiled = torch.compile(f, backend="numpy")
    with pytest.warns(UserWarning, match="is not compiled and runs as it is: it was recorded 8"):
        for i in range(10):
            compiled(torch.tensor([i, 0.5]))
    calls = []
    for entry in compiled.entries:
        entry.call = calls.append
    compiled(torch.tensor([11, 0.5]))
    assert not calls
