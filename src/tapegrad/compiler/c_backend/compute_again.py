"""Less memory: what is cheap to compute is computed again where it is needed late.

Between a forward pass and its derivative many results wait in memory. One that a single loop makes
of what waits anyway, such as an activation or a copy in another layout, need not wait: it is made
once more, before its first late reader. Only large programs do so, and only where their most memory
at once becomes less.
"""

from functools import partial
from itertools import accumulate

from tapegrad.compiler.c_backend.ir import Access, Buffer, Pointwise, PythonCall
from tapegrad.compiler.c_backend.replace import replaced
from tapegrad.compiler.c_backend.schedule import Segment
from tapegrad.core.annotations import Any

_LARGE = 1 << 24  # bytes at once: below it there is nothing to be gained
_STEPS = 8  # statements that make a result once more
_SHARE = 128  # of what a program takes at once: a result that is smaller waits


class _Life:
    """A buffer in memory: who writes and who reads it, by numbers of segments.

    Attributes:
        maker: the one statement that writes it; None where there are several
        pieces: when it is in memory, first and last segment
    """

    def __init__(self, buffer: Buffer):
        self.buffer, self.maker = buffer, None  # type: tuple[Buffer, Any]
        self.low = self.high = 0
        self.written: list[tuple[int, int]] = []  # segment, and place in it
        self.uses: list[int] = []
        self.pieces: list[tuple[int, int]] = []
        self.is_pinned = False  # something is made of it once more

    @property
    def size(self) -> int:
        return self.high - self.low

    def use(self, at: int, x: Access) -> None:
        self.low, self.high = min(self.low, x.span[0]), max(self.high, x.span[1])
        if not self.uses or self.uses[-1] != at:
            self.uses.append(at)


class _Plan:
    """A result that is made once more by `steps`, a part of its loop, before segment `reader`."""

    def __init__(self, life: _Life, reader: int, steps: list[_Life]):
        self.life, self.reader, self.steps = life, reader, steps


