"""Long loops that threads share."""

import contextlib
import ctypes
import os
import threading
import time

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.traced import namespace as xp
from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.c_backend import blas, build, pool
from tests.compiler.c_programs import needs_compiler

pytestmark = [
    needs_compiler(), pytest.mark.skipif(not pool.IS_THERE, reason="no POSIX threads"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def settings(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "c-cache"))
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def compute(x, w):
    y = xp.tanh(x * w) * xp.exp(-x)
    w += y
    rows = xp.max(y, axis=1)
    return [y.sum(), xp.max(y), xp.min(y), xp.all(y < 9.0), xp.any(y > 9.0), rows, y * 2.0]


def products(x, y, many, others):
    return [x @ y, y.T @ x.T, many @ others, (many @ others) @ many]


def factors():
    random = np.random.default_rng(0)
    shapes = ((200, 300), (300, 130), (2, 8, 64, 64), (2, 8, 64, 64))
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def inputs(seed=0, rows=300):
    random = np.random.default_rng(seed)
    return [random.standard_normal((rows, 501)).astype(np.float32) for _ in range(2)]


@pytest.fixture(scope="module")
def runner():
    with Program() as program:
        outs = compute(*[program.input(x) for x in inputs()])
    return build(program, [y.place for y in outs])


def check(runner, seed):
    given, kept = inputs(seed), inputs(seed)
    found, want = runner(*given), compute(*kept)
    for x, y in zip([*found, given[1]], [*want, kept[1]], strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_results_do_not_depend_on_the_number_of_threads(runner, n):
    assert "tg_share(" in runner.source
    torch.set_num_threads(n)
    check(runner, seed=n)
    x, w = inputs()
    x[17, 3] = np.nan
    found = runner(x, w)
    assert np.isnan(found[0]) and np.isnan(found[1]) and np.isnan(found[2])


def test_sums_have_the_same_bits_with_any_number_of_threads(runner):
    found = []
    for n in (1, 2, 3, 40):
        torch.set_num_threads(n)
        found.append([np.array(x).tobytes() for x in runner(*inputs())])
    assert found[1:] == found[:1] * 3


@pytest.fixture
def products_of(monkeypatch):
    """A context in which products are those of a BLAS."""

    @contextlib.contextmanager
    def choose(kernels):
        pool._library.cache_clear()
        with monkeypatch.context() as patched:
            patched.setattr(blas, "found", lambda: kernels)
            yield
        pool._library.cache_clear()
        pool._library()

    return choose


@pytest.fixture
def blas_threads(products_of):
    """A function that gives the number of threads that NumPy's BLAS has, and sets it to two."""
    kernels = blas._of_numpy()
    if kernels is None:
        pytest.skip("a BLAS whose threads nobody sets")
    get, set_ = kernels.threads
    count = ctypes.CFUNCTYPE(ctypes.c_int)(get)
    before, choose = count(), ctypes.CFUNCTYPE(None, ctypes.c_int)(set_)
    choose(2)
    with products_of(kernels):
        yield count
    choose(before)


def assert_shared(blas_threads):
    with Program() as program:
        outs = products(*[program.input(x) for x in factors()])
    runner = build(program, [y.place for y in outs])
    assert "tg_product_shared_f32(" in runner.source
    assert "tg_products_shared_f32(" in runner.source
    found = []
    for n in (1, 2, 3):
        torch.set_num_threads(n)
        before = blas_threads()
        found.append([np.array(x) for x in runner(*factors())])
        assert blas_threads() == before
    for x, y, z, want in zip(*found, products(*factors()), strict=True):
        assert x.tobytes() == y.tobytes() == z.tobytes()
        np.testing.assert_allclose(x, want, rtol=1e-4, atol=1e-4)


def test_threads_share_products_of_a_blas(blas_threads):
    assert_shared(blas_threads)


def test_threads_share_products_without_a_blas(products_of):
    seen = set()

    def run(_, first, last, part):
        seen.add(part)

    with products_of(blas.Blas("own")):
        assert_shared(lambda: 0)
        share(run, 10, 4, 2, products=1)
    assert seen == {0, 1, 2, 3}


def test_threads_share_the_work_of_templates():
    x, w = inputs()
    with Program() as program:
        outs = [xp.softmax_along(program.input(x), 1), xp.softmax_along(program.input(w[:3]), 1)]
    runner = build(program, [y.place for y in outs])
    assert runner.source.count("    tg_softmax_shared_f32(") == 1
    assert runner.source.count("    tg_softmax_f32(v") == 1
    found = []
    for n in (1, 2, 3):
        torch.set_num_threads(n)
        found.append([y.tobytes() for y in runner(x, w[:3])])
    assert found[1:] == found[:1] * 2
    np.testing.assert_allclose(runner(x, w[:3])[0].sum(axis=1), np.ones(300), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2])
def test_a_blas_has_one_thread_while_threads_share_products(blas_threads, n):
    seen = set()

    def run(_, first, last, part):
        seen.add(blas_threads())

    share(run, 10, 4, n, products=1)
    assert seen == {1}
    assert blas_threads() == 2


def test_programs_that_run_at_once(runner):
    torch.set_num_threads(2)
    failures = []

    def work(seed):
        try:
            for i in range(5):
                check(runner, 10 * seed + i)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(runner):
    torch.set_num_threads(3)
    check(runner, 0)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            check(runner, 1)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def share(run, n, parts, threads, products=0):
    """Have `run` called by the pool."""
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int
    )  # fmt: skip
    call = pool._library().tg_share
    call.argtypes, call.restype = [kind, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_int] * 3], None
    call(kind(run), None, n, parts, threads, products)


def test_work_is_cut_into_parts_that_several_threads_do():
    seen = []

    def run(_, first, last, part):
        seen.append((first, last, part, threading.get_ident()))
        time.sleep(0.02)

    share(run, 103, 8, 3)
    parts = sorted(seen)
    assert [x[2] for x in parts] == list(range(8))
    assert [x[0] for x in parts[1:]] == [x[1] for x in parts[:-1]]
    assert (parts[0][0], parts[-1][1]) == (0, 103)
    assert 2 <= len({x[3] for x in parts}) <= 3


def test_threads_that_sleep_wake_and_share_again():
    seen = []
    for wait in (0, 0.01, 0, 0.03):
        time.sleep(wait)
        for _ in range(50):
            share(lambda _, first, last, part: seen.append(last - first), 1000, 7, 3)
    assert sum(seen) == 200_000


def test_short_loops_and_sums_of_columns_are_not_shared():
    with Program() as program:
        x, y = program.input(inputs()[0]), program.input(inputs(rows=5)[0])
        outs = [x.sum(axis=0), xp.tanh(y) * 2.0]
    runner = build(program, [y.place for y in outs])
    assert "tg_share(" not in runner.source
    np.testing.assert_allclose(
        runner(inputs()[0], inputs(rows=5)[0])[1][0, 0],
        2 * np.tanh(inputs(rows=5)[0][0, 0]),
        rtol=1e-5,
    )
