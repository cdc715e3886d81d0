"""What a compiled function does besides giving a result: as it would uncompiled."""

import collections
import copy
import gc
import itertools
import os
import pickle
import random
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import side_by_side

COUNT = 0


class Holder:
    n = 0


def times(run, function, *args, n=5):
    for _ in range(n):
        run.call(function, *args)


@side_by_side(programs=False)
def test_what_python_keeps(run):
    globals()["COUNT"] = 0
    log, table, holder, last = [], {}, Holder(), collections.deque(maxlen=3)
    count, cycle = 0, [1, 2, 3]

    def appends(x):
        log.append(x.sum().item())
        return x * 2

    def adds(x):
        nonlocal log
        log += [1]
        return x * 2

    def counts(x):
        nonlocal count
        count += 1
        return x * count

    def counts_in_a_table(x):
        table["n"] = table.get("n", 0) + 1
        return x * 2

    def counts_in_an_object(x):
        holder.n += 1
        return x * holder.n

    def counts_in_a_global(x):
        global COUNT
        COUNT += 1
        return x * COUNT

    def remembers(x):
        last.append(1)
        return x * 2

    def turns(x):
        cycle.append(cycle.pop(0))
        return x * cycle[0]

    functions = (
        appends, adds, counts, counts_in_a_table, counts_in_an_object, counts_in_a_global,
        remembers, turns,
    )  # fmt: skip
    for f in [run.compile(f) for f in functions]:
        for _ in range(5):
            run.call(f, torch.ones(2))
            run.look(list(map(float, log)), table, holder.n, list(last), cycle, count, COUNT)


def test_what_hooks_of_saved_tensors_print_in_the_backward_pass(capsys):
    def unpacked(x):
        print("unpacked")
        return x

    @torch.compile(backend="numpy")
    def step(x):
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x, unpacked):
            y = (x * x).sum()
        y.backward()
        return y.detach()

    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match=r"runs as it is: print\(\) is called in line"):
        for _ in range(4):
            step(x)
    lines = capsys.readouterr().out.splitlines()
    assert set(lines) == {"unpacked"} and len(lines) % 4 == 0


def test_prints_and_one_warning_that_says_why(capsys):
    def f(x):
        print("called")
        return x * 2

    f = torch.compile(f, backend="numpy")
    with pytest.warns(UserWarning, match=r"runs as it is: print\(\) is called in line") as caught:
        for _ in range(5):
            f(torch.ones(2))
    assert capsys.readouterr().out == "called\n" * 5 and len(caught) == 1


def test_what_is_done_after_an_operator_has_failed_is_seen():
    seen = []

    @torch.compile(backend="numpy")
    def f(x):
        try:
            x.reshape(7)
        except RuntimeError:
            seen.append(x)
        return x * 2

    with pytest.warns(UserWarning, match=r"list\.append\(\) is called"):
        results = [f(torch.ones(4)) for _ in range(3)]
    assert len(results) == len(seen) == 3


def test_callbacks_of_the_garbage_collector_are_not_the_calls(recwarn):
    calls = []

    def timed(phase, info):
        calls.append(time.perf_counter())

    def f(x):
        found = [(x * i).sum() for i in range(400)]
        return sum(found)

    before = gc.get_threshold()
    gc.callbacks.append(timed)
    gc.set_threshold(10)
    try:
        compiled = torch.compile(f, backend="numpy")
        for _ in range(3):
            compiled(torch.ones(2))
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(timed)
    assert calls and not recwarn.list


@side_by_side(programs=False)
def test_random_numbers_of_python_and_numpy(run):
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    generator, mine = np.random.default_rng(0), random.Random(4)
    for f in (
        lambda x: x * random.random(),
        lambda x: x + np.random.rand(),  # noqa: NPY002
        lambda x: x + generator.normal(),
        lambda x: x * mine.choice([1, 2, 3]),
    ):
        times(run, run.compile(f), torch.ones(2))


