"""A contest: the workers of one row, asked for a sample in turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from row import BEFORE, TAPEGRAD, Bound, Figure, Row

HERE = Path(__file__).resolve().parent
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


ONE_THREAD_OF_XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


class WorkerFailed(RuntimeError):
    """A worker ended before its time; its own error is on the terminal."""


class Worker:
    """A process that holds one library ready for one row."""

    def __init__(self, row: Row, library: str, checkout: Path = HERE.parent) -> None:
        source = str(checkout / "src")
        path = os.environ.get("PYTHONPATH")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([source, path] if path else [source])
        }
        for name in ONE_THREAD:
            environment.pop(name, None)
        if row.pinned:
            environment |= ONE_THREAD
            flags = f"{environment.get('XLA_FLAGS', '')} {ONE_THREAD_OF_XLA}"
            environment["XLA_FLAGS"] = flags.strip()
        imported = TAPEGRAD if library == BEFORE else library
        command = [sys.executable, str(HERE / "worker.py"), row.name, imported]
        self.name = f"{library} in row {row.name}"
        self.process = subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.about = self._answer()

    def sample(self) -> dict[str, float]:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise WorkerFailed(f"{self.name} ended with status {self.process.wait()}")
        return json.loads(line)


class Result:
    """What a row's contest gave: for each library its samples, the first of each taken together."""

    def __init__(self, row: Row, about: dict[str, dict], samples: dict[str, list[dict]]) -> None:
        self.row, self.about, self.samples = row, about, samples

    def has(self, figure: Figure) -> bool:
        samples = self.samples.get(figure.library)
        return bool(samples) and figure.name in samples[0]

    def median(self, figure: Figure) -> float:
        return median(sample[figure.name] for sample in self.samples[figure.library])

    def best(self, figure: Figure) -> float:
        return min(sample[figure.name] for sample in self.samples[figure.library])

    def ratio(self, of: Figure, over: Figure) -> float:
        """The median of `of / over` within a round: what drifts on the machine cancels."""
        pairs = zip(self.samples[of.library], self.samples[over.library], strict=True)
        return median(a[of.name] / b[over.name] for a, b in pairs)

    def value(self, bound: Bound) -> float | None:
        """What is compared with the limit of `bound`; None where a library is absent."""
        if not self.has(bound.of) or (bound.over is not None and not self.has(bound.over)):
            return None
        if bound.over is None:
            return max(sample[bound.of.name] for sample in self.samples[bound.of.library])
        return self.ratio(bound.of, bound.over)


def hold(row: Row, libraries: list[str], repeats: int | None, before: Path | None = None) -> Result:
    """Run `row` for all libraries, one sample of each in turn, `repeats` rounds.

    `before` is the checkout of tapegrad that the library `BEFORE` stands for.
    """
    libraries = [name for name in libraries if row.work(name) is not None]
    workers: dict[str, Worker] = {}
    try:
        for name in libraries:
            checkout = before if name == BEFORE and before is not None else HERE.parent
            workers[name] = Worker(row, name, checkout)
        about = {name: worker.about for name, worker in workers.items()}
        ready = {n: w for n, w in workers.items() if "absent" not in w.about}
        samples: dict[str, list[dict]] = {name: [] for name in ready}
        for turn in range(repeats or row.repeats):
            order = list(ready.items())
            for name, worker in order if turn % 2 == 0 else reversed(order):
                samples[name].append(worker.sample())
    finally:
        for worker in workers.values():
            worker.close()
    return Result(row, about, samples)
