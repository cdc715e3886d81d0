"""Processes that a served program starts: `import torch` is served in them, too.

One that is forked has it from its parent. One that is spawned begins with nothing: Python sends it
what it needs to import the program's module, and only then what it is to do.
"""

import multiprocessing
from collections.abc import Callable
from multiprocessing import spawn
from typing import Any


class _Serving:
    """Where it is unpickled, imports of `torch` are served from then on."""

    def __reduce__(self) -> tuple[Callable, tuple]:
        return serve, ()


def serve() -> None:
    """Serve `import torch` in this process, and in those that it starts.

    The server of `forkserver` would import the program's module before it hears of anything; it
    imports tapegrad instead, and each of its processes the module.
    """
    from tapegrad import compat

    compat.install()
    plain = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"tapegrad": _Serving(), **plain(name)}

    spawn.get_preparation_data = get_preparation_data
    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.set_forkserver_preload(["tapegrad"])
