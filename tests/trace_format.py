"""A checker of the Trace Event format of chrome://tracing and Perfetto, after its description.

Every event has a phase; each phase has fields that must be there, and of which kind.
"""

from __future__ import annotations

from typing import Any

NUMBER = (int, float)
PHASES: dict[str, dict[str, Any]] = {
    "X": {"name": str, "cat": str, "ts": NUMBER, "dur": NUMBER, "pid": int, "tid": int},
    "M": {"name": str, "pid": int, "args": dict},
    "i": {"name": str, "cat": str, "ts": NUMBER, "pid": int, "tid": int, "s": str},
    "C": {"name": str, "ts": NUMBER, "pid": int, "args": dict},
    "s": {"name": str, "cat": str, "id": int, "ts": NUMBER, "pid": int, "tid": int},
    "f": {"name": str, "cat": str, "id": int, "ts": NUMBER, "pid": int, "tid": int},
}


def problems(trace: Any) -> list[str]:
    """What is wrong with a trace in the form of an object; empty if nothing is."""
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        return ["no list `traceEvents`"]
    found = []
    if trace.get("displayTimeUnit", "ms") not in ("ms", "ns"):
        found.append("displayTimeUnit is neither ms nor ns")
    for number, event in enumerate(trace["traceEvents"]):
        found += [f"event {number}: {problem}" for problem in _of_event(event)]
    if found:
        return found
    return _of_nesting(trace["traceEvents"]) + _of_arrows(trace["traceEvents"])


def _of_event(event: Any) -> list[str]:
    if not isinstance(event, dict) or event.get("ph") not in PHASES:
        return ["no known phase"]
    found = []
    for field, kind in PHASES[event["ph"]].items():
        value = event.get(field)
        if not isinstance(value, kind) or isinstance(value, bool):
            found.append(f"{field} is {value!r}")
    if event["ph"] == "X" and not event.get("dur", -1) >= 0:
        found.append("it ends before it begins")
    if event["ph"] == "C" and not all(isinstance(v, NUMBER) for v in event["args"].values()):
        found.append("a counter of something else than numbers")
    return found


def _of_nesting(events: list[dict]) -> list[str]:
    """Spans of one thread lie inside one another or apart: a viewer stacks them."""
    found = []
    spans = [e for e in events if e.get("ph") == "X"]
    enclosing: dict[tuple, list[float]] = {}
    for span in sorted(spans, key=lambda e: (e["ts"], -e["dur"])):
        ends = enclosing.setdefault((span["pid"], span["tid"]), [])
        while ends and ends[-1] <= span["ts"]:
            ends.pop()
        end = span["ts"] + span["dur"]
        if ends and end > ends[-1] + 0.01:  # microseconds; floats have no more digits
            found.append(f"{span['name']} overlaps what it is in")
        ends.append(end)
    return found


def _of_arrows(events: list[dict]) -> list[str]:
    """Every arrow has one start, one end, and a span at each of the two."""
    ends: dict[Any, list[dict]] = {}
    for event in events:
        if event.get("ph") in ("s", "f"):
            ends.setdefault(event["id"], []).append(event)
    starts = {(e["tid"], e["ts"]) for e in events if e.get("ph") == "X"}
    found = []
    for name, pair in ends.items():
        if sorted(e["ph"] for e in pair) != ["f", "s"]:
            found.append(f"arrow {name} has {[e['ph'] for e in pair]}")
        elif min(pair, key=lambda e: e["ts"])["ph"] != "s":
            found.append(f"arrow {name} goes back in time")
        if any((e["tid"], e["ts"]) not in starts for e in pair):
            found.append(f"arrow {name} begins or ends at no span")
    return found
