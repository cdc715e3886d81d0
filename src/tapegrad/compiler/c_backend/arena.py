"""Memory for intermediate results: one block, in which places are used again."""

from tapegrad.compiler.c_backend.ir import Access, Buffer, Call
from tapegrad.compiler.c_backend.schedule import Segment
from tapegrad.core.annotations import Any

ALIGNMENT = 64
_LARGE = 1 << 16  # bytes of a buffer whose place is looked for by its size
_MOST = 1 << 10  # of them: it takes a comparison with each other one


class Layout:
    """Where buffers lie.

    Attributes:
        offsets: id of a buffer -> bytes from the start of the arena to its first element
        size: of the arena in bytes
        results: the buffers in which results are made
        scratch: id of a call of C -> bytes from the start of the arena to its scratch memory
    """

    def __init__(self) -> None:
        self.offsets: dict[int, int] = {}
        self.size = 0
        self.results: list[Buffer] = []
        self.scratch: dict[int, int] = {}


def laid_out(segments: list[Segment], stored: dict[int, set[int]], outputs: list[Access]) -> Layout:
    """Give every buffer that is in memory its place."""
    layout = Layout()
    results = {id(x.buffer): x.buffer for x in outputs if x.buffer.kind == "memory"}
    layout.results = list(results.values())
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    buffers: dict[int, Buffer] = {}
    for at, segment in enumerate(segments):
        for each in segment.statements:
            for x in (*each.reads, *each.writes):
                buffer = x.buffer
                buffer.low = min(buffer.low, x.span[0])
                buffer.high = max(buffer.high, x.span[1])
                if buffer.kind != "memory" or id(buffer) in results:
                    continue
                if segment.kind != "loop" or id(buffer) in stored[at] or id(buffer) in buffers:
                    buffers[id(buffer)] = buffer
                    first.setdefault(id(buffer), at)
                    last[id(buffer)] = at
    for x in outputs:
        buffer = x.buffer
        buffer.low, buffer.high = min(buffer.low, x.span[0]), max(buffer.high, x.span[1])
    large = [x for x in buffers.values() if x.high - x.low >= _LARGE]
    if len(large) <= _MOST:
        _place_large(layout, large, first, last)
        buffers = {key: x for key, x in buffers.items() if x.high - x.low < _LARGE}
    _place(layout, buffers, first, last, len(segments))
    _place_scratch(layout, segments)
    return layout


def _place_scratch(layout: Layout, segments: list[Segment]) -> None:
    """Behind all else: calls run one after another."""
    layout.size += -layout.size % ALIGNMENT
    most = 0
    for segment in segments:
        each = segment.statements[0]
        if isinstance(each, Call) and each.scratch:
            layout.scratch[id(each)] = layout.size
            most = max(most, each.scratch)
    layout.size += most


def _place_large(layout: Layout, buffers: list[Buffer], first: Any, last: Any) -> None:
    """The largest first: each as low as those allow that are in memory at a time with it."""
    placed: list[tuple[int, int, int, int]] = []  # first and last use, where it begins and ends
    for each in sorted(buffers, key=lambda x: (x.low - x.high, first[id(x)])):
        begin, end = first[id(each)], last[id(each)]
        size = _rounded(each.high - each.low)
        offset = 0
        for low, high in sorted([x[2:] for x in placed if x[0] <= end and begin <= x[1]]):
            if low - offset >= size:
                break
            offset = max(offset, high)
        placed.append((begin, end, offset, offset + size))
        layout.offsets[id(each)] = offset - each.low
        layout.size = max(layout.size, offset + size)


def _place(layout: Layout, buffers: Any, first: Any, last: Any, n: int) -> None:
    """First fit, from the first use of each buffer to its last."""
    starts: list[list[int]] = [[] for _ in range(n)]
    ends: list[list[int]] = [[] for _ in range(n)]
    for key in buffers:
        starts[first[key]].append(key)
        ends[last[key]].append(key)
    free: list[tuple[int, int]] = []  # (offset, size)
    taken: dict[int, tuple[int, int]] = {}
    for at in range(n):
        for key in starts[at]:
            buffer = buffers[key]
            size = _rounded(buffer.high - buffer.low)
            offset = _taken(free, size)
            if offset is None:
                offset = layout.size + (-layout.size % ALIGNMENT if size >= ALIGNMENT else 0)
                if offset > layout.size:
                    free.append((layout.size, offset - layout.size))
                layout.size = offset + size
            taken[key] = offset, size
            layout.offsets[key] = offset - buffer.low
        for key in ends[at]:
            free.append(taken[key])
        free = _merged(free)


def _rounded(size: int) -> int:
    """A multiple of the alignment; what is small shares a line of the cache with others."""
    unit = ALIGNMENT if size > ALIGNMENT // 2 else 16
    return -(-size // unit) * unit


def _taken(free: list[tuple[int, int]], size: int) -> int | None:
    """A place in the smallest gap that suffices; what is large begins at a line of the cache."""
    unit = ALIGNMENT if size >= ALIGNMENT else 16
    fitting = [each for each in free if each[1] >= size + -each[0] % unit]
    if not fitting or not size:
        return None
    offset, n = found = min(fitting, key=lambda each: each[1])
    free.remove(found)
    start = offset + -offset % unit
    if start > offset:
        free.append((offset, start - offset))
    if offset + n > start + size:
        free.append((start + size, offset + n - start - size))
    return start


def _merged(free: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for offset, size in sorted(free):
        if found and found[-1][0] + found[-1][1] == offset:
            found[-1] = found[-1][0], found[-1][1] + size
        else:
            found.append((offset, size))
    return found
