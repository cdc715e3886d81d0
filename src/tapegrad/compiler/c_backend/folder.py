"""Where compiled programs are kept."""

import contextlib
import os
import sys
import threading


def folder() -> str:
    """Where libraries are kept: $TAPEGRAD_CACHE_DIR, or a folder in the user's cache."""
    given = os.environ.get("TAPEGRAD_CACHE_DIR")
    if given:
        return given
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "tapegrad")


def write(kind: str, name: str, content: bytes) -> None:
    """Keep a file that others may read, whole or not at all; nowhere if nothing can be written."""
    place = os.path.join(folder(), kind)
    made = os.path.join(place, f".{name}-{os.getpid()}-{threading.get_ident()}")
    with contextlib.suppress(OSError):  # what it spares is done again
        os.makedirs(place, exist_ok=True)
        with open(made, "wb") as file:
            file.write(content)
        os.replace(made, os.path.join(place, name))
