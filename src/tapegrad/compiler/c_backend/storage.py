"""Which results a loop writes to memory: the others stay in registers."""

from tapegrad.compiler.c_backend.ir import Access, Buffer, Reduction
from tapegrad.compiler.c_backend.schedule import Segment
from tapegrad.core.annotations import Any


def stored(segments: list[Segment], outputs: list[Access]) -> dict[int, set[int]]:
    """For each loop, the buffers that it has to write to memory: those that others read."""
    kept = {id(x.buffer) for x in outputs}
    readers: dict[int, set[int]] = {}
    for at, segment in enumerate(segments):
        for each in segment.statements:
            for x in each.reads:
                readers.setdefault(id(x.buffer), set()).add(at)
    found: dict[int, set[int]] = {}
    for at, segment in enumerate(segments):
        found[at] = set()
        for each in segment.statements:
            for x in each.writes:
                if _is_stored(x.buffer, at, kept, readers) or isinstance(each, Reduction):
                    found[at].add(id(x.buffer))
        _add_unforwarded(segment, found[at])
    return found


def _is_stored(buffer: Buffer, at: int, kept: set[int], readers: dict[int, set[int]]) -> bool:
    if buffer.kind != "memory" or id(buffer) in kept:
        return True
    return bool(readers.get(id(buffer), set()) - {at})


def _add_unforwarded(segment: Segment, found: set[int]) -> None:
    """Buffers of a loop that it reads itself in another way than it wrote them."""
    written: dict[int, Any] = {}
    for each in segment.statements:
        for x in each.reads:
            if id(x.buffer) in written and written[id(x.buffer)] != x.key:
                found.add(id(x.buffer))
        for x in each.writes:
            written[id(x.buffer)] = x.key
