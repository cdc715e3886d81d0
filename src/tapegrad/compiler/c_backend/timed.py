"""C that notes when each of its segments has ended, for a profile."""

import ctypes
from time import perf_counter_ns

from tapegrad.core.annotations import Any

START = "const int64_t start = tg_now();"
"""The first line of a part."""


def declarations(n: int) -> str:
    """The clock, and the table of nanoseconds since the start of their part of `n` segments."""
    return f"""\
#include <time.h>
int64_t ticks[{max(n, 1)}];
static int64_t tg_now(void) {{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}}
"""


def note(segment: int) -> str:
    """The line behind a segment."""
    return f"ticks[{segment}] = tg_now() - start;"


def bind(scope: dict[str, Any], library: Any, n: int) -> None:
    """Give a driver the table, a clock, and the list of when segments have ended."""
    ticks = (ctypes.c_int64 * max(n, 1)).in_dll(library, "ticks")
    scope.update(ticks=ticks, clock=perf_counter_ns, ends=[])
