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
@pytest.mark.parametrize("program", [("script.py",), ("-m", "script")])
def test_tapegrad_run_shows_the_frames_of_the_program(tmp_path, program, mode):
    (tmp_path / "script.py").write_text(PROGRAM, encoding="utf-8")
    words = ("-m", "tapegrad", "run", *program)
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


def test_a_module_that_is_missing_is_named_as_python_does(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "importer.py").write_text("import lacking", encoding="utf-8")
    for module in ("lacking.things", "package", "importer"):
        plain = python("-m", module, cwd=tmp_path)
        served = python("-m", "tapegrad", "run", "-m", module, cwd=tmp_path)
        assert served.returncode == plain.returncode == 1
        frames = [line for line in plain.stderr.splitlines(True) if "<frozen runpy>" not in line]
        assert served.stderr == "".join(frames)


@pytest.mark.parametrize("mode", ["", "full"])
def test_ipython_shows_the_frames_of_the_cells(mode):
    needs.package("IPython", "shows the error")
    done = python("-c", SHELL, TAPEGRAD_TRACEBACK=mode)
    text = done.stdout + done.stderr
    assert "torch.ones(2) @ torch.ones(3)" in text and "RuntimeError" in text
    assert ("matmul" in text.partition("RuntimeError: ")[0]) == (mode == "full")
    assert ("TAPEGRAD_TRACEBACK=full" in text) == (mode == "")
