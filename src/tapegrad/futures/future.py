"""`Future`: a result that comes later, from this thread or another."""

import sys
import threading
import traceback
from typing import Any, Generic, NoReturn, TypeVar

from tapegrad.core.annotations import Callable
from tapegrad.core.device import device as as_device
from tapegrad.core.device import require_cpu
from tapegrad.core.errors import assertion_error, runtime_error, type_error, value_error

__torch__ = "Future"
T = TypeVar("T")


class Future(Generic[T]):
    """A result that may come later.

    Args:
        devices: GPUs that the result may be on: there are none.

    >>> future = torch.futures.Future()
    >>> double = future.then(lambda done: 2 * done.value())
    >>> double.done()
    False
    >>> future.set_result(3)
    >>> double.wait()
    6
    """

    def __init__(self, *, devices: list | None = None) -> None:
        for each in devices or ():
            where = as_device(each)
            require_cpu(where)
            raise value_error(
                f"Expected devices to have indices, got {where}", "Leave devices away."
            )
        self._is_done = threading.Condition()
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable] = []

    def done(self) -> bool:
        """Whether the result, or an error, is there."""
        return self._done

    def value(self) -> T:
        """The result, which must be there; an error that was set is raised."""
        if not self._done:
            raise runtime_error(
                "completed() INTERNAL ASSERT FAILED: the future has no result yet", "wait() for it."
            )
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self) -> T:
        """The result, once another thread has given it; an error that was set is raised."""
        with self._is_done:
            self._is_done.wait_for(self.done)
        return self.value()

    def set_result(self, result: T) -> None:
        """Give the result, once: who waits goes on, and callbacks are called."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give an error in place of a result: it is raised where one waits."""
        if not isinstance(result, Exception):
            raise assertion_error(
                f"{result} is of type {type(result)}, not an Exception.", "Pass an exception."
            )
        self._complete(None, result)

    def _complete(self, result: Any, error: BaseException | None) -> None:
        with self._is_done:
            if self._done:
                raise runtime_error(
                    "Attempting to mark a completed Future as complete again. Note that a Future "
                    "can only be marked completed once.",
                    "Make another one.",
                )
            self._value, self._error, self._done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._is_done.notify_all()
        for callback in callbacks:
            callback(self)

    def _when_done(self, callback: Callable) -> None:
        with self._is_done:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def add_done_callback(self, callback: Callable) -> None:
        """Have `callback(future)` called when the result is there.

        What it raises is only printed, on the standard error: `then` hands errors on.
        """
        _check_callback("add_done_callback", callback)

        def call(future: Any) -> None:
            try:
                callback(future)
            except Exception as error:
                text = f"{_failed(error)}\n{traceback.format_exc()}"
                print(text, file=sys.stderr)

        self._when_done(call)

    def then(self, callback: Callable) -> "Future":
        """A future of `callback(future)`; of an error where that raises one."""
        _check_callback("then", callback)
        after: Future = Future()

        def call(future: Any) -> None:
            try:
                found = callback(future)
            except Exception as error:
                said = runtime_error(_failed(error), "then() was given that callback.")
                said.__cause__ = error
                after.set_exception(said)
            else:
                after.set_result(found)

        self._when_done(call)
        return after

    def __reduce__(self) -> NoReturn:
        raise runtime_error("Can not pickle torch.futures.Future", "Pickle what wait() gives.")


Future.__module__ = "torch.jit"


def _failed(error: BaseException) -> str:
    name = type(error).__name__
    return f"Got the following error when running the callback: {name}: {error}"


def _check_callback(name: str, callback: Any) -> None:
    if not callable(callback):
        raise type_error(
            f"{name}(): incompatible function arguments. The following argument types are "
            "supported:",
            f"A function of the future is: {callback!r} is not one.",
        )


def collect_all(futures: list[Future]) -> Future:
    """A future of the list of futures, done when they all are; the first one's error is its own.

    >>> first, second = torch.futures.Future(), torch.futures.Future()
    >>> both = torch.futures.collect_all([first, second])
    >>> first.set_result(1)
    >>> both.done()
    False
    >>> second.set_result(2)
    >>> [each.value() for each in both.wait()]
    [1, 2]
    """
    both: Future = Future()
    left = len(futures)
    counting = threading.Lock()

    def count(done: Any) -> None:
        nonlocal left
        with counting:
            left -= 1
            is_last = left == 0
        if is_last:
            finish()

    def finish() -> None:
        error = next((each._error for each in futures if each._error is not None), None)
        both._complete(None if error else futures, error)

    for each in futures:
        each._when_done(count)
    if not futures:
        finish()
    return both


def wait_all(futures: list[Future]) -> list:
    """The results of all futures, once they are there.

    >>> future = torch.futures.Future()
    >>> future.set_result(1)
    >>> torch.futures.wait_all([future])
    [1]
    """
    return [each.wait() for each in collect_all(futures).wait()]
