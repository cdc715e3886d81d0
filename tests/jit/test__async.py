"""Forked calls run at once."""

import pytest

import tapegrad as torch


def test_a_forked_call_has_its_result():
    future = torch.jit.fork(lambda a, b: a + b, 1, b=3)
    assert future.done() and future.value() == torch.jit.wait(future) == 4
    assert future.then(lambda f: f.wait() + 1).wait() == 5


def test_its_error_is_raised_at_once():
    with pytest.raises(ZeroDivisionError):
        torch.jit.fork(lambda: 1 / 0)


def test_futures_that_others_fulfil():
    future = torch.jit.Future()
    seen = []
    future.add_done_callback(lambda f: seen.append(f.value()))
    with pytest.raises(RuntimeError, match="has no result"):
        future.wait()
    future.set_result(3)
    assert seen == [3]
    with pytest.raises(RuntimeError, match="mark a completed Future as complete again"):
        future.set_result(4)
    with pytest.raises(TypeError, match="must be a Future, not int"):
        torch.jit.wait(3)
