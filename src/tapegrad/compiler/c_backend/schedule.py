"""Fusion: statements into segments, each of which is one loop, product or call.

A statement joins an earlier loop of its shape where nothing that it depends on comes later, and
where what it shares with that loop is read and written element for element in the same place.
"""

from tapegrad.compiler.c_backend.ir import (
    Access,
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
    """Statements that run together: the body of one loop, or one statement of another kind.

    Attributes:
        buffers: of which it reads or writes more than one element
        before: numbers of the segments that have to run before, and whether joining does as well
    """

    __slots__ = ("before", "buffers", "kind", "shape", "statements")

    def __init__(self, kind: str, shape: Any):
        self.kind, self.shape = kind, shape
        self.statements: list[Statement] = []
        self.buffers: set[int] = set()
        self.before: dict[int, bool] = {}

    def __repr__(self) -> str:
        return f"{self.kind} {self.shape} of {len(self.statements)}"

    def add(self, statement: Statement) -> None:
        self.statements.append(statement)
        self.buffers.update(_shared(statement))


def scheduled(statements: list[Statement], limit: int) -> list[Segment]:
    """The segments, in the order in which they run; `limit` is of statements in a loop."""
    schedule = _Schedule(limit)
    for each in statements:
        schedule.place(each)
    return schedule.segments


class _Schedule:
    def __init__(self, limit: int):
        self.limit = limit
        self.segments: list[Segment] = []
        self.reads: dict[int, list[tuple[int, Access, bool]]] = {}  # by buffer
        self.writes: dict[int, list[tuple[int, Access, bool]]] = {}  # True: of a reduction
        self.raising: list[int] = []
        self.last_effect: int | None = None

    def place(self, each: Statement) -> None:
        kind, shape = _kind(each)
        before = self._before(each, kind, shape)
        first = max((at if joins else at + 1 for at, joins in before.items()), default=0)
        at = self._joined(each, kind, shape, first)
        if at is None:
            at = len(self.segments)
            self.segments.append(Segment(kind, shape))
        self.segments[at].add(each)
        for other, joins in before.items():
            if other != at:
                known = self.segments[at].before
                known[other] = joins and known.get(other, True)
        is_reduction = isinstance(each, Reduction)
        for x in each.reads:
            self.reads.setdefault(id(x.buffer), []).append((at, x, False))
        for x in each.writes:
            if x.is_injective:
                self._pass_over(at, x)
            self.writes.setdefault(id(x.buffer), []).append((at, x, is_reduction))
        if each.may_raise:
            self.raising.append(at)
        if each.has_effect:
            self.last_effect = at

    def _before(self, each: Statement, kind: str, shape: Any) -> dict[int, bool]:
        """The segments after which a statement has to run, and whether it can join them."""
        found: dict[int, bool] = {}
        if any(x.buffer.kind == "input" for x in each.writes):
            found.update(dict.fromkeys(self.raising, False))
        if each.has_effect and self.last_effect is not None:
            found[self.last_effect] = False
        for is_write, accesses in ((False, each.reads), (True, each.writes)):
            for x in accesses:
                earlier = self.writes.get(id(x.buffer), ())
                if is_write:
                    earlier = [*earlier, *self.reads.get(id(x.buffer), ())]
                for at, other, reduced in earlier:
                    if not x.overlaps(other):
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
                    found[at] = joins and found.get(at, True)
        return found

    def _pass_over(self, at: int, x: Access) -> None:
        """Forget what earlier segments did with exactly the memory that is written now.

        Who comes after this write comes after them, too.
        """
        for uses in (self.reads, self.writes):
            found = uses.get(id(x.buffer))
            if found:
                found[:] = [use for use in found if use[0] >= at or use[1].key != x.key]

    def _joined(self, each: Statement, kind: str, shape: Any, first: int) -> int | None:
        """The segment to join; None for one of its own."""
        if kind != "loop":
            return None
        buffers = _shared(each)
        for at in range(first, len(self.segments)):
            segment = self.segments[at]
            if segment.kind != "loop" or segment.shape != shape:
                continue
            if len(segment.statements) >= self.limit:
                continue
            if not shape or segment.buffers & buffers:
                return at
        return None


def _shared(each: Statement) -> set[int]:
    """The buffers for whose sake a statement joins a loop: numbers are no reason."""
    return {id(x.buffer) for x in (*each.reads, *each.writes) if any(x.strides)}


def _kind(each: Statement) -> tuple[str, Any]:
    if isinstance(each, (Pointwise, Reduction)):
        return "loop", each.shape
    if isinstance(each, Check):
        return "check", None
    return ("python" if isinstance(each, PythonCall) else "call"), None


def limit_of(statements: list[Statement]) -> int:
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