def with_less_memory(
    segments: list[Segment], stored: dict[int, set[int]], outputs: list[Access]
) -> list[Segment]:
    """The segments, some of their results computed twice; the list itself where none is."""
    lives = _lives(segments)
    mine = _waiting(lives, stored, outputs)
    most, at = _peak(mine, len(segments))
    if most < _LARGE:
        return segments
    plans: list[_Plan] = []
    least, n_best = most, 0
    while True:
        found = _candidate(segments, lives, mine, at, most // _SHARE)
        if found is None:
            break
        plans.append(found)
        _cut(lives, found)
        now, at = _peak(mine, len(segments))
        if now < least:
            least, n_best = now, len(plans)
    return _applied(segments, plans[:n_best]) if n_best else segments


def _lives(segments: list[Segment]) -> dict[int, _Life]:
    lives: dict[int, _Life] = {}
    for at, segment in enumerate(segments):
        for place, each in enumerate(segment.statements):
            for x in each.reads:
                lives.setdefault(id(x.buffer), _Life(x.buffer)).use(at, x)
            for x in each.writes:
                life = lives.setdefault(id(x.buffer), _Life(x.buffer))
                life.maker = each if not life.written else None
                life.written.append((at, place))
                life.use(at, x)
    return lives


def _waiting(lives: dict[int, _Life], stored: dict[int, set[int]], outputs: list) -> list[_Life]:
    """The buffers for which the arena has a place."""
    given = {id(x.buffer) for x in outputs}
    in_memory = set().union(*stored.values())
    found = []
    for key, life in lives.items():
        is_loops = isinstance(life.maker, Pointwise)
        if life.buffer.kind == "memory" and key not in given and (key in in_memory or not is_loops):
            life.pieces = [(life.uses[0], life.uses[-1])]
            found.append(life)
    return found


def _peak(mine: list[_Life], n: int) -> tuple[int, int]:
    """The most bytes at once, and where."""
    change = [0] * (n + 1)
    for life in mine:
        for first, last in life.pieces:
            change[first] += life.size
            change[last + 1] -= life.size
    return max([(size, at) for at, size in enumerate(accumulate(change[:n]))], default=(0, 0))


def _candidate(
    segments: list[Segment], lives: dict[int, _Life], mine: list[_Life], peak: int, least: int
) -> _Plan | None:
    """A large result that waits while the most memory is taken, to be made anew after that."""
    found = None
    for life in mine:
        if life.size < least or life.is_pinned or len(life.pieces) > 1:
            continue
        first, last = life.pieces[0]
        if not first < peak < last or peak in life.uses:
            continue
        if any(isinstance(segments[at].statements[0], PythonCall) for at in life.uses):
            continue
        if found is None or life.size > found.life.size:
            reader = next(at for at in life.uses if at > peak)
            steps = _steps(lives, life, reader)
            if steps is not None:
                found = _Plan(life, reader, steps)
    return found


def _steps(lives: dict[int, _Life], life: _Life, reader: int) -> list[_Life] | None:
    """What of its loop makes a result of what is in memory until `reader` anyway.

    None where that does not suffice, or where it is long.
    """
    steps, waiting = [life], [life]
    while waiting:
        made = waiting.pop().maker
        if not isinstance(made, Pointwise) or not made.out.is_injective or len(steps) > _STEPS:
            return None
        for x in made.reads:
            given = lives[id(x.buffer)]
            if given in steps or _is_there(given, life, reader):
                continue
            if not given.written or given.written[0][0] != life.written[0][0]:
                return None
            steps.append(given)
            waiting.append(given)
    return sorted(steps, key=lambda each: each.written)


def _is_there(given: _Life, life: _Life, reader: int) -> bool:
    """Whether what a result was made of is still in memory at `reader`, and as it was."""
    if any(place > life.written[0] and place[0] <= reader for place in given.written):
        return False
    if given.buffer.kind in ("input", "constant"):
        return True
    return len(given.pieces) == 1 and given.pieces[0][1] >= reader


def _cut(lives: dict[int, _Life], plan: _Plan) -> None:
    """Say that a result is gone between its last reader before `reader` and that one."""
    life = plan.life
    first, last = life.pieces[0]
    before = max(at for at in life.uses if at < plan.reader)
    life.pieces = [(first, before), (plan.reader, last)]
    for step in plan.steps:
        for x in step.maker.reads:
            lives[id(x.buffer)].is_pinned = True


def _applied(segments: list[Segment], plans: list[_Plan]) -> list[Segment]:
    """The segments with the loops of the plans before their readers, which read what these make."""
    new: dict[int, list[Segment]] = {}
    for plan in plans:
        old = [step.buffer for step in plan.steps]
        anew = {id(x): Buffer("memory", f"{x.name}_again", x.dtype, x.value) for x in old}

        made = [_copied(step.maker) for step in plan.steps]
        segment = Segment("loop", made[-1].shape)
        for each in made:
            segment.add(replaced(each, partial(_instead, anew), writes=True))
        new.setdefault(plan.reader, []).append(segment)
        last = id(plan.life.buffer)
        anew = {last: anew[last]}
        for at in plan.life.uses:
            if at >= plan.reader:
                for statement in segments[at].statements:
                    replaced(statement, partial(_instead, anew))
    found: list[Segment] = []
    for at, segment in enumerate(segments):
        found += [*new.get(at, ()), segment]
    return found


def _instead(anew: dict[int, Buffer], x: Any) -> Any:
    """An access, of the new buffer where there is one."""
    buffer = anew.get(id(x.buffer)) if isinstance(x, Access) else None
    if buffer is None:
        return x
    return Access(buffer, x.offset, x.shape, x.strides, x.dtype, x.weak)


def _copied(x: Any) -> Pointwise:
    found = Pointwise(x.expression, x.args, x.types, x.result, x.out, x.function, x.line)
    found.origin = x.origin
    return found
