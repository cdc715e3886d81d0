"""`tapegrad profile SCRIPT`: a script runs under the profiler, its trace goes to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def profile_script(script: str, output: str, args: Sequence[str] = (), rows: int = 20) -> int:
    """Run the file `script` as `python -m tapegrad run` does, under a profiler.

    At its end, be it an error, the trace is written to `output` and the operators that took most
    time are printed on standard error. The result is the exit status, 2 if there is no
    folder for `output`.
    """
    from tapegrad.compat.script import run
    from tapegrad.profiler import profile

    folder = os.path.dirname(os.path.abspath(output))
    if not os.path.isdir(folder):  # said before the script runs, which may take long
        print(f"tapegrad: can't write {output!r}: there is no folder {folder!r}", file=sys.stderr)
        return 2
    prof = profile()
    try:
        with prof:
            return run(script, args)
    finally:
        if prof.events():
            prof.export_chrome_trace(output)
            table = prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=rows)
            print(table, file=sys.stderr)
            print(f"{len(prof.events())} events in {output}: open it in", file=sys.stderr)
            print("https://ui.perfetto.dev or chrome://tracing", file=sys.stderr)
