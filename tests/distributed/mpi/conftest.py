"""Programs in real ranks on this computer, which `torchrun` starts under mpiexec."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tapegrad
from tests import needs

PROGRAMS = Path(__file__).parent / "programs"
collect_ignore_glob = ["programs/*"]  # they import torch, and are run in ranks


class Ended:
    """How a run of ranks ended."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def lines(self, pattern):
        """What was printed like that, sorted; the ends of lines of several ranks may be mixed."""
        return sorted(re.findall(pattern, self.out))


def run(*args, timeout=120, **environment):
    """What `python args` prints and its exit status; it and all it started end in time."""
    here = os.environ.items()
    env = {name: value for name, value in here if not name.startswith(("OMPI_", "PMI", "SLURM_"))}
    env["PYTHONPATH"] = str(Path(tapegrad.__file__).parents[1])
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "OMP_NUM_THREADS"):
        env.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-W", "error", *map(str, args)],
        env={**env, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        pytest.fail(f"the ranks did not end in {timeout} s\n{out}\n{err}")
    return Ended(process.returncode, out, err)


@pytest.fixture(scope="session")
def torchrun():
    """`torchrun(n, program, *args)`: how a program of this folder ends in n ranks."""
    needs.package("mpi4py", "connects ranks")

    def start(n, program, *args, max_restarts=0, **options):
        options = {"PYTHONWARNINGS": "error", **options}
        command = ("-m", "tapegrad", "torchrun", "--nproc-per-node", n)
        command += ("--max-restarts", max_restarts, PROGRAMS / program, *args)
        return run(*command, **options)

    return start
