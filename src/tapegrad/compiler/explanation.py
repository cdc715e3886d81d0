"""What `explain()` of a compiled function says: its programs and what they hold for."""

from tapegrad.compiler import instructions
from tapegrad.compiler.costs import bytes_of, eager_bytes_of, flops_of
from tapegrad.compiler.parts import is_c
from tapegrad.core.annotations import Any

_MOST = 6  # guards that are shown of each program
_PROGRAMS = 3  # that are shown in full


class Explanation:
    """A report on a compiled function; printed, it is text.

    Attributes:
        name: of the function
        why_not: why it runs as it is, "" where it does not
        programs: for each its figures, a dictionary: `backend`, `operations`, `flops`, `bytes`,
            `guards`, `kernels`, `sizes`, `stores`, `why_again`
    """

    def __init__(self, compiled: Any):
        self.name = compiled._name()
        self.why_not = compiled.why_not
        self.programs = [_figures(entry) for entry in compiled.entries]

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.programs)} programs"]
        if len(self.programs) == 1:
            lines = [f"{self.name}: 1 program"]
        if self.why_not:
            lines.append(f"  It runs as it is: {self.why_not}")
        for i, each in enumerate(self.programs[:_PROGRAMS]):
            lines += [f"  {i + 1}. {each['backend']}", *[f"     {x}" for x in _lines(each)]]
        if len(self.programs) > _PROGRAMS:
            lines.append(f"  and {len(self.programs) - _PROGRAMS} more")
        return "\n".join(lines)

    __repr__ = __str__


def _figures(entry: Any) -> dict[str, Any]:
    parts = [entry.part] + ([entry.joint.part] if entry.joint is not None else [])
    runners = [entry.runner] + ([entry.joint.runner] if entry.joint is not None else [])
    backend = "C" if all(map(is_c, runners)) else "NumPy source"
    why = entry.why_numpy or (entry.joint.why_numpy if entry.joint is not None else "")
    if why:
        backend += f" (no C: {why})"
    guard = entry.guard
    return {
        "backend": backend,
        "operations": sum(len(part.instructions) for part in parts),
        "flops": sum(map(flops_of, parts)),
        "bytes": sum(map(bytes_of, parts)),
        "eager_bytes": sum(map(eager_bytes_of, parts)),
        "kernels": sorted({x.text for part in parts for x in part.instructions if _is_kernel(x)}),
        "guards": sorted([why for _, why in (*guard._always, *guard._modules)], key=_rank),
        "checks": sum(map(instructions.reads_numbers, entry.part.instructions)),
        "writes": [entry.names_of_tensor(e.tensor) for e in entry.recording.effects if e.writes],
        "stores": [x.name for x in entry.recording.stores],
        "backward": entry.joint is not None,
        "actions": len(entry.recording.actions) - len(entry.recording.counts),
        "counts": [guard.called(x.owner, x.key) for x in entry.recording.counts],
        "sizes": sum(getattr(runner, "n_sizes", 0) for runner in runners),
        "why_again": entry.changed or guard.why_not(),
    }


def _lines(x: dict[str, Any]) -> list[str]:
    found = [
        f"{x['operations']} operations, {short(x['flops'])}FLOP; {short(x['bytes'])}B in and "
        f"out, {short(x['eager_bytes'])}B when each operation reads and writes memory"
    ]
    if x["backward"]:
        found.append("forward and backward, one node of the graph")
    if x["kernels"]:
        found.append(f"kernels: {', '.join(x['kernels'])}")
    if x["writes"]:
        found.append(f"writes to {', '.join(x['writes'][:_MOST])}{_rest(x['writes'])}")
    if x["stores"]:
        found.append(f"stores {', '.join(x['stores'][:_MOST])}{_rest(x['stores'])}")
    if x["counts"]:
        found.append(f"counts in {', '.join(x['counts'][:_MOST])}{_rest(x['counts'])}")
    if x["actions"]:
        found.append(f"{x['actions']} functions of Python are called after it: schedules")
    if x["sizes"]:
        found.append(
            f"{x['sizes']} numbers that depend on sizes are arguments: programs for other sizes "
            "have its compiled file"
        )
    if x["checks"]:
        found.append(f"{x['checks']} numbers that Python has read have to be the same again")
    found.append(
        f"holds for arguments of these shapes, dtypes and strides, and while {len(x['guards'])} "
        "things are as they were:"
    )
    found += [f"  {each}" for each in x["guards"][:_MOST]]
    if len(x["guards"]) > _MOST:
        found.append(f"  and {len(x['guards']) - _MOST} more")
    if x["why_again"]:
        found.append(f"did not hold for a later call: {x['why_again']}")
    return found


def _rank(why: str) -> tuple:
    """What to read first: values before identities of objects, and what is near the function."""
    is_of_objects = why.endswith((" entries", " another object", " another one", " no hooks"))
    return is_of_objects, why.endswith(" was None"), why.count("[") + why.count(".")


def _rest(x: list) -> str:
    return f" and {len(x) - _MOST} more" if len(x) > _MOST else ""


def _is_kernel(x: Any) -> bool:
    return x.text.startswith("xp.") or x.text.startswith(("draw.", "make."))


def short(x: float) -> str:
    """Three digits of a figure, and what stands before its unit.

    >>> from tapegrad.compiler.explanation import short
    >>> short(12_300), short(2.5e-6)
    ('12.3 k', '2.5 µ')
    """
    if not x:
        return "0 "
    for unit in ("µ", "m", "", "k", "M", "G"):
        if x * 1e6 < 1000:
            return f"{x * 1e6:.3g} {unit}"
        x /= 1000
    return f"{x * 1e6:.3g} T"
