"""`ranks`: who waits for whom, of the ranks of a run that goes on."""

import time
from datetime import timedelta
from typing import NamedTuple

from tapegrad.core.annotations import Any
from tapegrad.core.errors import value_error


class Rank(NamedTuple):
    """Where a rank is. Without an answer only its number is known, and the rest is None."""

    rank: int
    call: str | None  # the collective or message that it waits for
    line: str | None  # of the user's file
    waited_s: float | None
    waits_for: list[int] | None  # the ranks that have not begun it

    def cells(self) -> list[str]:
        if self.line is None:
            return [str(self.rank), "no answer", "", "", ""]
        if self.call is None:
            return [str(self.rank), "computes", self.line, "", ""]
        others = ", ".join(map(str, self.waits_for or ())) or "the transfer"
        return [str(self.rank), self.call, self.line, f"{self.waited_s:.1f} s", others]


class Ranks(list):
    """A `Rank` for each; prints as a table."""

    def __str__(self) -> str:
        rows = [["rank", "in", "at", "since", "waits for"], *(each.cells() for each in self)]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join(lines)

    __repr__ = __str__


def ranks(address: str | None = None, timeout_s: float = 2.0) -> Ranks:
    """Ask every rank where it is, which it says even while it waits.

    Args:
        address: `host:port` of the run's store, for who is not one of the ranks: `MASTER_ADDR` and
            `MASTER_PORT` of the run. The command line has `python -m tapegrad ranks host:port`.
        timeout_s: How long to wait for the answers; a rank that is stopped, or is in C code that
            holds the interpreter, gives none.

    Returns: A `Rank` for each, which prints as a table.

    Raises:
        ValueError: The address has no port.
        DistBackendError: The ranks share no TCPStore.
        DistNetworkError: Nobody listens at the address.

    >>> from tapegrad.inspect.ranks import Rank, Ranks
    >>> Ranks([Rank(0, "allreduce of 2 float32", "train.py:9", 3.2, [1]),
    ...        Rank(1, None, "train.py:7", None, None)])
    rank  in                      at          since  waits for
    0     allreduce of 2 float32  train.py:9  3.2 s  1
    1     computes                train.py:7
    """
    from tapegrad.distributed import waiting

    limit = timedelta(seconds=timeout_s)
    places = waiting.ask(None if address is None else _store_at(address, limit), limit)
    found = Ranks()
    for rank, there in enumerate(places):
        if there is None:
            found.append(Rank(rank, None, None, None, None))
        elif "call" not in there:
            found.append(Rank(rank, None, there["line"], None, None))
        else:
            others = waiting.missing(places, there)
            waited = time.time() - there["since"]
            found.append(Rank(rank, there["call"], there["line"], waited, others))
    return found


def _store_at(address: str, limit: timedelta) -> Any:
    from tapegrad.distributed.tcp_store import TCPStore

    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise value_error(f"no host and port: {address!r}", "Give MASTER_ADDR:MASTER_PORT.")
    return TCPStore(host, int(port), timeout=limit)
