"""Threads that share work: what they return, raise and do inside one another."""

import os
import subprocess
import sys
import threading

import pytest

from tapegrad.core import threads


@pytest.fixture(autouse=True)
def _three_threads():
    before = threads.n_threads()
    threads.set_n_threads(3)
    yield
    threads.set_n_threads(before)


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
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["7"]


@pytest.mark.parametrize(
    ("given", "n"), [("3", 3), ("2,1", 2), ("0", None), ("many", None), ("", None)]
)
def test_the_environment_says_how_many_threads_there_are(monkeypatch, given, n):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads._asked_for() == n
