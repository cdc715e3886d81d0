"""A rank that fails ends all of them, with an exit status, and says which it was."""

import pytest


@pytest.mark.parametrize("how", ["raise", "exit"])
def test_all_ranks_end(torchrun, how):
    ended = torchrun(2, "failing.py", how)
    assert ended.status not in (0, None)
    assert "tapegrad: rank 1 of 2 failed and ends the run" in ended.err
    assert ("[rank1]: ValueError: of rank 1" in ended.err) is (how == "raise")
