"""`DistributedDataParallel` and `SyncBatchNorm` in real ranks."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests import needs
from tests.distributed.mpi.conftest import PROGRAMS


@pytest.mark.parametrize("program", ["data_parallel", "sync_batch_norm"])
def test_two_ranks(torchrun, program):
    ended = torchrun(2, f"{program}.py")
    assert ended.status == 0, ended.err
    assert ended.lines("rank . is done") == ["rank 0 is done", "rank 1 is done"]


@pytest.mark.parametrize("n", [2, 4])
def test_losses_are_those_of_one_process(torchrun, n):
    ended = torchrun(n, "training.py")
    assert ended.status == 0, ended.err
    shared, alone = np.transpose(json.loads(ended.out))
    assert abs(shared - alone).max() <= 1e-6 and shared[-1] != shared[0]


def test_losses_are_those_of_pytorch(torchrun):
    needs.pytorch()
    command = ("-m", "torch.distributed.run", "--nproc-per-node=2", PROGRAMS / "training.py")
    theirs = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=120, check=True
    )
    ours = torchrun(2, "training.py")
    found, expected = (np.array(json.loads(each)) for each in (ours.out, theirs.stdout))
    assert abs(found - expected).max() <= 1e-6
