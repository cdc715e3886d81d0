"""Products shared out over threads, and the BLAS's own threads meanwhile."""

import itertools
import sys
import threading
import types

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.numpy import blas_threads, blocks
from tapegrad.core import threads

pytestmark = pytest.mark.usefixtures("three_threads")


@pytest.fixture
def read():
    functions = blas_threads._openblas_threads()
    if not functions:
        pytest.skip("nothing sets the threads of this BLAS")
    before = functions[0]()
    yield functions[0]
    blas_threads.set_blas_threads(before)


def test_work_that_is_shared_out_leaves_the_threads_of_the_blas_as_they_were(read):
    before, during = read(), []
    with pytest.raises(ZeroDivisionError):
        blas_threads.share_products(4, 1 << 20, lambda first, last: during.append(read()) or 1 / 0)
    assert during and set(during) == {1} and read() == before


def test_the_number_of_threads_is_the_blas_s_too(read):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    assert read() == 1
    torch.set_num_threads(2)
    assert read() == 2
    with blas_threads.one_blas_thread():
        torch.set_num_threads(1)
        torch.set_num_threads(2)  # holds from the end of the block on
        assert read() == 1
    assert read() == 2
    torch.set_num_threads(before)


def test_runs_are_of_whole_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 0)
    for n in (1, 5, 12, 13, 100):
        runs = blocks.share_out(n, 1, lambda first, last: (first, last), 4)
        assert runs[0][0] == 0 and runs[-1][1] == n and len(runs) <= 3
        assert all(a[1] == b[0] and not a[1] % 4 for a, b in itertools.pairwise(runs))


def test_sums_are_added_in_one_order(monkeypatch, rng, read):
    x = rng.standard_normal((50, 1000), dtype=np.float32)
    monkeypatch.setattr(blas_threads, "LARGE", 0)
    found = []
    for n in (1, 2, 3, 3, 3, 8):
        threads.set_n_threads(n)
        found.append(blas_threads.sum_products(50, 1000, lambda i, j: x[i:j].sum(0), 8))
    assert all((total == found[0]).all() for total in found)
    np.testing.assert_allclose(found[0], x.sum(0), rtol=1e-4, atol=1e-4)
    assert (blas_threads.sum_products(1, 1000, lambda i, j: x[i], 8) == x[0]).all()


def test_a_run_that_fails_ends_those_that_wait_for_it(monkeypatch, read):
    monkeypatch.setattr(blas_threads, "LARGE", 0)
    others = threading.Barrier(2)

    def work(i, j):
        if i < 2:
            others.wait(60)
        if not i:
            raise ZeroDivisionError
        return np.ones(1)

    with pytest.raises(ZeroDivisionError):
        blas_threads.sum_products(6, 1000, work, 6)
    assert blas_threads._sharing == 0


def test_another_blas_is_told_through_threadpoolctl(monkeypatch):
    told = []

    class Library:
        def get_num_threads(self):
            return 4

        def set_num_threads(self, n):
            told.append(n)

    class ThreadpoolController:
        def select(self, user_api):
            assert user_api == "blas"
            return types.SimpleNamespace(lib_controllers=[Library()])

    module = types.ModuleType("threadpoolctl")
    module.ThreadpoolController = ThreadpoolController
    monkeypatch.setitem(sys.modules, "threadpoolctl", module)
    monkeypatch.setattr(blas_threads, "_threads", blas_threads._controlled_threads())
    with blas_threads.one_blas_thread():
        assert told == [1]
    assert told == [1, 4]
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    assert blas_threads._controlled_threads() == ()


@pytest.mark.parametrize("shapes", [(400, 130, 90), (90, 1500, 130), (3000, 2, 3000), (70, 70, 70)])
def test_products_are_the_same_with_any_number_of_threads(monkeypatch, rng, shapes):
    m, depth, n = shapes
    a = rng.standard_normal((m, depth), dtype=np.float32)
    b = rng.standard_normal((n, depth), dtype=np.float32).T
    monkeypatch.setattr(blas_threads, "RUN", 1 << 18)
    found = []
    for count in (1, 2, 3, 8):
        threads.set_n_threads(count)
        out = np.empty((m, n + 1), np.float32)[:, :n]
        found += [blas_threads.product(a, b), blas_threads.product(a, b, out)]
        assert found[-1] is out
    for other in found[2::2]:
        np.testing.assert_array_equal(other, found[0])
    for other in found:
        np.testing.assert_allclose(other, a.astype(float) @ b.astype(float), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shapes", [((6, 2, 60, 70), (6, 2, 70, 50)), ((5, 64, 33), (5, 33, 64))])
def test_stacks_of_products_are_the_same_with_any_number_of_threads(monkeypatch, rng, shapes):
    a, b = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
    b = np.ascontiguousarray(b.mT).mT
    monkeypatch.setattr(blas_threads, "RUN", 1 << 10)
    monkeypatch.setattr(blas_threads, "LARGE", 0)
    shared = []
    monkeypatch.setattr(blas_threads, "share_out", lambda *given: shared.append(share_out(*given)))
    share_out = blocks.share_out
    for n in (1, 2, 3, 8):
        threads.set_n_threads(n)
        np.testing.assert_array_equal(torch.tensor(a) @ torch.tensor(b), np.matmul(a, b))
    assert len(shared) == 3 * bool(blas_threads._openblas_threads())


def test_stacks_of_products_that_do_not_match_are_refused(rng):
    a = np.ones((4, 128, 256), np.float32)
    with pytest.raises(RuntimeError, match="Expected size for first two dimensions"):
        torch.tensor(a) @ torch.tensor(a)
    b = np.ones((1, 256, 128), np.float32)
    np.testing.assert_array_equal(torch.tensor(a) @ torch.tensor(b), a @ b)
