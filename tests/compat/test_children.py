"""Processes that a script under `tapegrad run` starts: they import what it does."""

import pytest

from tests.command import python

SCRIPT = """\
import multiprocessing
import sys

import torch

def double(x):
    return 2 * x, torch.__version__

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        y, version = pool.apply(double, (torch.ones(2),))
    print(y, version == torch.__version__)
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_torch_is_served_in_processes_that_are_not_forked(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = python("-m", "tapegrad", "run", str(script), method)
    assert (done.stdout, done.returncode) == ("tensor([2., 2.]) True\n", 0)
