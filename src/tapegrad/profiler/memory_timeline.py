"""`export_memory_timeline`: the bytes of a profile over time, by what they were for.

The files are PyTorch's. `.raw.json.gz` is a list of `[time in ns, action, bytes, category]`;
`.json` is two lists, of times in microseconds and of bytes by category at each of them; `.html` is
a page with the picture of it.
"""

from __future__ import annotations

import json
import time
from html import escape
from typing import Any

from tapegrad.profiler.chrome_trace import open_file
from tapegrad.profiler.memory import CATEGORIES

PREEXISTING, CREATE, DESTROY = 1, 2, 4  # what happened, by the numbers that PyTorch writes
_COLORS = (
    *("darkgreen", "goldenrod", "black", "mediumpurple", "red", "mediumblue", "royalblue"),
    "grey",
)


def export(recorder: Any, path: str, device: str) -> None:
    """Write the timeline of what was recorded into a file, in the form that its name says."""
    timeline = events_of(recorder) if device == "cpu" else []
    if path.endswith(".html"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(page(timeline))
    elif path.endswith("raw.json.gz"):
        _write(timeline, path)
    else:
        _write(sizes_of(timeline), path)


def _write(value: Any, path: str) -> None:
    with open_file(path) as file:
        file.write(json.dumps(value))


def events_of(recorder: Any) -> list[list[int]]:
    """`[time, action, bytes, category]` of each array that was there, came or went."""
    books = recorder.allocations
    since = time.time_ns() - time.perf_counter_ns()
    timeline = [[-1, PREEXISTING, block.n_bytes, block.category] for block in books.before]
    for change in books.changes:
        action = CREATE if change.n_bytes > 0 else DESTROY
        timeline.append([change.time + since, action, change.n_bytes, change.block.category])
    return timeline


def sizes_of(timeline: list[list[int]]) -> list[list]:
    """Times in microseconds, and at each of them nought and the bytes of each category."""
    times: list[int] = []
    sizes: list[list[int]] = []
    now = [0] * (len(CATEGORIES) + 1)
    first = next((at for at, *_ in timeline if at >= 0), -1)
    for at, _, n_bytes, category in timeline:
        before = at < 0
        at = first if before else at
        now = list(now)
        now[category + 1] += n_bytes
        if before and times:
            sizes[-1] = now
        else:
            times.append(at // 1000)
            sizes.append(now)
    return [times, sizes]


def page(timeline: list[list[int]]) -> str:
    """The picture as a page that needs nothing else."""
    from tapegrad.inspect.areas import areas

    times, sizes = sizes_of(timeline)
    start = min(times)
    layers = [
        (name, color, [row[i + 1] for row in sizes])
        for i, (name, color) in enumerate(zip(CATEGORIES, _COLORS, strict=True))
    ]
    peak = max(sum(row) for row in sizes)
    title = f"Max memory allocated: {peak:,} bytes"
    picture = areas(
        layers, places=[at - start for at in times], title=title, below=f"{max(times) - start:,} us"
    )
    return (
        '<html>\n<head><meta charset="utf-8" /><title>Memory Timeline HTML</title></head>\n'
        f"<body>\n<h3>{escape(title)}</h3>\n{picture}\n</body>\n</html>\n"
    )
