"""Memory that processes share: a file without a name, mapped by its descriptor."""

import mmap
import os
from weakref import finalize


class SharedMap(mmap.mmap):
    """Memory that another process can map, once it is given the descriptor `fd`."""

    fd = -1


def share_map(n_bytes: int, fd: int | None = None) -> SharedMap:
    """New memory of `n_bytes`, or that behind a descriptor, which is closed with the map.

    >>> import os
    >>> from tapegrad.core.shared_map import share_map
    >>> one = share_map(4)
    >>> other = share_map(4, os.dup(one.fd))
    >>> other[0] = 7
    >>> one[0]
    7
    """
    size = max(1, n_bytes)  # no map is empty
    if fd is None:
        fd = _new_file()
        os.ftruncate(fd, size)
    found = SharedMap(fd, size)
    found.fd = fd
    finalize(found, os.close, fd)
    return found


def _new_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tapegrad")
    import tempfile  # which loads archives and compression

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
