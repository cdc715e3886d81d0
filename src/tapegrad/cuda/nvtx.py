"""Marks for NVIDIA's profilers: an error, as on every machine without a GPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from tapegrad.core import errors as _errors
from tapegrad.core.missing import refuses as _refuses

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _fail() -> NoReturn:
    raise _errors.runtime_error(
        "NVTX functions not installed. Are you sure you have a CUDA build?",
        "Use torch.profiler.record_function: its marks are in the traces of torch.profiler.",
    )


def range_push(msg: str) -> NoReturn:
    """Open a range: an error."""
    _fail()


def range_pop() -> NoReturn:
    """Close the range opened last: an error."""
    _fail()


def range_start(msg: str) -> NoReturn:
    """Open a range that may overlap others: an error."""
    _fail()


def range_end(range_id: int) -> NoReturn:
    """Close a range by its number: an error."""
    _fail()


def mark(msg: str) -> NoReturn:
    """Mark a point in time: an error."""
    _fail()


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block that is a range: an error."""
    range_push(msg.format(*args, **kwargs))
    yield


__getattr__ = _refuses(__name__)
