"""Writing files whole: a new one takes the place of an old one, or nothing changes.

A file is written beside its place and renamed, which is one step to everybody else. That would lose
what belongs to the old file and not to its name: other names (hard links), another owner, access
lists; and it needs a folder that may be written. Where it would, the file is written where it is,
as PyTorch does always, and gets its old bytes back if that fails.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EINVAL, EPERM, EROFS
from itertools import count
from typing import IO, Any

from tapegrad.core.errors import runtime_error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of `path` when all is written, and not before.

    Links, permissions and the owner of an old file stay; a new one gets what the umask leaves. It
    is written under a hidden name in the same folder, with permissions that are never wider, and
    what a killed process leaves there is removed by the next that writes this path. If there are
    hard links, another owner or access lists, or the folder is not to be written, the file is
    written in place: then a killed process leaves it torn, and an error leaves it as it was.

    Raises: RuntimeError where the file cannot be opened.

    >>> import os, tempfile
    >>> from tapegrad.serialization.replacement import replacing
    >>> path = os.path.join(tempfile.mkdtemp(), "x")
    >>> with replacing(path) as file:
    ...     file.write(b"all")
    3
    >>> os.listdir(os.path.dirname(path))
    ['x']
    """
    target = os.path.realpath(os.fspath(path))  # a link stays one
    if not os.path.isdir(os.path.dirname(target)):
        raise runtime_error(
            f"Parent directory {os.path.dirname(os.fspath(path))} does not exist.",
            "Make it first: os.makedirs(folder, exist_ok=True).",
        )
    try:
        old = _opened(target)
        replacement = _beside(target, old)
    except OSError as error:
        raise runtime_error(
            "[enforce fail at inline_container.cc:747] . open file failed with strerror: "
            f"{error.strerror}",
            f"{target} cannot be written.",
        ) from error
    if replacement is not None:
        if old is not None:
            old.close()
        with _renamed(*replacement, target) as file:
            yield file
    else:
        assert old is not None
        with old, _in_place(old, os.path.dirname(target)):
            yield old


def _opened(target: str) -> IO[bytes] | None:
    """The old file, open for writing and not changed yet; None if there is none."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        return open(target, "wb")  # a pipe, a device; a folder raises
    binary = getattr(os, "O_BINARY", 0)
    try:
        return os.fdopen(os.open(target, os.O_RDWR | binary), "r+b")
    except PermissionError:
        return os.fdopen(os.open(target, os.O_WRONLY | binary), "wb")


# ---------------------------------------------------------------------------------- where it stands


@contextmanager
def _in_place(file: IO[bytes], folder: str) -> Iterator[None]:
    """While it lasts, `file` of `folder` is written over; an error gives it its old bytes again.

    Those of a file that may not be read are lost then.
    """
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        yield
        return
    with _unnamed(folder) as kept:
        if file.readable():
            shutil.copyfileobj(file, kept)
            file.seek(0)
        try:
            yield
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            if file.readable():
                _restore(file, kept)
            raise


def _unnamed(folder: str) -> Any:
    """A file without a name, which nobody else sees: beside the old one, if that can be."""
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:
        return tempfile.TemporaryFile()


def _restore(file: IO[bytes], kept: IO[bytes]) -> None:
    """Write the bytes of `kept` to `file`, whatever it still has to write itself."""
    with os.fdopen(os.dup(file.fileno()), "wb") as again:
        with suppress(OSError):  # what failed before, once more
            file.close()
        kept.seek(0)
        again.seek(0)
        shutil.copyfileobj(kept, again)
        again.truncate()


# ---------------------------------------------------------------------------------------- beside it


def _beside(target: str, old: IO[bytes] | None) -> tuple[int, str, int | None] | None:
    """A new file in the same folder: its handle, its name, and the mode that it must get.

    None where the old file must be written in place.
    """
    if old is None:
        return *_created(target, 0o666), None
    found = os.fstat(old.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or _has_access_list(target):
        return None
    mode = stat.S_IMODE(found.st_mode)
    try:
        handle, name = _created(target, mode & 0o600)
    except OSError as error:
        if error.errno not in (EACCES, EPERM, EROFS):
            raise
        return None
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (found.st_uid, found.st_gid):
        try:
            os.fchown(handle, found.st_uid, found.st_gid)
        except PermissionError:
            os.unlink(name)
            os.close(handle)
            return None
    return handle, name, mode


def _has_access_list(path: str) -> bool:
    """Whether a file has what `chmod` does not copy: access lists, attributes of users."""
    if not hasattr(os, "listxattr"):
        return False
    try:
        names = os.listxattr(path)
    except OSError:  # a file system without
        return False
    return any(name.startswith(("system.posix_acl", "user.")) for name in names)


def _created(target: str, mode: int) -> tuple[int, str]:
    """A new file beside `target` under a hidden name, locked: its handle and its path."""
    folder, name = os.path.split(target)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for i in count():
        path = os.path.join(folder, f".{name[:50]}.{i}.tmp")
        _remove_left(path)
        try:
            handle = os.open(path, flags, mode)
        except FileExistsError:  # somebody else writes the same path now
            continue
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if not os.fstat(handle).st_nlink:  # taken for one that was left, before it was locked
                os.close(handle)
                continue
        return handle, path
    raise AssertionError


def _remove_left(path: str) -> None:
    """Remove the file of a process that was killed: one of ours, which nobody has locked."""
    if fcntl is None or not hasattr(os, "geteuid"):  # as in a browser, which has no processes
        return
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # there is none, or it is not ours
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = os.fstat(handle)
        if found.st_uid == os.geteuid() and os.path.samestat(found, os.lstat(path)):
            os.unlink(path)
    except OSError:  # it is in use, or gone meanwhile
        return
    finally:
        os.close(handle)


@contextmanager
def _renamed(handle: int, name: str, mode: int | None, target: str) -> Iterator[IO[bytes]]:
    """The file of `handle`, which gets `mode` and is called `target` once it is written."""
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.chmod(name, mode)
            os.fsync(handle)
            if fcntl is not None:  # while it is locked; Windows renames no open file
                os.replace(name, target)
        if fcntl is None:
            os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):  # the next one may have removed it
            os.unlink(name)
        raise
    _sync(os.path.dirname(target))


def _sync(folder: str) -> None:
    """Make the new name last, where a folder can be opened: not on Windows, nor without `r`."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != EINVAL:  # a file system that has no such thing
            raise
    finally:
        os.close(handle)
