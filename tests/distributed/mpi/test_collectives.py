"""Collectives, groups and messages between real ranks."""

import pytest


@pytest.mark.parametrize("program", ["collectives", "groups"])
def test_three_ranks(torchrun, program):
    ended = torchrun(3, f"{program}.py")
    assert ended.status == 0, ended.err
    assert ended.lines("rank . is done") == [f"rank {r} is done" for r in range(3)]
    said = [line for line in ended.err.splitlines() if line.startswith("tapegrad: ")]
    assert len(said) == (program == "collectives")  # once, that gloo is MPI
