"""`fork` and `wait`: calls that another thread could run; they run at once, as in PyTorch."""

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import type_error
from tapegrad.futures.future import Future
from tapegrad.jit._state import COMPILE, outdated


def fork(func: Callable, *args: Any, **kwargs: Any) -> Future:
    """A `Future` of `func(*args, **kwargs)`, which runs at once.

    >>> torch.jit.wait(torch.jit.fork(torch.add, torch.ones(1), 1))
    tensor([2.])
    """
    outdated("fork", COMPILE)
    future: Future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future) -> Any:
    """The result of a future.

    >>> torch.jit.wait(torch.jit.fork(max, 3, 5))
    5
    """
    outdated("wait", COMPILE)
    if not isinstance(future, Future):
        raise type_error(
            f"wait(): argument must be a Future, not {type(future).__name__}",
            "Pass what torch.jit.fork() gave.",
        )
    return future.wait()
