"""Writing a trace for each cycle of a profile, where TensorBoard's plugin looks for it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Any


def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[Any], None]:
    """For `on_trace_ready`: write the trace into a folder, a file for each cycle.

    Args:
        dir_name: the folder; it is made if need be.
        worker_name: how the files' names begin, different for each process; None takes the names
            of the machine and the process.
        use_gzip: compress the files.
        use_python_export: accepted; there is one way to write a trace here.

    Raises:
        RuntimeError: the folder cannot be made.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> save = torch.profiler.tensorboard_trace_handler(folder, worker_name="me")
    >>> with torch.profiler.profile(on_trace_ready=save):
    ...     y = torch.ones(2) * 2
    >>> [name.endswith(".pt.trace.json") for name in os.listdir(folder)]
    [True]
    """

    def handle(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        file = f"{name}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, file))

    return handle
