"""Who waits for whom: where each rank is and in which collective, told while it waits.

A thread of each rank waits at the `TCPStore` for questions and answers whatever the main thread
does. A collective only notes what is waited for.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from datetime import timedelta

from tapegrad.core.annotations import Any
from tapegrad.core.errors import advised
from tapegrad.distributed.exceptions import DistBackendError, DistError
from tapegrad.distributed.tcp_store import TCPStore

_GRACE_S = 3.0  # in which what a rank has begun before it ended comes to its end
_FOREVER = timedelta(days=10_000)
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARIES = (os.path.dirname(os.path.abspath(os.__file__)), _HERE)

# What this rank waits for, and since when; how many collectives each group has begun, by its ranks.
now: tuple[Any, float] | None = None
begun: dict[str, int] = {}
_store: Any = None
_rank = 0
_left = (0.0, 0)  # when this rank saw first how many have left, and how many


def line_of(frame: Any) -> str:
    """The line of the user's file that a stack is in, as `file.py:12`."""
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(("<", *_LIBRARIES))
        or "site-packages" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def place() -> dict:
    """Where this rank is: its line, and what it waits for."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    found: dict = {"line": "" if frame is None else line_of(frame), "begun": dict(begun)}
    if (waits := now) is not None:
        work, since = waits
        found |= {"call": work.call, "since": since, "group": work.group, "number": work.number}
        found["peers"] = work.peers
    return found


def answer_questions(store: Any, rank: int, size: int) -> None:
    """Have a thread say where this rank is whenever somebody asks the store."""
    global _store, _rank, _left
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    if not isinstance(store, TCPStore):
        return  # the others need files or a process in common, and are polled
    _store, _rank, _left = store, rank, (0.0, 0)
    begun.clear()
    if rank == 0:
        store.set("ranks/size", str(size))
    threading.Thread(target=_answer, args=(store.clone(), rank), daemon=True).start()


def _answer(store, rank):
    for n in range(sys.maxsize):
        try:
            store.wait([f"ranks/question/{n}"], _FOREVER)
            store.set(f"ranks/answer/{n}/{rank}", json.dumps(place()))
        except (DistError, OSError, EOFError):
            return  # the store has gone, and with it the run


def leave() -> None:
    """Tell the others that this rank has ended, and makes no call any more."""
    global _store
    store, _store = _store, None
    if store is not None:
        try:
            store.set(f"ranks/left/{_rank}", "")
            store.add("ranks/left", 1)
        except (DistError, OSError):
            return  # the store has gone, and with it the run


def left(group: str, peers: Sequence[int] | None) -> list[int]:
    """The ranks of a group that ended a while ago; of those with these numbers in it, if given."""
    global _left
    n = 0 if _store is None else _store.add("ranks/left", 0)
    if not n:
        return []
    if _left[1] != n:
        _left = time.monotonic(), n
    if time.monotonic() - _left[0] < _GRACE_S:
        return []
    ranks = [int(r) for r in group.split()]
    ranks = ranks if peers is None else [ranks[r] for r in peers]
    return [r for r in ranks if _store.check([f"ranks/left/{r}"])]


def ask(store: Any = None, limit: timedelta = timedelta(seconds=2)) -> list[dict | None]:
    """Where each rank is; None for those that do not answer in time."""
    store = _store if store is None else store
    if store is None:
        raise advised(
            DistBackendError("the ranks have no TCPStore to be asked through"),
            "init_process_group with env:// or tcp:// makes one.",
        )
    end = time.monotonic() + limit.total_seconds()
    n = store.add("ranks/questions", 1) - 1
    store.set(f"ranks/question/{n}", "")
    found: list[dict | None] = []
    for rank in range(int(store.get("ranks/size"))):
        key = f"ranks/answer/{n}/{rank}"
        try:
            store.wait([key], timedelta(seconds=max(end - time.monotonic(), 0.01)))
            found.append(json.loads(store.get(key)))
        except DistError:
            found.append(None)
    return found


def missing(places: list[dict | None], work: Any) -> list[int]:
    """The ranks that have not begun what `work` waits for."""
    group = [int(r) for r in work["group"].split()]
    if work["peers"] is not None:
        return [group[r] for r in work["peers"]]
    found = []
    for rank in group:
        there = places[rank]
        if there is None or there["begun"].get(work["group"], 0) < work["number"]:
            found.append(rank)
    return found


def explained() -> str:
    """Which ranks the current wait is for, and where they are, as the end of a sentence."""
    if _store is None:
        return ""
    places = ask()
    parts = []
    for rank in missing(places, place()):
        there = places[rank]
        parts.append(f"rank {rank} is at {there['line']}" if there else f"rank {rank} is silent")
    return f": {', '.join(parts)}" if parts else ""
