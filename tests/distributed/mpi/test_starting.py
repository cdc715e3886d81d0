"""The ways to start ranks, and what each tells them."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tapegrad.core.started_place import Place, started_place
from tapegrad.distributed import run as torchrun_module
from tapegrad.distributed.launch_variables import free_port, set_launch_variables
from tests.distributed.mpi.conftest import PROGRAMS, run
from tests.messages import raises


def test_torchrun_tells_ranks_who_they_are(torchrun):
    ended = torchrun(2, "launched.py")
    assert ended.status == 0, ended.err
    lines = [f"{r} 2 {r} 2 127.0.0.1 1 3 True" for r in range(2)]
    assert sorted(ended.out.splitlines()) == lines


def test_mpiexec_does_without_torchrun(torchrun):
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = beside if beside.exists() else shutil.which("mpiexec")
    code = (
        "import subprocess, sys\n"
        "from tapegrad.distributed.run import _environment, parse_args\n"
        "env = _environment(parse_args(['x']), 1)\n"
        "del env['MASTER_ADDR'], env['MASTER_PORT'], env['TORCHELASTIC_RUN_ID']\n"
        "sys.exit(subprocess.run(sys.argv[1:], env=env).returncode)"
    )
    command = (mpiexec, "-n", 2, sys.executable, "-m", "tapegrad", "run", PROGRAMS / "launched.py")
    ended = run("-c", code, *command)
    assert ended.status == 0, ended.err
    lines = [f"{r} 2 {r} 2 127.0.0.1 1 3 False" for r in range(2)]
    assert sorted(ended.out.splitlines()) == lines


def test_spawn_runs_in_the_ranks_there_are(torchrun):
    ended = torchrun(2, "tutorial.py", free_port())
    assert ended.status == 0, ended.err
    demos = ("DDP checkpoint example", "basic DDP example")
    expected = [f"Finished running {demo} on rank {r}." for demo in demos for r in range(2)]
    assert ended.lines(r"Finished.*?rank \d\.") == sorted(expected)


def test_a_trainer_goes_on_from_its_snapshot(torchrun, tmp_path):
    path = tmp_path / "snapshot.pt"
    for total, resumes in ((1, False), (2, True)):
        ended = torchrun(2, "multigpu_torchrun.py", total, 1, path)
        assert ended.status == 0, ended.err
        line = "Resuming training from snapshot at Epoch 0"
        assert ended.out.count(line) == 2 * resumes
    steps = [f"[{r}] Epoch {e} | 32 | Steps: 32" for r in range(2) for e in range(2)]
    assert ended.lines(r"\[\d\] Epoch.*?Steps: 32") == steps


def test_one_rank_needs_no_mpi():
    code = (
        "import sys; sys.modules['mpi4py'] = None\n"
        "from tapegrad import compat; compat.install()\n"
        "import runpy\n"
        "runpy.run_module('torch.distributed.run', run_name='__main__', alter_sys=True)"
    )
    ended = run("-c", code, PROGRAMS / "launched.py", OMP_NUM_THREADS="1")
    assert (ended.status, ended.out) == (0, "0 1 0 1 127.0.0.1 1 1 True\n"), ended.err


def test_a_script_that_fails_starts_again(tmp_path):
    script = tmp_path / "twice.py"
    script.write_text("import os, sys; sys.exit(int(os.environ['TORCHELASTIC_RESTART_COUNT']) < 1)")
    ended = run("-m", "tapegrad", "torchrun", "--max_restarts", 1, script)
    assert ended.status == 0 and "the ranks failed (1) and start again" in ended.err


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({}, None),
        (
            {
                "OMPI_COMM_WORLD_RANK": "3",
                "OMPI_COMM_WORLD_SIZE": "4",
                "OMPI_COMM_WORLD_LOCAL_RANK": "1",
                "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
            },
            Place(3, 4, 1, 2),
        ),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, Place(0, 2, 0, 1)),
        (
            {
                "SLURM_PROCID": "6",
                "SLURM_STEP_NUM_TASKS": "7",
                "SLURM_LOCALID": "0",
                "SLURM_NODEID": "3",
                "SLURM_STEP_TASKS_PER_NODE": "2(x3),1",
            },
            Place(6, 7, 0, 1),
        ),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "7"}, None),  # a batch script, not a step
    ],
)
def test_starters_say_which_process_this_is(monkeypatch, variables, place):
    only(monkeypatch, variables)
    assert started_place() == place


def only(monkeypatch, variables):
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMI", "SLURM_")):
            monkeypatch.delenv(name)
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        monkeypatch.setenv(name, "")  # so that it is as before, afterwards
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_variables_of_torchrun_come_from_those_of_slurm(monkeypatch):
    given = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "0"}
    only(monkeypatch, {**given, "MASTER_ADDR": "a", "MASTER_PORT": "1"})
    set_launch_variables()
    names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR".split()
    assert [os.environ[name] for name in names] == ["1", "2", "0", "1", "a"]


def test_what_torchrun_cannot_start_is_refused(monkeypatch):
    only(monkeypatch, {})
    with raises(RuntimeError, "torchrun starts the ranks of one computer, not of 2"):
        torchrun_module.main(["--nnodes", "2", "a.py"])
    with raises(ValueError, "Unsupported nproc_per_node value: many"):
        torchrun_module.main(["--nproc_per_node", "many", "a.py"])
    with raises(ValueError, "Cuda is not available."):
        torchrun_module.main(["--nproc-per-node=gpu", "a.py"])
    monkeypatch.setattr(torchrun_module.shutil, "which", lambda name: None)
    monkeypatch.setattr(torchrun_module.sys, "executable", "/nowhere/python")
    with raises(RuntimeError, "several ranks are started by mpiexec, which is not there"):
        torchrun_module.main(["--nproc-per-node=2", "a.py"])


def test_a_store_answers_until_the_last_rank_ends(torchrun):
    ended = torchrun(2, "leaving.py", timeout=30)
    assert (ended.status, ended.lines("rank 1.*")) == (0, ["rank 1 read value"])
