"""The workers of one DataLoader, seen from the loader: started, listened to, stopped.

Each has a pipe of its own, so that one which is killed in the middle of a message harms no other.
Nothing survives the loader: workers end when their pipe closes or their parent dies.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from multiprocessing import connection
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from typing import Any

import tapegrad
from tapegrad.core import errors
from tapegrad.utils.data._utils.worker import Work, run

_GRACE_S = 1.0  # for workers to end by themselves, then after SIGTERM


class _NameUnderCompat(str):
    """A name of a process in which `import torch` is served by tapegrad.

    A process that is spawned reads its name before it imports the script it belongs to.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple:
        return _read_name, (str(self),)


def _read_name(name: str) -> str:
    from tapegrad import compat

    compat.install()
    return name


def _name(i: int) -> str:
    is_served = sys.modules.get("torch") is tapegrad
    return (_NameUnderCompat if is_served else str)(f"DataLoader worker {i}")


class Crew:
    """Processes and the loader's ends of their pipes."""

    def __init__(self, context: Any, work: Work, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._lost: list[tuple[int, int]] | None = None  # process ids and exit codes
        self.members: list[tuple[Any, Any]] = []
        self.stop = Finalize(self, _stop, (self.members,), exitpriority=100)
        try:
            for i in range(work.n_workers):
                self._start(context, i, work)
        except BaseException:
            self.stop()
            raise

    def _start(self, context: Any, i: int, work: Work) -> None:
        ours, theirs = context.Pipe()
        # A fork copies the ends of the loader: workers would not see that it has closed them.
        is_fork = context.get_start_method() == "fork"
        others = [pipe for _, pipe in self.members] + [ours] if is_fork else []
        args = i, work, theirs, others
        process = context.Process(target=run, name=_name(i), args=args, daemon=True)
        try:
            process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self.members.append((process, ours))

    @property
    def is_whole(self) -> bool:
        """Whether no worker was lost."""
        return self._lost is None

    def send(self, i: int, message: tuple) -> None:
        """Give a message to worker `i`."""
        try:
            self.members[i][1].send(message)
        except OSError:
            self._report_loss()

    def receive(self) -> tuple[int, tuple]:
        """The next message of any worker, and its number. Raises if a worker was lost."""
        if self._lost is not None:
            self._report_loss()
        pipes = {pipe: i for i, (_, pipe) in enumerate(self.members)}
        sentinels = [process.sentinel for process, _ in self.members]
        ready = connection.wait([*pipes, *sentinels], self._timeout_s or None)
        if not ready:
            raise errors.runtime_error(
                f"DataLoader timed out after {self._timeout_s} seconds",
                "A worker takes longer for a batch: raise timeout, or look what its data set does.",
            )
        for pipe in ready:
            if pipe in pipes:
                return pipes[pipe], self._read(pipe)
        self._report_loss()
        raise AssertionError("a worker that had ended was not reported")

    def _read(self, pipe: Any) -> tuple:
        try:
            message = pipe.recv_bytes()
        except (EOFError, OSError):
            self._report_loss()
        try:
            return ForkingPickler.loads(message)
        except BaseException:
            self.stop()
            raise

    def _report_loss(self) -> None:
        """Raise that workers ended which nobody told to, and stop the others."""
        if self._lost is None:
            self._lost = self._ended()
            self.stop()
        pids = ", ".join(str(pid) for pid, _ in self._lost)
        causes = [cause for pid, code in self._lost if (cause := _cause(pid, code))]
        raise errors.runtime_error(
            f"DataLoader worker (pid(s) {pids}) exited unexpectedly",
            "With num_workers=0 the data set runs in this process, where errors are easier to see.",
        ) from next(iter(causes), None)

    def _ended(self) -> list[tuple[int, int]]:
        """The workers that are no more. One that has only closed its pipe is about to end."""
        deadline = time.monotonic() + _GRACE_S
        while True:
            processes = [process for process, _ in self.members]
            ended = [(p.pid, p.exitcode) for p in processes if p.exitcode is not None]
            if ended or time.monotonic() > deadline:
                return ended
            time.sleep(0.001)


def _cause(pid: int, code: int) -> RuntimeError | None:
    worker = f"DataLoader worker (pid {pid})"
    if code < 0:
        return RuntimeError(f"{worker} is killed by signal: {signal.strsignal(-code)}. ")
    if code > 0:
        return RuntimeError(
            f"{worker} exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )
    return None


def _hang_up(pipe: Any) -> None:
    """Close a pipe, also for processes that a fork gave a copy of it."""
    if os.name == "posix":
        with socket.fromfd(pipe.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as both_ways:
            with contextlib.suppress(OSError):  # the worker is gone
                both_ways.shutdown(socket.SHUT_RDWR)
    pipe.close()


def _stop(members: list[tuple[Any, Any]]) -> None:
    """End all workers: those that do not end by themselves are terminated, then killed."""
    processes = [process for process, _ in members]
    for _, pipe in members:
        _hang_up(pipe)
    for end in ("terminate", "kill", ""):
        deadline = time.monotonic() + _GRACE_S
        for process in processes:
            process.join(max(deadline - time.monotonic(), 0))
        processes = [process for process in processes if process.is_alive()]
        if not processes or not end:
            return
        for process in processes:
            getattr(process, end)()
