"""Fusion: statements into segments, each of which is one loop, product or call.

A statement joins an earlier loop of its shape where nothing that it depends on comes later, and
where what it shares with that loop is read and written element for element in the same place.
"""

from tapegrad.compiler.c_backend.ir import (
    Access,
    Buffer,
    Check,
    Pointwise,
    PythonCall,
    Reduction,
    Statement,
)
from tapegrad.core.annotations import Any

MOST_STATEMENTS = 64
"""In a loop: with more, compilers take long and registers do not suffice."""


class Segment:
    """Statements that run together: the body of one loop, or one statement of another kind."""

    __slots__ = ("buffers", "kind", "shape", "statements")

    def __init__(self, kind: str, shape: Any):
        self.kind, self.shape = kind, shape
        self.statements: list[Statement] = []
        self.buffers: set[int] = set()

    def __repr__(self) -> str:
        return f"{self.kind} {self.shape} of {len(self.statements)}"

    def add(self, statement: Statement) -> None:
        self.statements.append(statement)
        self.buffers.update(id(x.buffer) for x in (*statement.reads, *statement.writes))


def scheduled(statements: list[Statement]) -> list[Segment]:
    """The segments, in the order in which they run."""
    schedule = _Schedule(_limit(statements))
    for each in statements:
        schedule.place(each)
    return schedule.segments


class _Schedule:
    def __init__(self, limit: int):
        self.limit = limit
        self.segments: list[Segment] = []
        self.uses: dict[int, list[tuple[int, Access, bool, bool]]] = {}
        self.last_raise = self.last_effect = -1

    def place(self, each: Statement) -> None:
        kind, shape = _kind(each)
        first = self._earliest(each, kind, shape)
        at = self._joined(each, kind, shape, first)
        if at is None:
            at = len(self.segments)
            self.segments.append(Segment(kind, shape))
        self.segments[at].add(each)
        is_reduction = isinstance(each, Reduction)
        for x in each.reads:
            self.uses.setdefault(id(x.buffer), []).append((at, x, False, False))
        for x in each.writes:
            uses = self.uses.setdefault(id(x.buffer), [])
            uses.append((at, x, True, is_reduction))
        if each.may_raise:
            self.last_raise = max(self.last_raise, at)
        if each.has_effect:
            self.last_effect = at

    def _earliest(self, each: Statement, kind: str, shape: Any) -> int:
        """The first segment in which a statement may be."""
        first = 0
        if any(x.buffer.kind == "input" for x in each.writes):
            first = self.last_raise + 1
        if each.has_effect:
            first = max(first, self.last_effect + 1)
        for is_write, accesses in ((False, each.reads), (True, each.writes)):
            for x in accesses:
                for at, other, wrote, reduced in self.uses.get(id(x.buffer), ()):
                    if at < first or not (wrote or is_write) or not x.overlaps(other):
                        continue
                    joins = (
                        kind == "loop"
                        and self.segments[at].kind == "loop"
                        and self.segments[at].shape == shape
                        and not reduced
                        and not (is_write and isinstance(each, Reduction))
                        and x.key == other.key
                        and x.is_injective
                    )
                    first = max(first, at if joins else at + 1)
        return first

    def _joined(self, each: Statement, kind: str, shape: Any, first: int) -> int | None:
        """The segment to join; None for one of its own."""
        if kind != "loop":
            return None
        buffers = {id(x.buffer) for x in (*each.reads, *each.writes)}
        for at in range(first, len(self.segments)):
            segment = self.segments[at]
            if segment.kind != "loop" or segment.shape != shape:
                continue
            if len(segment.statements) >= self.limit:
                continue
            if not shape or segment.buffers & buffers:
                return at
        return None


def _kind(each: Statement) -> tuple[str, Any]:
    if isinstance(each, (Pointwise, Reduction)):
        return "loop", each.shape
    if isinstance(each, Check):
        return "check", None
    return ("python" if isinstance(each, PythonCall) else "call"), None


def _limit(statements: list[Statement]) -> int:
    """Statements in a loop: whole periods, where a computation repeats itself.

    Loops that begin at the same place of a period are the same C function, compiled once.
    """
    texts = [x.expression if isinstance(x, Pointwise) else "" for x in statements]
    if len(texts) <= MOST_STATEMENTS:
        return MOST_STATEMENTS
    middle = len(texts) // 2
    window = texts[middle : middle + MOST_STATEMENTS]
    for period in range(1, MOST_STATEMENTS // 2 + 1):
        n = len(window) - period
        if n > 0 and all(window[i] == window[i + period] for i in range(n)):
            return MOST_STATEMENTS // period * period
    return MOST_STATEMENTS


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
