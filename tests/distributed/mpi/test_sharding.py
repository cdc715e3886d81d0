"""Memory shared out over real ranks: tensors, parameters, states of optimisers."""

import json
import subprocess
import sys

import numpy as np
import pytest

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
