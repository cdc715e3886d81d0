"""A process that is killed while it saves."""

import os

import pytest

from tests.command import python

PROGRAM = """
import os, signal, sys, time, tapegrad as torch
path = sys.argv[1]
x = torch.arange(50_000.)
torch.save({"n": 0, "x": x}, path)
seen = set()
for i in range(100):
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        n = i * 1000
        while True:
            n += 1
            torch.save({"n": n, "x": x + n}, path)
            os.write(tell, b".")
    os.read(ready, 1)
    time.sleep(0.0003 * (i % 17))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready), os.close(tell)
    found = torch.load(path)
    assert found["n"] > i * 1000 and (found["x"] == x + found["n"]).all(), found["n"]
left = [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".tmp")]
print(len(left) > 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_hundred_kills_in_the_middle_of_save_leave_a_whole_file_each_time(tmp_path):
    result = python("-c", PROGRAM, tmp_path / "x.pt", OPENBLAS_NUM_THREADS="1")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "True\n"  # some were hit while they wrote
