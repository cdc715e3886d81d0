"""`torchrun`: a script in several ranks, which `mpiexec` starts on this computer.

    python -m tapegrad torchrun --nproc-per-node 2 train.py --epochs 3
    python -m torch.distributed.run --nproc-per-node 2 train.py --epochs 3

Each rank has RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, and one
thread unless OMP_NUM_THREADS says how many. `import torch` is tapegrad in them.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Sequence

from tapegrad.core.errors import runtime_error, value_error
from tapegrad.core.started_place import started_place
from tapegrad.core.threads import n_cores
from tapegrad.distributed import last_words
from tapegrad.distributed.launch_variables import free_port

__all__ = ["get_args_parser", "main", "parse_args", "run"]

_UNUSED = {  # of several agents that find each other: taken, and not needed
    "--rdzv-backend": "c10d",
    "--rdzv-endpoint": "",
    "--rdzv-id": "none",
    "--rdzv-conf": "",
    "--node-rank": "0",
    "--local-addr": None,
    "--monitor-interval": "0.1",
    "--start-method": "spawn",
    "--role": "default",
}


def get_args_parser() -> argparse.ArgumentParser:
    """The options of `torchrun` that mean something here; each with dashes or underscores."""
    parser = argparse.ArgumentParser(prog="torchrun", description=__doc__.partition("\n")[0])

    def option(name, **kwargs):
        names = dict.fromkeys([name, "--" + name[2:].replace("-", "_")])
        parser.add_argument(*names, **kwargs)

    option("--nproc-per-node", default="1", help="how many ranks: a number, auto or cpu (cores)")
    option("--nnodes", default="1:1", help="1: mpiexec starts the ranks of several computers")
    option("--standalone", action="store_true", help="nothing: one computer needs no other")
    option("--max-restarts", type=int, default=0, help="how often to start all ranks again")
    option("--master-addr", default="127.0.0.1", help="where rank 0 keeps the store")
    option("--master-port", type=int, default=0, help="its port (default: a free one)")
    for name, default in _UNUSED.items():
        option(name, default=default, help=argparse.SUPPRESS)
    parser.add_argument("-m", "--module", action="store_true", help="SCRIPT is a module's name")
    parser.add_argument("training_script", metavar="SCRIPT", help="the Python file")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """The options that a command line has."""
    return get_args_parser().parse_args(args)


def _n_ranks(text: str) -> int:
    if text in ("auto", "cpu"):
        return n_cores()
    if text == "gpu":
        raise value_error("Cuda is not available.", "Take --nproc-per-node cpu, or a number.")
    if not text.isdecimal() or not int(text):
        raise value_error(f"Unsupported nproc_per_node value: {text}", "Give a number, or cpu.")
    return int(text)


def _mpiexec() -> str:
    """The `mpiexec` of this environment, or else the system's."""
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    found = beside if os.path.exists(beside) else shutil.which("mpiexec")
    if found is None:
        raise runtime_error(
            "several ranks are started by mpiexec, which is not there",
            "pip install 'tapegrad[distributed]' brings mpi4py and Open MPI.",
        )
    return found


def _environment(args: argparse.Namespace, n: int) -> dict[str, str]:
    """The variables of all ranks; `tapegrad run` sets what each has of its own."""
    given = dict(os.environ)
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        given.pop(name, None)
    given["MASTER_ADDR"] = args.master_addr
    given["MASTER_PORT"] = str(args.master_port or free_port())
    given["TORCHELASTIC_RUN_ID"] = uuid.uuid4().hex if args.rdzv_id == "none" else args.rdzv_id
    given["TORCHELASTIC_MAX_RESTARTS"] = str(args.max_restarts)
    given.update(GROUP_RANK="0", GROUP_WORLD_SIZE="1")
    if n > 1 and "OMP_NUM_THREADS" not in given:
        given["OMP_NUM_THREADS"] = "1"
    # What torchrun does too: as many ranks as are asked for, on any core, for any user. Open MPI
    # reads these (version 4 the last ones); others do not know them.
    given.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    given.setdefault("PRTE_MCA_hwloc_default_binding_policy", "none")
    given.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    given.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")
    if os.geteuid() == 0:
        for name in ("PRTE_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT"):
            given[name] = given[f"{name}_CONFIRM"] = "1"
    return given


def _status_of(command: list[str], environment: dict[str, str]) -> int:
    """The exit status of a command, which is told to end when this process is."""
    process = subprocess.Popen(command, env=environment)
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        return process.wait()
    except KeyboardInterrupt:
        return process.wait()  # it was interrupted, too
    finally:
        signal.signal(signal.SIGTERM, before)


def _status_of_ranks(command: list[str], environment: dict[str, str], n: int) -> int:
    """The exit status of `n` ranks; where they fail, what those did that could not say it."""
    environment[last_words.VARIABLE] = page = last_words.make(n)
    try:
        status = _status_of(command, environment)
        if status:
            for line in last_words.read(page):
                print(line, file=sys.stderr)
        return status
    finally:
        os.remove(page)


def run(args: argparse.Namespace) -> int:
    """Start the ranks, and again as often as allowed while they fail: the exit status."""
    if started_place() is not None:
        raise runtime_error(
            "this process is a rank itself: mpiexec or srun started it",
            "Start the script by python -m tapegrad run SCRIPT there, without torchrun.",
        )
    n = _n_ranks(args.nproc_per_node)
    if str(args.nnodes) not in ("1", "1:1"):
        raise runtime_error(
            f"torchrun starts the ranks of one computer, not of {args.nnodes}",
            f"One mpiexec starts all, from one computer: mpiexec --host a:{n},b:{n} -n {2 * n} "
            "python -m tapegrad run SCRIPT. In a Slurm job: srun python -m tapegrad run SCRIPT.",
        )
    script = ["-m"] * args.module + [args.training_script, *args.training_script_args]
    command = [sys.executable, "-u", "-m", "tapegrad", "run", *script]
    if n > 1:
        command = [_mpiexec(), "-n", str(n), *command]
    for attempt in range(args.max_restarts + 1):
        environment = _environment(args, n)
        environment["TORCHELASTIC_RESTART_COUNT"] = str(attempt)
        if n == 1:
            environment.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", LOCAL_WORLD_SIZE="1")
        status = _status_of_ranks(command, environment, n)
        if not status:
            break
        if attempt < args.max_restarts:
            print(f"torchrun: the ranks failed ({status}) and start again", file=sys.stderr)
    return status if status >= 0 else 128 - status


def main(args: Sequence[str] | None = None) -> int:
    """Do what a command line of `torchrun` says; the result is the exit status."""
    return run(parse_args(args))


if __name__ == "__main__":
    sys.exit(main())
