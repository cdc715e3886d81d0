"""Making what the cache keeps: a library is compiled under another name, and renamed."""

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from tapegrad.compiler.c_backend import cache_size
from tapegrad.compiler.c_backend.cache import DIGEST, LIBRARY, SOURCE
from tapegrad.compiler.c_backend.toolchain import Compiler, CompilerMissing


def make(source: str, compiler: Compiler, place: str) -> None:
    """Compile in a folder of another name, and rename it to `place` when it is whole."""
    target, most = Path(place), cache_size.limit()
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
        cache_size.keep_within(str(target.parent), most, str(target))
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
