"""What each rank was doing when it was killed: a page in a file that outlives it.

`torchrun` makes the page, with a place for each rank; a rank writes there what it waits for, and
wipes its place when it ends in a way that it can tell of itself.
"""

import mmap
import os
import tempfile

VARIABLE = "TAPEGRAD_LAST_WORDS"  # the file, for the ranks
_SIZE = 256  # bytes of a place
_COMPUTES = "it computed"

_page: mmap.mmap | None = None
_start = 0  # of this rank's place


def make(n: int) -> str:
    """A file with a place for each of `n` ranks."""
    descriptor, path = tempfile.mkstemp(prefix="tapegrad-ranks-")
    os.write(descriptor, bytes(n * _SIZE))
    os.close(descriptor)
    return path


def take_place(rank: int) -> None:
    """Find this rank's place, if `torchrun` has started it, and write there."""
    global _page, _start
    path = os.environ.get(VARIABLE)
    if path is None or not os.path.exists(path):
        return
    with open(path, "r+b") as file:
        page = mmap.mmap(file.fileno(), 0)
    if (rank + 1) * _SIZE <= len(page):
        _page, _start = page, rank * _SIZE
        write()


def write(what: str = _COMPUTES) -> None:
    """Say what this rank does from now on; nothing at all wipes its place."""
    if _page is not None:
        text = f"{os.getpid()} {what}".encode()[:_SIZE] if what else b""
        _page[_start : _start + _SIZE] = text.ljust(_SIZE, b"\0")


def read(path: str) -> list[str]:
    """A line for each rank that ended without a word of its own."""
    with open(path, "rb") as file:
        page = file.read()
    lines = []
    for rank in range(len(page) // _SIZE):
        text = page[rank * _SIZE : (rank + 1) * _SIZE].rstrip(b"\0").decode(errors="replace")
        if text:
            process, _, what = text.partition(" ")
            lines.append(f"tapegrad: rank {rank} (process {process}) was killed while {what}")
    return lines
