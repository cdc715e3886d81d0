"""Which kernels of the array namespace are called in C, and putting them there."""

import threading

from tapegrad.arrays.numpy import namespace
from tapegrad.backends.native import steps
from tapegrad.backends.native.front import front
from tapegrad.backends.native.libraries import check_compiler, forget_failures
from tapegrad.compiler.c_backend import templates
from tapegrad.core.annotations import Callable

_MOVERS = frozenset(
    "add_along add_at argmax argmin cumulative_sum gather_along put_along read_at "
    "scatter_along stack take_along_axis write_at".split()
)
"""Kernels that do little more than move numbers, which NumPy does no slower."""

_fronts: dict[str, Callable] = {}
_lock = threading.Lock()


def names() -> list[str]:
    """The kernels that may be called in C: those that have a template, but for movers."""
    found = [text.removeprefix("xp.") for text in templates.TEMPLATES if text[:3] == "xp."]
    return sorted(set(found) - _MOVERS)


def serve(on: bool) -> None:
    """Put the kernels into the namespace of NumPy arrays, or take them out again."""
    with _lock:
        if on:
            if not check_compiler():
                return
            forget_failures()
        for name in names():
            found = getattr(namespace, name)
            kernel = getattr(found, "in_numpy", found)
            if on and name not in _fronts:
                _fronts[name] = front(name, kernel)
            setattr(namespace, name, _fronts[name] if on else kernel)
        steps.serve(on)
