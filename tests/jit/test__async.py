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


def test_only_futures_are_waited_for():
    assert torch.jit.Future is torch.futures.Future is torch.Future
    with pytest.raises(TypeError, match="must be a Future, not int"):
        torch.jit.wait(3)
