"""A rank that fails ends all of them, with an exit status, and says which it was and in what."""

import re
import time

import pytest


def failing(torchrun, how, timeout=2):
    """How a run ends in which rank 1 fails, and how many seconds after that."""
    ended = torchrun(2, "failing.py", how, timeout)
    failed_at = float(re.search(r"fails at (\S+)", ended.out)[1])
    assert ended.status not in (0, None)
    return ended, time.time() - failed_at


@pytest.mark.parametrize("how", ["raise", "exit"])
def test_all_ranks_end(torchrun, how):
    ended, _ = failing(torchrun, how)
    assert "tapegrad: rank 1 of 2 failed and ends the run" in ended.err
    assert ("[rank1]: ValueError: of rank 1" in ended.err) is (how == "raise")


@pytest.mark.parametrize(("how", "text"), [("SIGKILL", "Killed"), ("SIGSEGV", "Segmentation")])
def test_a_rank_that_is_killed_ends_the_run(torchrun, how, text):
    ended, seconds = failing(torchrun, how)
    said = ended.out + ended.err  # Open MPI tells rank 0 to end, MPICH kills it too
    assert re.search(r"rank 0 .*(told to end|it waited) in allreduce of 2 float32", said)
    process = re.search(r"PID (\d+)", said)[1]
    assert f"tapegrad: rank 1 (process {process}) was killed while it computed" in said
    assert text in said
    assert seconds < 11  # one of them for rank 0 to begin to wait


def test_a_rank_that_hangs_ends_the_run(torchrun):
    ended, seconds = failing(torchrun, "hang")
    message = "allreduce of 2 float32 on rank 0 of 2 did not end in 2 s: rank 1 is at failing.py:"
    assert message in ended.err
    assert seconds < 12


def test_a_rank_that_ends_early_ends_the_run(torchrun):
    ended, seconds = failing(torchrun, "leave", 60)
    message = "allreduce of 2 float32 on rank 0 of 2 waits for what has ended: rank 1"
    assert message in ended.err
    assert seconds < 10


def test_the_ranks_start_again_from_a_checkpoint(torchrun, tmp_path):
    ended = torchrun(2, "restarting.py", tmp_path / "kept.pt", max_restarts=2)
    assert ended.status == 0, ended.err
    assert ended.lines(r"(?m)^[\d. ]+$") == ["1 3 36.0"]
    assert re.search(r"torchrun: the ranks failed \((137|9)\) and start again", ended.err)
