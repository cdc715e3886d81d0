"""How long a fresh process waits until its step runs as C."""

import json
import subprocess
import sys
import tempfile
from os import environ
from pathlib import Path

from row import CPU, TAPEGRAD, WALL, Bound, Figure, Row

CACHED = "of it with the compiled program on disk"
PROGRAM = """
import importlib, json, resource, sys, time
module, name, library = sys.argv[1:]
torch = importlib.import_module(library)
step = getattr(importlib.import_module(module), name)(torch)

def times():
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN  # os.times() counts hundredths
    used = [resource.getrusage(each) for each in who]
    return sum(x.ru_utime + x.ru_stime for x in used), time.perf_counter()

before = times()
if library == "tapegrad":
    step = torch.compile(step, backend="c", fullgraph=True)
    step()
    step()
    step.wait()
    assert [each["backend"] for each in step.explain().programs] == ["C"]
step()
json.dump([b - a for a, b in zip(before, times())], sys.stdout)
"""


def latency(module, name):
    """A fresh process until the first step by C has run; PyTorch runs its first step as it is."""

    def prepare(torch):
        command = [sys.executable, "-c", PROGRAM, module, name, torch.__name__]

        bytecode = tempfile.TemporaryDirectory()  # what an installed package has

        def measured(cache):
            environment = environ | {
                "TAPEGRAD_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": bytecode.name,
                "PYTHONDONTWRITEBYTECODE": "",
            }  # fmt: skip
            run = subprocess.run(
                command, capture_output=True, text=True, check=True,
                cwd=Path(__file__).parent, env=environment,
            )  # fmt: skip
            return json.loads(run.stdout)

        def step():
            with tempfile.TemporaryDirectory() as cache:
                cpu, wall = measured(cache)
                figures = {CPU: cpu, WALL: wall}
                if torch.__name__ == TAPEGRAD:
                    cpu, wall = measured(cache)
                    figures |= {f"CPU time {CACHED}": cpu, f"wall time {CACHED}": wall}
                return figures

        return step

    return prepare


def _row(name, title, module, work, limit):
    from_cache = f"CPU time {CACHED}"
    return Row(
        f"compile_c_latency_{name}",
        f"{title}: a fresh process until the first step by C has run; PyTorch's first step",
        latency(module, work),
        per="first step",
        repeats=3,
        warmup=1,
        bounds=(
            Bound("CPU time, cache empty, seconds", Figure(TAPEGRAD, CPU), None, limit),
            Bound("CPU time, from the cache, seconds", Figure(TAPEGRAD, from_cache), None, 0.1),
        ),
    )


ROWS = [
    _row("tanh", "4-64-64-2 with Adam", "bench_training", "tanh", 0.5),
    _row("chain", "1,000 multiplications", "bench_compile", "chain", 2.0),
    _row("gpt", "character GPT", "bench_gpt", "gpt", 2.0),
]
