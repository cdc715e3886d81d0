"""One library doing one row, in a process of its own.

    python worker.py ROW LIBRARY

Reads a line, does one step, writes its figures as a line of JSON; ends when its input ends.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from importlib import metadata
from time import perf_counter, process_time

from memory import Peak
from row import CPU, PEAK, TAPEGRAD, WALL, Row
from table import ROWS


def pin_to_one_core() -> bool:
    """Keep this process and its children on one core; False where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return True


def measure(row: Row, step) -> dict[str, float]:
    """The figures of one step, with the garbage of earlier ones out of the way."""
    gc.collect()
    wall, cpu = perf_counter(), process_time()
    figures = step()
    cpu, wall = process_time() - cpu, perf_counter() - wall
    if figures is None:
        figures = {CPU: cpu / row.count, WALL: wall / row.count}
    return figures


def serve(row: Row, library: str) -> None:
    pinned = row.pinned and pin_to_one_core()
    try:
        module = importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        print(json.dumps({"absent": f"{library} is not installed"}), flush=True)
        return
    if row.pinned and hasattr(module, "set_num_threads"):
        module.set_num_threads(1)
    step = row.work(library)(module)
    peak = Peak() if row.peak and Peak.is_known() else None
    if row.native and library == TAPEGRAD:
        module.backends.native.enabled = True
        step()
        module.backends.native.wait()
    for _ in range(row.warmup):
        step()
    version = getattr(module, "__version__", None) or metadata.version(library)
    about = {"version": version, "pinned": pinned}
    print(json.dumps(about), flush=True)
    for _ in sys.stdin:
        figures = measure(row, step)
        if peak is not None:
            figures[PEAK] = peak.bytes()
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    serve(ROWS[sys.argv[1]], sys.argv[2])