@side_by_side(programs=False)
def test_iterators_go_on(run):
    numbers, others = iter(range(99)), (i for i in range(99))

    def first(x):
        for i in others:
            return x * i

    for f in (lambda x: x * next(numbers), lambda x: x * numbers.__next__(), first):
        times(run, run.compile(f), torch.ones(2))


@side_by_side("numpy", "c")
def test_results_that_are_kept_and_written(run):
    w = torch.randn(3, requires_grad=True)
    f = run.compile(lambda x: ((x * w).tanh(), (x + w).exp()))
    g = run.compile(lambda x: (x * 2, x + 1))
    kept = []
    for i in range(6):
        kept.append(f(torch.randn(3)))
        run.look(kept)
        a, b = g(torch.ones(3))
        a.add_(i)
        b[1:].zero_()
        kept.append((a, b[1:]))
    for a, b in kept[::2]:
        (a * b).sum().backward()
        run.look(w)


@side_by_side("numpy", "c")
def test_gradients_that_are_kept(run):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss

    f, kept = run.compile(step), []
    for _ in range(5):
        kept.append((run.call(f, torch.randn(4, 3)), model.weight.grad, model.bias.grad))
        run.look(kept)


@side_by_side()
def test_backward_after_later_calls(run):
    w = torch.randn(3, requires_grad=True)
    f = run.compile(lambda x: (x * w).exp() * w)
    results = [f(torch.randn(3)) for _ in range(5)]
    for y in results[::-1]:
        y.sum().backward()
        run.look(w)
    y = f(torch.randn(3))
    with torch.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@side_by_side("numpy", "c")
def test_an_error_after_a_write(run):
    def f(x, i):
        x.add_(1)
        return x[i]

    f = run.compile(f)
    for index in (0, 1, 0, 2, 7, 1, -9):
        x = torch.zeros(3)
        run.call(f, x, torch.tensor([0, index]))
        run.look(x)


def test_a_result_that_the_backward_pass_reads_is_written():
    f = torch.compile(torch.exp, backend="numpy")
    for _ in range(4):
        y = f(torch.ones(3, requires_grad=True))
    y.mul_(2)
    with pytest.raises(
        RuntimeError, match="which is output 0 of CompiledFunction, is at version 1"
    ):
        y.sum().backward()


@side_by_side()
def test_backward_twice_and_of_a_gradient(run):
    w = torch.randn(3, requires_grad=True)
    f = run.compile(lambda x: ((x * w) ** 3).sum())
    for _ in range(4):
        x = torch.randn(3, requires_grad=True)
        (g,) = torch.autograd.grad(f(x), x, create_graph=True)
        g.pow(2).sum().backward()
        y = f(x)
        y.backward(retain_graph=True)
        y.backward()
        run.call(y.backward)
        run.look(x, w, g.detach())


@side_by_side()
def test_errors(run):
    def f(x, kind):
        y = x * 2
        if kind == 1:
            raise ValueError("a")
        if kind == 2:
            return y.reshape(7)
        if kind == 3:
            x.add_(torch.ones(9))
        if kind == 4:
            return y @ torch.ones(5)
        return y

    f = run.compile(f, recompile_limit=20)
    for _ in range(3):
        for kind in range(5):
            x = torch.randn(2)
            run.call(f, x, kind)
            run.look(x)
    run.call(f)
    run.call(f, 1, 2, 3)


@side_by_side()
def test_an_error_leaves_the_state_as_it_does_uncompiled(run):
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 3))
    w, optimizer = torch.randn(3, 3), torch.optim.Adam(model.parameters())

    def step(x, i):
        optimizer.zero_grad()
        y = model(x)
        w.mul_(1.5)
        loss = (y.sum(0) * nn.functional.embedding(i, w)).sum()
        loss.backward()
        torch.randn(2)
        optimizer.step()
        return loss.detach()

    f = run.compile(step)
    for i in (0, 1, 2, 1, 9, 1, 2, 9, 9, 0):
        run.call(f, torch.randn(4, 3), torch.tensor([i]))
        run.look(model, optimizer, w)


