"""Compare tapegrad with PyTorch and with NumPy by hand, and say which bounds are met.

    python benchmarks/run.py [--only REGEX] [--repeats N] [--without LIBRARY] [--json FILE]
    python benchmarks/run.py --against PATH [--only REGEX]

With `--against`, tapegrad as it is here is compared with the checkout at PATH, interleaved, and no
row may be slower than 1.03 of it. The exit status is 0 if no row failed and every bound that could
be measured is met.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from pathlib import Path

from contest import Result, WorkerFailed, hold
from row import (
    BEFORE,
    CLOCKS,
    JAX,
    LIBRARIES,
    NUMPY,
    TAPEGRAD,
    TITLES,
    TORCH,
    Bound,
    Figure,
    Row,
    ratio,
)
from table import ROWS

LABEL = 60  # columns
SLOWER = 1.03  # times what the checkout before took
BUSY = 0.5  # processes that want a core, for each core


def quantity(name: str, value: float) -> str:
    if "bytes" in name:
        return f"{value / 2**20:.3g} MiB" if value >= 2**20 else f"{value:.0f} B"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def print_figures(result: Result) -> None:
    """A line for each figure, a column for each library."""
    clocks = {clock: f"{title} per {result.row.per}" for clock, title in CLOCKS.items()}
    columns = list(result.about)
    print(" " * (3 + LABEL) + "".join(f"{TITLES[name]:>14}" for name in columns))
    names = dict.fromkeys(n for samples in result.samples.values() for n in samples[0])
    for name in sorted(names, key=lambda n: n != result.row.clock):
        figures = [Figure(library, name) for library in columns]
        cells = [quantity(name, result.median(f)) if result.has(f) else "-" for f in figures]
        label = clocks.get(name, name)
        print(f"   {label:<{LABEL}}" + "".join(f"{cell:>14}" for cell in cells))
    for about in result.about.values():
        if "absent" in about:
            print(f"   {about['absent']}")


def print_ratios(result: Result) -> list[dict]:
    """The ratios of a row, bounds first; returns what was said of the bounds."""
    row, verdicts = result.row, []
    for bound in bounds_before(result) if BEFORE in result.about else row.bounds:
        value = result.value(bound)
        met = None if value is None else value <= bound.limit
        word = {None: "not measured", True: "met", False: "MISSED"}[met]
        shown = "-" if value is None else f"{value:.3g}"
        best = best_rounds(result, bound)
        print(f"   {bound.what:<{LABEL}}{shown:>14}   at most {bound.limit:g}: {word}{best}")
        verdicts.append({"what": bound.what, "value": value, "limit": bound.limit, "met": met})
    bounded = {(b.of, b.over) for b in row.bounds}
    for other in (TORCH, NUMPY, JAX):
        bound = ratio(other, 0.0, row.clock)
        if (bound.of, bound.over) not in bounded and result.value(bound) is not None:
            value = result.value(bound)
            print(f"   {bound.what:<{LABEL}}{value:>14.3g}{best_rounds(result, bound)}")
    return verdicts


def best_rounds(result: Result, bound: Bound) -> str:
    """The same of each library's fastest round, which other work on the machine disturbs least."""
    if bound.over is None or result.value(bound) is None:
        return ""
    return f"   (fastest rounds: {result.best(bound.of) / result.best(bound.over):.3g})"


def bounds_before(result: Result) -> list[Bound]:
    """The bounds on a row against another checkout: its clock, or all times that it measures."""
    row, names = result.row, result.samples[TAPEGRAD][0]
    if row.clock in names:
        return [ratio(BEFORE, SLOWER, row.clock)]
    return [
        Bound(
            f"tapegrad / before, {name.strip()}",
            Figure(TAPEGRAD, name),
            Figure(BEFORE, name),
            SLOWER,
        )
        for name in names
        if "bytes" not in name
    ]


def compared(row: Row, before: Path, repeats: int | None) -> Result:
    """A row here and in another checkout; once more with three times the rounds if it is slower."""
    libraries = [TAPEGRAD, BEFORE]
    result = hold(row, libraries, repeats, before)
    values = [result.value(bound) for bound in bounds_before(result)]
    if any(value is not None and value > SLOWER for value in values):
        result = hold(row, libraries, 3 * (repeats or row.repeats), before)
    return result


def machine() -> dict:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": load,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name matches this expression")
    parser.add_argument("--repeats", type=int, help="rounds for each row, instead of its own")
    parser.add_argument("--without", action="append", default=[], choices=LIBRARIES)
    parser.add_argument("--against", type=Path, help="a checkout of tapegrad to compare with")
    parser.add_argument("--json", type=Path, help="write every sample to this file")
    options = parser.parse_args()
    libraries = [name for name in LIBRARIES if name not in options.without]
    about = machine()
    print(f"Python {about['python']}, {about['cores']} cores, load {about['load']}")
    if about["load"] is not None and about["load"] > BUSY * about["cores"]:
        print("The machine is busy: rows that use all cores will say little.")
    record: dict = {"machine": about, "rows": {}}
    failed = 0
    for number, row in enumerate(ROWS.values(), 1):
        if not re.search(options.only, row.name):
            continue
        where = "one core" if row.pinned else "all cores"
        print(f"\n{number}. {row.name}: {row.title} ({where})", flush=True)
        try:
            if options.against is not None:
                result = compared(row, options.against.resolve(), options.repeats)
            else:
                result = hold(row, libraries, options.repeats)
        except WorkerFailed as error:
            print(f"   FAILED: {error}")
            failed += 1
            continue
        print_figures(result)
        verdicts = print_ratios(result)
        record["rows"][row.name] = {
            "about": result.about,
            "samples": result.samples,
            "bounds": verdicts,
        }
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    missed = [v for row in record["rows"].values() for v in row["bounds"] if v["met"] is False]
    print(f"\n{len(missed)} bounds missed" if missed else "\nno bound missed")
    if failed:
        print(f"{failed} rows could not be measured")
    return 1 if missed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
