"""Threads that share work: what they return, raise and do inside one another."""

import os
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

from tapegrad.core import threads

pytestmark = pytest.mark.usefixtures("three_threads")


def test_what_the_calls_return_comes_in_their_order():
    assert threads.at_once([lambda i=i: i * i for i in range(20)]) == [i * i for i in range(20)]


def test_calls_run_at_the_same_time():
    all_here = threading.Barrier(3)
    assert len(set(threads.at_once([lambda: all_here.wait(60)] * 3))) == 3


def test_an_error_comes_when_all_calls_have_ended():
    may_end, ended = threading.Event(), []

    def fail():
        may_end.set()
        raise ValueError("of the first")

    def late():
        may_end.wait()
        ended.append(True)

    with pytest.raises(ValueError, match="of the first"):
        threads.at_once([fail, late, late])
    assert len(ended) == 2
    with pytest.raises(ValueError, match="of the first"):
        threads.at_once([late, fail])


def test_work_inside_of_shared_work_is_not_shared_again():
    def inner():
        return threading.get_ident()

    def outer():
        return threading.get_ident(), threads.at_once([inner] * 4)

    for thread, inside in threads.at_once([outer] * 6)[1:]:
        assert inside == [thread] * 4


def test_who_shares_work_does_not_wait_for_threads_that_are_busy():
    helped, may_end = threading.Barrier(4), threading.Event()

    def hold():
        helped.wait(60)
        may_end.wait(60)

    holder = threading.Thread(target=threads.at_once, args=([hold] * 3,))
    holder.start()
    helped.wait(60)  # all of the pool's threads hold
    assert threads.at_once([lambda i=i: i for i in range(9)]) == list(range(9))
    may_end.set()
    holder.join()


def test_many_threads_share_work_at_once():
    found = {}

    def share(k):
        for _ in range(200):
            found.setdefault(k, set()).add(
                tuple(threads.at_once([lambda i=i: k * i for i in (0, 1, 2)]))
            )
            if k == 0:
                threads.set_n_threads(2 + len(found[k]))

    users = [threading.Thread(target=share, args=(k,)) for k in range(5)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert found == {k: {(0, k, 2 * k)} for k in range(5)}


def test_threads_that_wait_hold_no_arrays():
    class Large:
        def __call__(self):
            return 0

    large = [Large() for _ in range(6)]
    held = [weakref.ref(x) for x in large]
    threads.at_once(large)
    del large
    deadline = time.monotonic() + 60
    while any(x() is not None for x in held) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(x() is not None for x in held)


def test_shared_work_obeys_the_errstate_of_who_shares_it():
    one, zero = np.ones(1), np.zeros(1)
    all_here = threading.Barrier(3)

    def divide():
        all_here.wait(60)
        return one / zero

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        threads.at_once([all_here.wait, divide, divide])
    with warnings.catch_warnings(action="error"), np.errstate(divide="ignore"):
        assert len(threads.at_once([divide] * 3)) == 3


def _run(program, **environment):
    command = [sys.executable, "-W", "ignore", "-c", program]
    known = {k: x for k, x in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=True, env=known | environment
    )
    assert not done.stderr
    return done.stdout.split()


def test_the_environment_chooses_the_number_of_threads():
    program = "import tapegrad; print(tapegrad.get_num_threads())"
    n = str(threads.n_cores())
    assert _run(program) == [n]
    assert _run(program, OMP_NUM_THREADS="1") == ["1"]
    assert _run(program, OMP_NUM_THREADS="1,2") == ["1"]
    assert _run(program, OMP_NUM_THREADS="10000") == [n]  # as in PyTorch: no more than cores
    assert _run(program, OMP_NUM_THREADS="10000", MKL_NUM_THREADS="1") == ["1"]
    assert _run(program, OMP_NUM_THREADS="0") == [n]


def test_a_thread_shares_work_after_the_main_thread_has_ended():
    program = """
import threading
from tapegrad.core import threads
threads.set_n_threads(2)
def work():
    threading.main_thread().join()
    print(threads.at_once([int, int]))
threading.Thread(target=work).start()
"""
    assert _run(program) == ["[0,", "0]"]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_calls_are_made_beside_work_when_they_may_be(n):
    threads.set_n_threads(n)
    made: list = []
    calls = [lambda i=i: made.append(i) for i in range(6)]

    def work(line):
        for i in range(3):
            line.need(i)
            line.need(i)
            assert i in made and 3 + i not in made
            line.allow(4 + i)

    threads.beside(work, calls, 3)
    assert sorted(made) == list(range(6))


def test_calls_are_made_while_work_goes_on():
    began, done = threading.Event(), threading.Event()

    def call():
        began.set()
        assert done.wait(60)

    def work(line):
        assert began.wait(60)
        threading.Timer(0.01, done.set).start()
        line.need(0)
        assert done.is_set()

    threads.beside(work, [call], 1)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_work_that_fails_leaves_out_the_calls_beside_it(n):
    threads.set_n_threads(n)
    made: list = []

    def work(line):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        threads.beside(work, [int, lambda: made.append(0)], 1)
    assert not made
    with pytest.raises(ZeroDivisionError):
        threads.beside(lambda line: line.need(0), [lambda: 1 // 0], 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_forks_while_its_threads_work():
    program = """
import os, signal, threading
import numpy as np
import tapegrad
from tapegrad.arrays.numpy import blas_threads, memory_pool
tapegrad.set_num_threads(2)
read, _ = blas_threads._openblas_threads() or (int, None)
before = read()
x = tapegrad.ones(8, 16, 32, 32)
w = tapegrad.ones(16, 16, 3, 3)
want = tapegrad.conv2d(x, w).sum().item()
stop = threading.Event()
def work():
    while not stop.is_set():
        tapegrad.conv2d(x, w)
users = [threading.Thread(target=work) for _ in range(2)]
for user in users:
    user.start()
codes = set()
for _ in range(20):
    child = os.fork()
    if not child:
        signal.alarm(60)
        is_right = tapegrad.conv2d(x, w).sum().item() == want and read() == before
        os._exit(7 if is_right else 1)
    codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for user in users:
    user.join()
print(codes, read() == before)
"""
    assert _run(program) == ["{7}", "True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_starts_threads_of_its_own():
    program = """
import os
from tapegrad.core import threads
threads.set_n_threads(2)
threads.at_once([int, int])
child = os.fork()
if not child:
    os._exit(7 if threads.at_once([int, int]) == [0, 0] else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert _run(program) == ["7"]