@side_by_side()
def test_copies_have_programs_of_their_own(run):
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    f = run.compile(model)
    times(run, f, torch.randn(4, 3), n=3)
    others = copy.deepcopy(f), pickle.loads(pickle.dumps(f))
    for other in others:
        for p in other.parameters():
            p.data.mul_(2)
        for _ in range(3):
            x = torch.randn(4, 3)
            run.call(other, x).sum().backward()
            run.call(f, x)
            run.look(list(other.parameters()), list(f.buffers()), list(other.buffers()))


@side_by_side("numpy", "c")
def test_threads(run):
    model = nn.Linear(3, 3)
    f, g = run.compile(model), run.compile(lambda x: (x * 2).tanh().sum(0))
    x = torch.randn(40, 4, 3)
    for _ in range(3):
        run.call(f, x[0])
        run.call(g, x[0])
    out = [None] * 40

    def work(k):
        for i in range(k, 40, 4):
            out[i] = f(x[i]).detach(), g(x[i])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    run.look(out)


@side_by_side()
def test_what_the_call_writes(run):
    def f(x, y):
        x.mul_(2)
        y.add_(x)
        return x + y

    f = run.compile(f, recompile_limit=20)
    for _ in range(4):
        x, y, base = torch.randn(3), torch.randn(3), torch.randn(3, requires_grad=True)
        run.call(f, x, y)
        run.look(x, y)
        z = base * 2
        run.call(f, z, y)
        z.sum().backward()
        run.call(f, base, y)  # a leaf: an error
        run.look(base, z, y)


@side_by_side("numpy", "c")
def test_results_that_are_parts_of_something(run):
    functions = [
        lambda x: (x * 2)[:, 1:],
        lambda x: (x * 2)[1, 2],
        lambda x: (x + 1).t()[1:2],
        lambda x: (x + 1).diagonal(),
    ]
    for f in [run.compile(f) for f in functions]:
        for dtype in (torch.float32, torch.bfloat16):
            for _ in range(4):
                y = f(torch.randn(3, 4, dtype=dtype))
                run.look(y, y.stride(), y.storage_offset())


@side_by_side(programs=None)
def test_transforms_inside_and_around(run):
    func, w = torch.func, torch.randn(3)
    f = run.compile(lambda x: (x * w).sin())
    inside = [
        lambda x: func.grad(lambda y: (y * w).sin().sum())(x),
        lambda x: func.vmap(lambda y: y * w + y.sum())(x.expand(4, 3)),
        lambda x: func.jacrev(lambda y: y * w * y.sum())(x),
        lambda x: func.hessian(lambda y: (y**3).sum())(x),
        lambda x: func.jvp(lambda y: (y * w).exp(), (x,), (w,)),
    ]
    inside = [run.compile(g) for g in inside]
    for i in range(5):
        if i == 3:
            w.mul_(2)
        for g in inside:
            run.call(g, torch.randn(3))
        run.call(f, torch.randn(3))
        run.call(func.grad(lambda x: f(x).sum()), torch.randn(3))
        run.call(func.vmap(f), torch.randn(5, 3))
        run.call(func.jacrev(f), torch.randn(3))
        run.call(func.jvp, f, (torch.randn(3),), (torch.randn(3),))


@side_by_side("numpy")
def test_variables_of_the_environment(run):
    def f(x):
        return x * float(os.environ.get("TAPEGRAD_TEST_SCALE", "1"))

    f = run.compile(f)
    try:
        for scale in ("1", "1", "1", "2", "2", "2"):
            os.environ["TAPEGRAD_TEST_SCALE"] = scale
            run.look(f(torch.ones(3)))
        del os.environ["TAPEGRAD_TEST_SCALE"]
        run.look(f(torch.ones(3)))
    finally:
        os.environ.pop("TAPEGRAD_TEST_SCALE", None)


NUMBERS = itertools.count()


