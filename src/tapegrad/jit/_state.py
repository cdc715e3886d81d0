"""Whether TorchScript is on, and whether a scripted function is running."""

import os
import warnings
from contextvars import ContextVar

from tapegrad.core.annotations import Any, Callable
from tapegrad.jit._errors import interpreted, misfit

SCRIPTED: ContextVar[bool] = ContextVar("tapegrad_scripted", default=False)
"""Whether what runs in this context was called by a scripted function or module."""

RECORDER: ContextVar[Any] = ContextVar("tapegrad_recorder", default=None)
"""What records the calls of this context for `trace`; None where nothing does."""


SWITCH = "switch to `torch.compile` or `torch.export`"
COMPILE = "use `torch.compile` instead"


def outdated(name: str, advice: str) -> None:
    """Warn that a function of `torch.jit` is deprecated, from the file that it is in.

    As in PyTorch that is where the warning is: Python shows none of its own accord.
    """
    warnings.warn(
        f"`torch.jit.{name}` is deprecated. Please {advice}.", DeprecationWarning, stacklevel=2
    )


class EnabledProxy:
    """Whether `script` and `trace` do anything: not where the environment says PYTORCH_JIT=0."""

    def __init__(self) -> None:
        self.enabled = os.environ.get("PYTORCH_JIT", "1").lower() in ("1", "true")

    def __bool__(self) -> bool:
        return self.enabled


_enabled = EnabledProxy()


def enable() -> None:
    """Let `script` and `trace` do what they say."""
    _enabled.enabled = True


def disable() -> None:
    """Let `script` and `trace` give back what they are given."""
    _enabled.enabled = False


def is_scripting() -> bool:
    """Whether a scripted function or module is running.

    >>> @torch.jit.script
    ... def f(x):
    ...     return x + 1 if torch.jit.is_scripting() else x
    >>> f(torch.ones(1)), torch.jit.is_scripting()
    (tensor([2.]), False)
    """
    return SCRIPTED.get()


def run_scripted(function: Callable, args: tuple, kwargs: dict) -> Any:
    """`function(*args, **kwargs)`, as a scripted one, whose errors are TorchScript's."""
    is_outermost = not SCRIPTED.get()
    token = SCRIPTED.set(True)
    try:
        return function(*args, **kwargs)
    except Exception as error:
        trace = error.__traceback__
        called = trace is not None and trace.tb_next is not None
        found: Exception | None = None if called else misfit(function, args, kwargs)
        if found is None and is_outermost:
            found = interpreted(error, trace)
        if found is None or found is error:
            raise
        raise found from error
    finally:
        SCRIPTED.reset(token)
