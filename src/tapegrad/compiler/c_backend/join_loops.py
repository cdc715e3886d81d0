"""Loops that can run as one, made one, where that keeps an array out of memory.

When statements are placed in their order, a loop may stay apart from one that comes later only
because what they both need was computed in between.
"""

from tapegrad.compiler.c_backend.schedule import Segment
from tapegrad.core.annotations import Any


def with_joined_loops(segments: list[Segment], limit: int) -> list[Segment]:
    """The segments, fewer."""
    return _Joining(segments, limit).run()


class _Joining:
    def __init__(self, segments: list[Segment], limit: int):
        self.limit = limit
        self.alive: list[Any] = list(segments)
        self.stands_for = list(range(len(segments)))
        self.users: dict[int, list[int]] = {}
        for at, each in enumerate(segments):
            for buffer in each.buffers if each.kind == "loop" else ():
                self.users.setdefault(buffer, []).append(at)

    def run(self) -> list[Segment]:
        for j in range(len(self.alive)):
            later = self.alive[j]
            if later is None or later.kind != "loop" or not later.shape:
                continue
            near = {i for x in later.buffers for i in self.users[x] if i < j}
            for i in sorted(near, reverse=True):
                self._try(i, j)
                if self.alive[j] is None:
                    break
        return [each for each in self.alive if each is not None]

    def _before(self, at: int) -> dict[int, bool]:
        """What has to run before a segment, by where it is now."""
        found: dict[int, bool] = {}
        for k, joins in self.alive[at].before.items():
            now = self._now(k)
            if now != at:
                found[now] = joins and found.get(now, True)
        return found

    def _now(self, k: int) -> int:
        while self.stands_for[k] != k:
            k = self.stands_for[k]
        return k

    def _try(self, i: int, j: int) -> None:
        earlier, later = self.alive[i], self.alive[j]
        if earlier is None or earlier.shape != later.shape:
            return
        if len(earlier.statements) + len(later.statements) > self.limit:
            return
        before = self._before(j)
        if not before.get(i, True):
            return
        between = [k for k in range(i + 1, j) if self.alive[k] is not None]
        if not any(k in before for k in between):
            self._merge(earlier, later, into=i, gone=j)
        elif not any(i in self._before(k) for k in between):
            self._merge(earlier, later, into=j, gone=i)

    def _merge(self, earlier: Segment, later: Segment, into: int, gone: int) -> None:
        found = Segment("loop", later.shape)
        found.statements = earlier.statements + later.statements
        found.buffers = earlier.buffers | later.buffers
        found.before = dict(earlier.before)
        for k, joins in later.before.items():
            found.before[k] = joins and found.before.get(k, True)
        for x in found.buffers:
            self.users.setdefault(x, []).append(into)
        self.alive[into], self.alive[gone] = found, None
        self.stands_for[gone] = into
