"""`record`: a worker's error, written where its starter looks for it."""

import json
import os
import time
import traceback
from functools import wraps

from tapegrad.core.annotations import Any, Callable

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]


class ErrorHandler:
    """Writes errors to the file that `TORCHELASTIC_ERROR_FILE` names; without it, nowhere."""

    def initialize(self) -> None:
        """Called before the worker begins."""

    def record_exception(self, error: BaseException) -> None:
        """Write an error, with its traceback and the time."""
        path = os.environ.get("TORCHELASTIC_ERROR_FILE")
        if not path:
            return
        trace = "".join(traceback.format_exception(error))
        extra = {"py_callstack": trace, "timestamp": str(int(time.time()))}
        message = f"{type(error).__name__}: {error}"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"message": {"message": message, "extraInfo": extra}}, file)


def get_error_handler() -> ErrorHandler:
    """What `record` writes with."""
    return ErrorHandler()


class ProcessFailure:
    """How one worker failed."""

    def __init__(self, local_rank: int, pid: int, exitcode: int, error_file: str) -> None:
        self.local_rank, self.pid = local_rank, pid
        self.exitcode, self.error_file = exitcode, error_file
        self.error_file_data: dict = {"message": "<NONE>"}
        if os.path.isfile(error_file):
            with open(error_file, encoding="utf-8") as file:
                self.error_file_data = json.load(file)
        self.message = self.error_file_data["message"]
        if isinstance(self.message, dict):
            self.message = self.message["message"]


class ChildFailedError(Exception):
    """A worker failed, of which `failures` tells by rank."""

    def __init__(self, name: str, failures: dict[int, ProcessFailure]) -> None:
        self.name, self.failures = name, failures
        lines = [f"rank {r}: exit code {f.exitcode}, {f.message}" for r, f in failures.items()]
        super().__init__("\n".join([f"{name} FAILED", *lines]))


def record(fn: Callable, error_handler: ErrorHandler | None = None) -> Callable:
    """`fn`, whose errors are written for the starter of this process before they go on.

    >>> from tapegrad.distributed.elastic.multiprocessing.errors import record
    >>> @record
    ... def main():
    ...     return 3
    >>> main()
    3
    """
    handler = get_error_handler() if error_handler is None else error_handler

    @wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            handler.record_exception(error)
            raise

    return wrapper
