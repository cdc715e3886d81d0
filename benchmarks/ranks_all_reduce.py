"""How long an all-reduce takes between ranks of this computer, beside PyTorch's gloo.

    python benchmarks/ranks_all_reduce.py --torch PYTHON [--ranks 2]

starts itself under `python -m tapegrad torchrun` and, with the Python of `--torch`, under PyTorch's
torchrun, in turns, and prints the least time of each size, in microseconds, and the ratio. MPI is
the one that mpi4py finds. A reduction of 64 MB may take 2.5 of gloo's time with Open MPI and 1.5
with others, one of 4 bytes gloo's; the exit status is 1 if a bound is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import time

SIZES = {4: 300, 1 << 20: 30, 64 << 20: 4}  # bytes, and how often


def worker():
    """Measure in a rank; rank 0 prints the seconds of each size."""
    import torch
    from torch import distributed as dist

    dist.init_process_group("gloo")
    found = []
    for n_bytes, times in SIZES.items():
        x = torch.zeros(n_bytes // 4)
        least = float("inf")
        for _ in range(times):
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(x)
            least = min(least, time.perf_counter() - start)
        found.append(least)
    if dist.get_rank() == 0:
        print(json.dumps(found))
    dist.destroy_process_group()


def measured(command, environment):
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--torch", required=True, help="a Python that has PyTorch")
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    from mpi4py import MPI

    version = MPI.Get_library_version().splitlines()[0].split(",")[0].strip("\0 ")
    end = ["--nproc-per-node", args.ranks, __file__, "worker"]
    ours = [sys.executable, "-m", "tapegrad", "torchrun", *end]
    theirs = [args.torch, "-m", "torch.distributed.run", *end]
    plain = {**os.environ, "OMP_NUM_THREADS": "1"}
    rounds = []
    for _ in range(args.rounds):
        alone = {name: value for name, value in plain.items() if name != "PYTHONPATH"}
        rounds.append([measured(ours, plain), measured(theirs, alone)])
    missed = False
    large = 2.5 if "Open MPI" in version else 1.5
    print(f"{version}, {args.ranks} ranks")
    for i, n_bytes in enumerate(SIZES):
        mine, gloo = (min(each[side][i] for each in rounds) for side in (0, 1))
        bound = {4: 1.0, 64 << 20: large}.get(n_bytes)
        missed |= bound is not None and mine > bound * gloo
        told = "" if bound is None else f", at most {bound:g}"
        print(
            f"{n_bytes:9d} B {1e6 * mine:9.1f} us, gloo {1e6 * gloo:9.1f}: {mine / gloo:.2f}{told}"
        )
    sys.exit(missed)


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["worker"] else main()
