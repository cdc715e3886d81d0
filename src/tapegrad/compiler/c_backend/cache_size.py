"""The cache has a size: when something is added, what was used longest ago is removed.

The time of what is used is set to that of its use. A library goes by being renamed first, so that
nobody finds a part of one; a process that has loaded it keeps it.
"""

import contextlib
import os
import shutil
import tempfile

from tapegrad.compiler.c_backend.toolchain import CompilerMissing

DEFAULT = 512  # MiB
_KEPT = 0.75  # of the size remains when it is exceeded: it takes a while until it is again


def limit() -> int:
    """Bytes that are kept at most: $TAPEGRAD_CACHE_MB, or 512 MiB."""
    given = os.environ.get("TAPEGRAD_CACHE_MB", "")
    if not given:
        return DEFAULT << 20
    try:
        found = int(given)
    except ValueError:
        found = -1
    if found < 0:
        raise CompilerMissing(f"$TAPEGRAD_CACHE_MB is {given!r}, and no number of MiB")
    return found << 20


def keep_within(folder: str, most: int, newest: str) -> None:
    """Remove from a cache what was used longest ago until it takes at most `most` bytes.

    `newest`, the path of what was made last, stays.
    """
    entries = _entries(folder)
    total = sum(n for _, n, _ in entries)
    if total <= most:
        return
    for _, n, path in sorted(entries):
        if total > _KEPT * most and path != newest:
            _remove(folder, path)
            total -= n


def _entries(folder: str) -> list[tuple[float, int, str]]:
    """When each library and recipe was used last, its bytes, and its path."""
    found = []
    for where in (folder, os.path.join(folder, "recipes")):
        with contextlib.suppress(OSError), os.scandir(where) as inside:
            for each in inside:
                if each.name.startswith(".") or each.name in ("recipes", "compilers", "products"):
                    continue
                with contextlib.suppress(OSError):  # another process has removed it
                    found.append((each.stat().st_mtime, _size(each), each.path))
    return found


def _size(entry: os.DirEntry) -> int:
    if not entry.is_dir():
        return entry.stat().st_size
    with os.scandir(entry.path) as inside:
        return sum(each.stat().st_size for each in inside)


def _remove(folder: str, path: str) -> None:
    with contextlib.suppress(OSError):  # another process is doing the same
        if not os.path.isdir(path):
            os.remove(path)
            return
        aside = tempfile.mkdtemp(dir=folder, prefix=".making-")
        try:
            os.rename(path, os.path.join(aside, "old"))
        finally:
            shutil.rmtree(aside, ignore_errors=True)
