"""A function in several processes: its writes are seen, its errors raised."""

import os
import pickle
import signal
import sys

import pytest

import tapegrad as torch
from tapegrad import multiprocessing as mp


def fill(i, x):
    x[i] = i + 1


def fail(i):
    if i == 1:
        raise ValueError("of no use")


def leave(i):
    sys.exit(3)


def die(i):
    os.kill(os.getpid(), signal.SIGKILL)


def test_processes_write_to_one_tensor():
    x = torch.zeros(3)
    assert mp.spawn(fill, (x.share_memory_(),), nprocs=3) is None
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_without_join():
    context = mp.start_processes(fill, (torch.zeros(2),), 2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    while not context.join():
        pass
    assert [each.exitcode for each in context.processes] == [0, 0]
    assert not any(map(os.path.exists, context.error_files))


def test_an_error_is_raised_here():
    with pytest.raises(mp.ProcessRaisedException) as found:
        mp.start_processes(fail, nprocs=2, start_method="fork")
    error = found.value
    assert "Process 1 terminated with the following error:\nTraceback" in str(error)
    assert "ValueError: of no use" in str(error) and error.error_index == 1
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.pid == error.pid


@pytest.mark.parametrize(
    ("function", "code", "name", "end"),
    [(leave, 3, None, "exit code 3"), (die, -9, "SIGKILL", "signal SIGKILL")],
)
def test_a_bad_end_is_told(function, code, name, end):
    with pytest.raises(
        mp.ProcessExitedException, match=f"process 0 terminated with {end}"
    ) as found:
        mp.start_processes(function, start_method="fork")
    assert (found.value.exit_code, found.value.signal_name) == (code, name)


def test_spawn_spawns():
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(fill, (torch.zeros(1),), start_method="fork")
