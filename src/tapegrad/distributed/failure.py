"""A rank that fails ends the run: the others would wait for it.

MPI ends when the interpreter does, and waits there for all ranks; `Abort` does not.
"""

import os
import signal
import sys
import threading
import time

from tapegrad.core.annotations import Any
from tapegrad.distributed import last_words

_marked: Any = None  # the rank whose name tracebacks bear; None before there is a world


def mark_tracebacks(rank: int) -> None:
    """Let the traceback of an error nobody caught say whose it is, line by line, and end the run.

    Where MPI has started several processes it ends them all, with the exit status 1. A process
    that is told to end, as those are whose neighbour was killed, says what it was waiting for.
    """
    global _marked
    first, _marked = _marked is None, rank
    last_words.take_place(rank)
    if not first:
        return
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    ):
        signal.signal(signal.SIGTERM, _told_to_end)
    previous = sys.excepthook

    def hook(*error: Any) -> None:
        from contextlib import redirect_stderr
        from io import StringIO

        with redirect_stderr(StringIO()) as text:
            previous(*error)
        for line in text.getvalue().split("\n"):
            print(f"[rank{_marked}]: {line}" if line else "", file=sys.stderr)
        end_all(1)

    sys.excepthook = hook


def _told_to_end(number: int, frame: Any) -> None:
    """Say what this rank waits for, if it does, and end as without this handler."""
    from tapegrad.distributed import waiting

    if waiting.now is not None:
        work, since = waiting.now
        print(
            f"tapegrad: rank {_marked} was told to end in {work.call}, for which it had waited "
            f"{time.time() - since:.1f} s at {waiting.line_of(frame)}",
            file=sys.stderr,
            flush=True,
        )
    last_words.write("")
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def end_all(status: int, message: str = "") -> None:
    """End the other ranks, and this one with an exit status, if MPI has started any."""
    MPI: Any = getattr(sys.modules.get("mpi4py"), "MPI", None)
    if MPI is None or not MPI.Is_initialized() or MPI.Is_finalized():
        return
    if (size := MPI.COMM_WORLD.size) > 1:
        if message:
            print(message, file=sys.stderr)
        print(f"tapegrad: rank {_marked} of {size} failed and ends the run", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        last_words.write("")
        MPI.COMM_WORLD.Abort(status)
        os._exit(status)  # where others than MPI end the processes, Abort comes back
