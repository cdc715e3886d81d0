"""Tracebacks: the frames of a program are shown, tapegrad's own are counted."""

import pytest

from tests import needs
from tests.command import python

PROGRAM = """\
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return x @ x

def train():
    try:
        Net()(torch.ones(2, 3))
    except RuntimeError as error:
        raise ValueError("no step") from error

train()
"""
SHELL = """\
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_cell("import tapegrad as torch")
shell.run_cell("def f():\\n    torch.ones(2) @ torch.ones(3)\\nf()")
"""


@pytest.mark.parametrize("mode", ["", "full"])
def test_tapegrad_run_shows_the_frames_of_the_script(tmp_path, mode):
    (tmp_path / "script.py").write_text(PROGRAM, encoding="utf-8")
    words = ("-m", "tapegrad", "run", "script.py")
    text = python(*words, cwd=tmp_path, TAPEGRAD_TRACEBACK=mode).stderr
    lines = [line.split(", in ")[1] for line in text.splitlines() if line.startswith("  File")]
    own = [line for line in lines if line in ("train", "forward", "<module>")]
    assert own == ["train", "forward", "<module>", "train"]
    assert text.count("mat1") == text.count("ValueError: no step") == 1
    if mode == "full":
        assert len(lines) > len(own) and "TAPEGRAD_TRACEBACK" not in text
    else:
        assert lines == own
        assert text.splitlines()[-1].endswith(
            " frames of tapegrad: TAPEGRAD_TRACEBACK=full shows them)"
        )


@pytest.mark.parametrize("mode", ["", "full"])
def test_ipython_shows_the_frames_of_the_cells(mode):
    needs.package("IPython", "shows the error")
    done = python("-c", SHELL, TAPEGRAD_TRACEBACK=mode)
    text = done.stdout + done.stderr
    assert "torch.ones(2) @ torch.ones(3)" in text and "RuntimeError" in text
    assert ("matmul" in text.partition("RuntimeError: ")[0]) == (mode == "full")
    assert ("TAPEGRAD_TRACEBACK=full" in text) == (mode == "")
