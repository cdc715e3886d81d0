"""`fork` and `wait`: calls that another thread could run; they run at once, as in PyTorch."""

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import runtime_error, type_error


class Future:
    """A result that may come later; of `fork` it is there when the call returns.

    >>> future = torch.jit.fork(max, 3, 5)
    >>> future.done(), future.wait()
    (True, 5)
    """

    def __init__(self, devices: Any = None) -> None:
        self._done, self._value = False, None
        self._callbacks: list[Callable] = []

    def done(self) -> bool:
        """Whether the result is there."""
        return self._done

    def value(self) -> Any:
        """The result, which must be there."""
        return self._value

    def wait(self) -> Any:
        """The result.

        Raises: RuntimeError, where nobody has set it and nobody could meanwhile.
        """
        if not self._done:
            raise runtime_error(
                "The future has no result, and no other thread that gives it one",
                "Call set_result() before wait().",
            )
        return self._value

    def set_result(self, result: Any) -> None:
        """Give the result, once."""
        if self._done:
            raise runtime_error(
                "Attempting to mark a completed Future as complete again. Note that a Future can "
                "only be marked completed once.",
                "Make another one.",
            )
        self._done, self._value = True, result
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable) -> None:
        """Have `callback(future)` called when the result is there."""
        if self._done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, callback: Callable) -> Any:
        """A future of `callback(future)`."""
        after = Future()
        self.add_done_callback(lambda future: after.set_result(callback(future)))
        return after


def fork(func: Callable, *args: Any, **kwargs: Any) -> Future:
    """A `Future` of `func(*args, **kwargs)`, which runs at once.

    >>> torch.jit.wait(torch.jit.fork(torch.add, torch.ones(1), 1))
    tensor([2.])
    """
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future) -> Any:
    """The result of a future.

    >>> torch.jit.wait(torch.jit.fork(max, 3, 5))
    5
    """
    if not isinstance(future, Future):
        raise type_error(
            f"wait(): argument must be a Future, not {type(future).__name__}",
            "Pass what torch.jit.fork() gave.",
        )
    return future.wait()