@side_by_side("numpy")
def test_a_counter_from_which_no_call_takes(run):
    def f(x, named=False):
        return x * next(NUMBERS) if named else x * 2

    f = run.compile(f)
    times(run, f, torch.ones(3))


@side_by_side("numpy", programs=False)
def test_a_counter_from_which_each_call_takes(run):
    numbers = itertools.count()
    f = run.compile(lambda x: x * next(numbers))
    times(run, f, torch.ones(3))


class Equipped(torch.nn.Module):
    """A module with what programs keep beside their parameters."""

    def __init__(self):
        super().__init__()
        self.random = np.random.RandomState(0)
        self.out = sys.__stderr__
        self.indices = np.tril_indices(3, -1)
        self.entries = torch.nn.Parameter(torch.ones(3))
        self.draws = False

    def forward(self, x):
        lower = x.new_zeros(3, 3)
        lower[self.indices[0], self.indices[1]] = self.entries
        scale = float(self.random.uniform()) if self.draws else 1.0
        return (x @ lower)[:, self.indices[0]] * scale


@side_by_side()
def test_modules_that_hold_generators_files_and_indices_of_numpy(run):
    model = Equipped()
    f = run.compile(model)
    for _ in range(4):
        y = f(torch.ones(2, 3))
        y.sum().backward()
        run.look(y, model)


@side_by_side("numpy", programs=False)
def test_a_generator_from_which_each_call_draws(run):
    model = Equipped()
    model.draws = True
    f = run.compile(model)
    for _ in range(4):
        run.look(f(torch.ones(2, 3)))


@side_by_side(programs=False)
def test_hooks_that_a_call_gives_to_tensors_from_outside(run):
    def doubles_gradients(x):
        x.register_hook(lambda g: g * 2)
        return x * 1

    def of_what_it_does_not_read(x, y):
        x.register_hook(lambda g: g * 2)
        return y * 2

    def keeps_gradients(x, y):
        x.retain_grad()
        return y * 2

    for f in (of_what_it_does_not_read, keeps_gradients):
        g = run.compile(f)
        for _ in range(4):
            leaf = torch.ones(2, requires_grad=True)
            x = leaf * 3
            run.call(g, x, torch.ones(2))
            (x * x).sum().backward()
            run.look(leaf.grad, x.retains_grad)
    g = run.compile(doubles_gradients)
    for _ in range(4):
        x = torch.ones(2, requires_grad=True)
        run.call(g, x).sum().backward()
        run.look(x.grad)


@side_by_side(programs=False)
def test_what_no_program_can_stand_for(run):
    def of_a_leaf_of_its_own(x):
        leaf = torch.ones(2, requires_grad=True)
        return leaf, leaf * x

    def by_a_tensor(table, key):
        return table[key] + 3

    def through_a_weak_reference(reference, x, y):
        return y.sin() if reference() is not x else y.cos()

    g = run.compile(of_a_leaf_of_its_own)
    for x in (torch.ones(2), torch.ones(2, requires_grad=True)):
        for _ in range(3):
            leaf, y = g(x)
            y.sum().backward()
            run.look(leaf, x)
    key, x = torch.ones(2), torch.ones(2)
    g, h = run.compile(by_a_tensor), run.compile(through_a_weak_reference)
    for _ in range(3):
        run.call(g, {key: torch.ones(3), 3: torch.zeros(3)}, key)
        run.call(h, weakref.ref(x), torch.ones(2), torch.zeros(2))
    run.call(h, weakref.ref(x), x, torch.zeros(2))


@side_by_side()
def test_sizes_among_results_and_attributes_of_tensors(run):
    def gives_sizes(x):
        return x.size() + x.size(), x * 2, x.shape

    def asks(x):
        return x + 2 if hasattr(x, "flag") else x + 1

    def reads(x):
        return x + x.flag

    g, h, k = run.compile(gives_sizes), run.compile(asks), run.compile(reads)
    for i in range(6):
        x = torch.ones(2, 3)
        run.call(g, x)
        run.call(h, x)
        x.flag = i // 3
        run.call(h, x)
        run.call(k, x)
