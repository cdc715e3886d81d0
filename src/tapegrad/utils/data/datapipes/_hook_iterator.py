"""What holds for every iterator of a pipe: it is the only one, and its errors name the pipe."""

import functools
import inspect
from typing import Any

from tapegrad.core.missing import refuses as _refuses

_FEEDBACK = (
    "\nFor feedback regarding this single iterator per IterDataPipe constraint, feel free "
    "to comment on this issue: https://github.com/pytorch/data/issues/45."
)


def described(pipe: Any) -> str:
    """A pipe with those of its arguments that it keeps under their names."""
    given = set(inspect.signature(type(pipe)).parameters)
    kept = [name for name in sorted(given) if name in vars(pipe)]
    shown = [f"{name}={_shown(getattr(pipe, name))}" for name in kept]
    return f"{type(pipe).__name__}({', '.join(shown)})"


def _shown(value: Any) -> str:
    return value.__name__ if inspect.isfunction(value) else str(value)


def hook_iterator(cls: Any) -> None:
    """Wrap `__iter__` of a class of pipes."""
    of_class = cls.__iter__

    @functools.wraps(of_class)
    def begin(self: Any) -> Any:
        if not isinstance(self, cls):  # pragma: no cover
            return of_class(self)
        if getattr(type(self), "_has_own_iterators", False):  # children of a fork
            return of_class(self)
        self._valid_iterator_id = (self._valid_iterator_id or 0) + 1
        self._number_of_samples_yielded = 0
        self.reset()
        return _Iterator(self, of_class(self), self._valid_iterator_id)

    cls.__iter__ = begin


class _Iterator:
    """An iterator that is valid until the pipe begins another one."""

    def __init__(self, pipe: Any, iterator: Any, number: int) -> None:
        self.pipe, self.iterator, self.number = pipe, iterator, number

    def __iter__(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.iterator, name)

    def __next__(self) -> Any:
        if self.pipe._valid_iterator_id != self.number:
            raise RuntimeError(
                "This iterator has been invalidated because another iterator has been created "
                f"from the same IterDataPipe: {described(self.pipe)}\n"
                "This may be caused by multiple references to the same IterDataPipe. We recommend "
                f"using `.fork()` if that is necessary.{_FEEDBACK}"
            )
        try:
            sample = next(self.iterator)
        except StopIteration:
            raise
        except Exception as error:
            _name_pipe(error, self.pipe)
            raise
        self.pipe._number_of_samples_yielded += 1
        return sample


def _name_pipe(error: Exception, pipe: Any) -> None:
    """Say in an error in which pipe it was raised, unless it says so, or is of the one iterator."""
    first = error.args[0] if error.args else ""
    text = str(first)
    if "single iterator per IterDataPipe constraint" in text or "thrown by __iter__ of" in text:
        return
    where = f"This exception is thrown by __iter__ of {described(pipe)}"
    if error.args and isinstance(first, str):
        error.args = (f"{first}\n{where}", *error.args[1:])
    else:
        error.args = (*error.args, f"\n{where}")


__getattr__ = _refuses(__name__)
