"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from tapegrad.core.errors import runtime_error


@contextmanager
def replacing(path: Any) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of `path` when all is written, and not before.

    It lies in the same folder meanwhile, and is removed if anything fails. A process that is
    killed leaves it behind, and `path` as it was.

    >>> import os, tempfile
    >>> from tapegrad.serialization.atomic import replacing
    >>> path = os.path.join(tempfile.mkdtemp(), "x")
    >>> with replacing(path) as file:
    ...     file.write(b"all")
    3
    >>> os.listdir(os.path.dirname(path))
    ['x']
    """
    target = os.path.realpath(os.fspath(path))  # a link stays one
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise runtime_error(
            f"Parent directory {os.path.dirname(os.fspath(path))} does not exist.",
            "Make it first: os.makedirs(folder, exist_ok=True).",
        )
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as file:  # a pipe, a device; a folder raises
            yield file
        return
    temporary = os.path.join(folder, f".{name[:50]}.{os.urandom(6).hex()}.tmp")
    file = open(temporary, "xb")
    try:
        with file:
            yield file
            file.flush()
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    _sync(folder)


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _sync(folder: str) -> None:
    """Make the new name last; on Windows a folder cannot be opened, and need not be."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
