"""Compiled programs on disk, so that each is compiled once.

A program has a folder, named by a hash of its source, the compiler and the processor: the C file,
the library, and the library's digest, which is compared when it is loaded. A folder is made under
another name and renamed when it is whole: a process that is killed leaves nothing that would be
loaded, and of processes that compile the same program at once, the first is the one that counts.
"""

import ctypes
import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tapegrad.compiler.c_backend.toolchain import Compiler, CompilerMissing
from tapegrad.core.annotations import Any

SOURCE, LIBRARY, DIGEST = "program.c", "program.so", "program.sha256"


def folder() -> Path:
    """Where libraries are kept: $TAPEGRAD_CACHE_DIR, or a folder in the user's cache."""
    given = os.environ.get("TAPEGRAD_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "tapegrad"


def library(source: str, compiler: Compiler) -> Any:
    """The library of a C source, from the cache or compiled.

    Raises CompilerMissing where it is not there and cannot be compiled or written.
    """
    name = hashlib.sha256(f"{compiler.identity}\n{source}".encode()).hexdigest()[:32]
    target = folder() / name
    found = _loaded(target)
    if found is not None:
        return found
    _make(source, compiler, target)
    found = _loaded(target)
    if found is None:
        raise CompilerMissing(f"{target} was written and cannot be read: is the disk full?")
    return found


def _loaded(target: Path) -> Any:
    """The library of a folder; None where it is not there, or not whole."""
    path = target / LIBRARY
    try:
        content = path.read_bytes()
        wanted = (target / DIGEST).read_text(encoding="ascii")
    except OSError:
        return None
    if hashlib.sha256(content).hexdigest() != wanted:
        return None
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise CompilerMissing(f"{path} cannot be loaded: {error}") from error


def _make(source: str, compiler: Compiler, target: Path) -> None:
    """Compile in a folder of another name, and rename it when it is whole."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_left(target.parent)
        work = Path(tempfile.mkdtemp(dir=target.parent, prefix=".making-"))
    except OSError as error:
        raise CompilerMissing(f"{target.parent} cannot be written: {error}") from error
    try:
        (work / SOURCE).write_text(source, encoding="utf-8")
        compiler.compile(str(work / SOURCE), str(work / LIBRARY))
        digest = hashlib.sha256((work / LIBRARY).read_bytes()).hexdigest()
        (work / DIGEST).write_text(digest, encoding="ascii")
        for each in (LIBRARY, DIGEST):
            with open(work / each, "rb+") as file:
                os.fsync(file.fileno())
        _put(work, target)
    except OSError as error:
        raise CompilerMissing(f"{target.parent} cannot be written: {error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _remove_left(folder: Path) -> None:
    """Remove what processes that were killed have left, a day after."""
    for each in folder.glob(".making-*"):
        try:
            is_old = time.time() - each.stat().st_mtime > 86400
        except OSError:  # another process has removed it
            continue
        if is_old:
            shutil.rmtree(each, ignore_errors=True)


def _put(work: Path, target: Path) -> None:
    """Rename a whole folder, unless another process was first."""
    try:
        os.rename(work, target)
    except OSError:
        if _is_whole(target):
            return
        aside = Path(tempfile.mkdtemp(dir=target.parent, prefix=".making-"))
        try:
            if target.exists():  # damaged
                os.rename(target, aside / "damaged")
            os.rename(work, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _is_whole(target: Path) -> bool:
    try:
        content = (target / LIBRARY).read_bytes()
        return hashlib.sha256(content).hexdigest() == (target / DIGEST).read_text("ascii")
    except OSError:
        return False
