"""Compiled functions of the templates: each is built by a thread of its own when first wanted.

Until one is there, and where it cannot be made, NumPy's kernel computes. Libraries are kept on disk
beside those of compiled programs.
"""

import os
import threading
import warnings
from collections import deque

from tapegrad.backends.native.entry import bound, entry
from tapegrad.compiler.c_backend import cache
from tapegrad.compiler.c_backend.toolchain import CompilerMissing, compiler
from tapegrad.core.annotations import Callable

_found: dict[str, Callable] = {}
_wanted: deque[str] = deque()
_asked: set[str] = set()
_lock = threading.Lock()
_builder: threading.Thread | None = None
_failures: list[str] = []  # what was said of functions that could not be built
_ENOUGH = 3  # failures, after which nothing is built any more


def library(function: str) -> Callable | None:
    """The entry of a function; None where it is not there yet, or cannot be."""
    found = _found.get(function)
    if found is None and function not in _asked and len(_failures) < _ENOUGH:
        _want(function)
    return found


def wait() -> None:
    """Wait until nothing is built any more."""
    builder = _builder
    if builder is not None:
        builder.join()


def check_compiler() -> bool:
    """Whether there is a C compiler; one warning says why not."""
    try:
        compiler()
    except CompilerMissing as error:
        _warn(str(error))
        return False
    return True


def _want(function: str) -> None:
    global _builder
    with _lock:
        if function in _asked:
            return
        _asked.add(function)
        _wanted.append(function)
        if _builder is None or not _builder.is_alive():
            _builder = threading.Thread(target=_build, name="tapegrad native", daemon=True)
            _builder.start()


def _build() -> None:
    global _builder
    while True:
        with _lock:
            if not _wanted or len(_failures) >= _ENOUGH:
                _builder = None
                return
            function = _wanted.popleft()
        try:
            _found[function] = _made(function)
        except CompilerMissing as error:
            _failures.append(str(error))
            if len(_failures) == 1:
                _warn(_failures[0])


def _made(function: str) -> Callable:
    found = entry(function)
    return bound(found, cache.library(found.source, compiler()))


_warned: set[str] = set()


def _warn(text: str) -> None:
    """Warn once of each thing."""
    if text not in _warned:
        _warned.add(text)
        warnings.warn(f"torch.backends.native computes with NumPy: {text}", UserWarning, 2)


def _forget() -> None:
    """In a forked child the builder stayed behind: what it had not built is asked for anew."""
    global _builder, _lock
    _builder, _lock = None, threading.Lock()
    _wanted.clear()
    _asked.intersection_update(_found)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def forget_failures() -> None:
    """Try again to build what could not be built."""
    with _lock:
        _failures.clear()
        _wanted.clear()
        _asked.intersection_update(_found)
