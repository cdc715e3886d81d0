"""A compiled function in a profile: each part of its program is an event.

The program is built once more, with a clock between its parts, when a profile first sees it.
"""

import functools
import threading
import warnings
from time import perf_counter_ns

from tapegrad.compiler.c_backend.toolchain import CompilerMissing
from tapegrad.compiler.parts import Part, is_c, parts_as_they_run
from tapegrad.core.annotations import Any, Callable
from tapegrad.profiler.recorder import RECORDER, Recorder


def time_parts(entry: Any) -> None:
    """Have the programs of an `Entry` tell the profile that is on when their parts run."""
    for owner, program, outputs in _programs(entry):
        plain = owner.runner
        if hasattr(plain, "is_timed"):
            continue
        try:
            timed = _timed(owner, plain, program, outputs, entry.names)
        except CompilerMissing as error:  # the plain one came from the cache
            plain.is_timed = False  # once is enough
            text = f"a profile does not show the parts of a compiled program: {error}"
            warnings.warn(text, UserWarning, stacklevel=4)
            continue
        if owner.runner is plain:  # no C has come in its place
            owner.runner = timed


def _programs(entry: Any) -> list[tuple]:
    found = [(entry, entry.part, entry.outputs)]
    if entry.joint is not None:
        found.append((entry.joint, entry.joint.part, entry.joint.gradients))
    return found


def _timed(owner: Any, plain: Any, program: Any, outputs: list, names: dict[int, str]) -> Callable:
    """A runner that notes events; where no profile listens any more, the plain one comes back."""
    if is_c(plain):
        from tapegrad.compiler.c_backend import build
    else:
        from tapegrad.compiler.numpy_backend import build
    timed: Any = build(program, outputs, names=names, is_timed=True)
    parts = [
        (f"{part.kind}: {part.name}", part)
        for part in parts_as_they_run(plain, program, outputs, names).parts
    ]

    lock = threading.Lock()  # there is one list of ends

    @functools.wraps(plain)
    def run(*inputs: Any) -> tuple:
        recorder = RECORDER.get()
        if recorder is None or not recorder.on:
            if owner.runner is run:
                owner.runner = plain
            return plain(*inputs)
        with lock:
            timed.ends.clear()
            start = perf_counter_ns()
            results = timed(*inputs)
            _note(recorder, parts, start, timed.ends)
        return results

    run.is_timed = True  # type: ignore[attr-defined]
    return run


def _note(recorder: Recorder, parts: list[tuple[str, Part]], start: int, ends: list[int]) -> None:
    """An event for each part."""
    for (name, part), end in zip(parts, ends, strict=True):
        record = recorder.push(name)
        record.start, record.end, record.flops = start, end, part.flops
        if recorder.shapes:
            record.inputs = [list(x.shape) for x in part.reads]
        start = end
