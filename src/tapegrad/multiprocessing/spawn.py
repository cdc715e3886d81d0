"""A function run in several processes, whose errors are raised here."""

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import connection
from typing import Any

from tapegrad.core import errors
from tapegrad.core.started_place import started_place

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"


class ProcessException(Exception):
    """A process ended that should not have: `error_index` is its place, `pid` its number."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process ended with an error of Python's."""


class ProcessExitedException(ProcessException):
    """A process ended by a signal, or said by its exit code that something is wrong."""

    def __init__(
        self, msg: str, error_index: int, pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple:
        parts = (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)
        return type(self), parts


def _run(fn: Callable, i: int, args: tuple, error_file: str) -> None:
    """What a process does: the function, or a file that says how it failed."""
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the process that started this one has it, too
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes, self.error_files = processes, error_files
        self.sentinels = {each.sentinel: i for i, each in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [each.pid for each in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends: whether all have ended.

        Where one ended badly the others are told to end, after `grace_period` seconds each made
        to, and an error says what happened.
        """
        if not self.sentinels:
            return True
        failed = None
        for sentinel in connection.wait(list(self.sentinels), timeout):
            i = self.sentinels.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode and failed is None:
                failed = i
        if failed is None:
            if not self.sentinels:
                self._forget_files()
            return not self.sentinels
        self._stop(grace_period)
        error = self._error(failed)
        self._forget_files()
        raise error

    def _stop(self, grace_period: float | None) -> None:
        for each in self.processes:
            if each.is_alive():
                each.terminate()
        end = time.monotonic() + (30 if grace_period is None else grace_period)
        for each in self.processes:
            each.join(max(0, end - time.monotonic()))
            if each.is_alive():
                each.kill()
                each.join()

    def _error(self, i: int) -> ProcessException:
        process = self.processes[i]
        if os.path.getsize(self.error_files[i]):
            with open(self.error_files[i], "rb") as file:
                text = pickle.load(file)  # written by _run
            message = f"\n\n-- Process {i} terminated with the following error:\n{text}"
            return ProcessRaisedException(message, i, process.pid)
        code = process.exitcode
        if code >= 0:
            message = f"process {i} terminated with exit code {code}"
            return ProcessExitedException(message, i, process.pid, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        message = f"process {i} terminated with signal {name}"
        return ProcessExitedException(message, i, process.pid, code, name)

    def _forget_files(self) -> None:
        for each in self.error_files:
            with suppress(FileNotFoundError):
                os.remove(each)


class SpawnContext(ProcessContext):
    """The same, by its old name."""


def _rank_here(nprocs: int) -> int | None:
    """The number of this process among `nprocs` that MPI has started here to run a function."""
    place = started_place()
    if nprocs < 2 or place is None or place.local_size != nprocs:
        return None
    if multiprocessing.parent_process() is not None:
        return None  # a child of a rank
    from tapegrad import distributed

    if distributed.is_initialized() or not distributed.is_mpi_available():
        return None
    return place.local_rank


def _wait_for_ranks() -> None:
    from tapegrad.distributed.mpi import mpi

    mpi().COMM_WORLD.Barrier()


def start_processes(
    fn: Callable,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` processes, i counting them.

    With `join` it waits for all of them and gives None; else it gives their `ProcessContext`.

    Where MPI has started as many processes on this computer, each of which makes this call, it
    starts none: each runs the function with its own number, and waits for the others.

    Raises:
        ProcessRaisedException: the function raised an error in a process.
        ProcessExitedException: a process ended otherwise than by returning.
    """
    if (rank := _rank_here(nprocs)) is not None:
        fn(rank, *args)
        _wait_for_ranks()
        return None if join else ProcessContext([], [])
    context: Any = multiprocessing.get_context(start_method)
    processes, files = [], []
    for i in range(nprocs):
        handle, path = tempfile.mkstemp(prefix="tapegrad-spawn-", suffix=".error")
        os.close(handle)
        process = context.Process(target=_run, args=(fn, i, args, path), daemon=daemon)
        process.start()
        processes.append(process)
        files.append(path)
    found = ProcessContext(processes, files)
    if not join:
        return found
    while not found.join():
        pass
    return None


def spawn(
    fn: Callable,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` processes that begin anew, i counting them.

    See `start_processes`, which has other ways to begin.
    """
    if start_method != "spawn":
        errors.deprecated(
            "This method only supports start_method=spawn (got: "
            f"{start_method}).\nTo use a different start_method use:\n\t\t "
            f"torch.multiprocessing.start_processes(..., start_method='{start_method}')"
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
