"""Results that come later: waited for, handed on, gathered."""

import pickle
import threading

import pytest

import tapegrad as torch
from tapegrad.futures import Future, collect_all, wait_all


def test_one_waits_for_another_thread():
    future = Future()
    thread = threading.Timer(0.01, future.set_result, [3])
    thread.start()
    assert future.wait() == 3
    thread.join()


def test_callbacks_are_called_once_there_is_a_result():
    future, seen = Future(), []
    future.add_done_callback(lambda f: seen.append(f.value()))
    after = future.then(lambda f: f.value() + 1)
    assert not after.done() and seen == []
    with pytest.raises(RuntimeError, match="has no result yet"):
        future.value()
    future.set_result(3)
    assert seen == [3] and after.wait() == 4
    assert future.then(lambda f: f.value() * 2).value() == 6
    with pytest.raises(RuntimeError, match="mark a completed Future as complete again"):
        future.set_result(4)


def test_an_error_is_raised_where_one_waits():
    future = Future()
    after = future.then(lambda f: f.wait())
    future.set_exception(ValueError("of no use"))
    assert future.done()
    for ask in (future.wait, future.value):
        with pytest.raises(ValueError, match="of no use"):
            ask()
    with pytest.raises(RuntimeError, match="when running the callback: ValueError: of no use"):
        after.wait()
    with pytest.raises(AssertionError, match=r"3 is of type <class 'int'>, not an Exception\."):
        Future().set_exception(3)


def test_an_error_of_a_callback_is_printed(capsys):
    future = Future()
    future.add_done_callback(lambda f: 1 / 0)
    future.set_result(1)
    assert "running the callback: ZeroDivisionError: division by zero" in capsys.readouterr().err


def test_all_are_gathered():
    a, b = Future(), Future()
    both = collect_all([a, b])
    b.set_result(2)
    assert not both.done()
    a.set_result(1)
    assert both.wait() == [a, b] and wait_all([a, b]) == [1, 2]
    assert collect_all([]).wait() == []


def test_the_first_error_is_that_of_all():
    a, b = Future(), Future()
    both = collect_all([a, b])
    a.set_exception(KeyError("a"))
    assert not both.done()
    b.set_result(1)
    with pytest.raises(KeyError):
        both.wait()
    with pytest.raises(KeyError):
        wait_all([a, b])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: pickle.dumps(Future()), RuntimeError, "Can not pickle torch.futures.Future"),
        (lambda: Future().then(3), TypeError, r"then\(\): incompatible function arguments"),
        (lambda: Future().add_done_callback(3), TypeError, r"add_done_callback\(\): incompatible"),
        (lambda: Future(devices=["cpu"]), ValueError, "Expected devices to have indices, got cpu"),
        (lambda: Future(devices=[torch.device("meta")]), RuntimeError, "meta"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
