"""Compiled programs on disk, so that each is compiled once.

A program has a folder, named by a hash of its source, the compiler and the processor: the C file,
the library, and the library's digest, which is compared when it is loaded. A folder is made under
another name and renamed when it is whole: a process that is killed leaves nothing that would be
loaded, and of processes that compile the same program at once, the first is the one that counts.
Beside them lie `recipes`, which libraries make `products`, and what compilers have said of their
version. When a library is made, what was used longest ago goes, if all takes more than `cache_size`
allows.
"""

import contextlib
import ctypes
import hashlib
import os

from tapegrad.compiler.c_backend.folder import folder, write
from tapegrad.compiler.c_backend.toolchain import Compiler, CompilerMissing
from tapegrad.core.annotations import Any

SOURCE, LIBRARY, DIGEST = "program.c", "program.so", "program.sha256"
_TRIES = 8


def library(source: str, compiler: Compiler) -> Any:
    """The library of a C source, from the cache or compiled.

    Raises CompilerMissing where it is not there and cannot be compiled or written.
    """
    target = os.path.join(folder(), name_of(source, compiler))
    found = _loaded(target)
    if found is not None:
        return found
    from tapegrad.compiler.c_backend.making import make  # which takes long to import

    for _ in range(_TRIES):  # another process may remove what was just made, if the cache is small
        make(source, compiler, target)
        found = _loaded(target)
        if found is not None:
            return found
    raise CompilerMissing(f"{target} was written and cannot be read: is the disk full?")


def name_of(source: str, compiler: Compiler) -> str:
    """The name of the folder in which the library of a C source is kept."""
    return hashlib.sha256(f"{compiler.identity}\n{source}".encode()).hexdigest()[:32]


def kept(key: str) -> Any:
    """The library that `keep` was told of; None where it is not there, or not whole."""
    try:
        with open(os.path.join(folder(), "products", key), "rb") as file:
            name = file.read()
    except OSError:  # nobody has made it yet
        return None
    return _loaded(os.path.join(folder(), name.hex()))


def keep(key: str, source: str, compiler: Compiler) -> None:
    """Have `kept` find the library of a source without its text, which takes long to make."""
    write("products", key, bytes.fromhex(name_of(source, compiler)))


def _loaded(target: str) -> Any:
    """The library of a folder; None where it is not there, or not whole."""
    path = os.path.join(target, LIBRARY)
    try:
        with open(path, "rb") as library, open(os.path.join(target, DIGEST)) as digest:
            content, wanted = library.read(), digest.read()
    except OSError:
        return None
    if hashlib.sha256(content).hexdigest() != wanted:
        return None
    with contextlib.suppress(OSError):  # not ours: whoever's it is knows what was used
        os.utime(target)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        if not os.path.exists(path):  # another process has just removed it
            return None
        raise CompilerMissing(f"{path} cannot be loaded: {error}") from error
