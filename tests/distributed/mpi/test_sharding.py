"""Memory shared out over real ranks: tensors, parameters, states of optimisers."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.distributed import checkpoint
from tests import needs
from tests.distributed.mpi.conftest import PROGRAMS


@pytest.mark.parametrize("program", ["tensors", "sharded"])
def test_two_ranks(torchrun, program):
    ended = torchrun(2, f"{program}.py")
    assert ended.status == 0, ended.err
    assert ended.lines("rank . is done") == ["rank 0 is done", "rank 1 is done"]


@pytest.fixture(scope="module")
def losses(torchrun):
    """What each way of training gives in n ranks; each holds its share of the memory."""
    found = {}

    def of(n):
        if n not in found:
            ended = torchrun(n, "sharded_training.py")
            assert ended.status == 0, ended.err
            found[n] = {name: np.array(x) for name, x in json.loads(ended.out).items()}
        return found[n]

    return of


@pytest.mark.parametrize("n", [2, 4])
def test_losses_are_those_of_data_parallel(losses, n):
    found = losses(n)
    assert found["ddp"][-1] != found["ddp"][0]
    for name in ("zero", "zero 2", "fully_shard"):
        assert abs(found[name] - found["ddp"]).max() <= 1e-6, name


def test_losses_are_those_of_pytorch(losses):
    needs.pytorch()
    command = ("-m", "torch.distributed.run", "--nproc-per-node=2")
    theirs = subprocess.run(
        [sys.executable, *command, PROGRAMS / "sharded_training.py"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    for name, expected in json.loads(theirs.stdout).items():
        assert abs(losses(2)[name] - expected).max() <= 1e-6, name


def test_parts_are_saved_and_loaded_by_another_number_of_ranks(torchrun, tmp_path):
    ended = torchrun(2, "checkpoints.py", tmp_path / "folder")
    assert ended.status == 0, ended.err
    assert ended.lines("rank . is done") == ["rank 0 is done", "rank 1 is done"]
    found = {"app": {"model": {"0.weight": torch.zeros(5, 3)}}, "step": 0}
    checkpoint.load(found, checkpoint_id=tmp_path / "folder")
    assert found["step"] == 3 and (found["app"]["model"]["0.weight"] != 0).all()


def test_ranks_that_are_killed_leave_a_whole_checkpoint(torchrun, tmp_path):
    started = time.monotonic()
    ended = torchrun(2, "saving.py", tmp_path)
    assert ended.status != 0 and time.monotonic() - started < 60
    found = {"n": 0, "x": torch.zeros(1000)}
    checkpoint.load(found, checkpoint_id=tmp_path)
    assert found["n"] > 0 and (found["x"] == found["n"]).all()
