"""The command line."""

import json

import pytest

from tapegrad import version
from tests.command import python


def test_the_version_is_that_of_the_package():
    result = python("-m", "tapegrad", "--version")
    assert result.stdout == f"tapegrad {version.__version__}\n"


def test_no_command_prints_the_help_and_fails():
    result = python("-m", "tapegrad")
    assert result.returncode == 2
    assert "run a script whose `import torch` is tapegrad" in result.stdout


@pytest.mark.parametrize("words", [["fly"], ["run"], ["demo", "--seed", "x"]])
def test_a_wrong_command_line_is_refused(words):
    result = python("-m", "tapegrad", *words)
    assert result.returncode == 2
    assert result.stderr.startswith("usage: tapegrad")


def test_profile_runs_a_script_and_writes_its_trace(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch\nprint(sys.argv[1:])\nx = torch.ones(3, requires_grad=True)\n"
        "(x * x).sum().backward()\nraise SystemExit(3)\n"
    )
    trace = tmp_path / "out.json"
    words = ["profile", str(script), "-o", str(trace), "--", "--epochs", "2"]
    result = python("-m", "tapegrad", *words)
    assert result.returncode == 3
    assert result.stdout == "['--epochs', '2']\n"
    assert "aten::mul" in result.stderr and "Self CPU time total" in result.stderr
    names = [event["name"] for event in json.loads(trace.read_text())["traceEvents"]]
    assert "MulBackward0" in names


def test_profile_says_at_once_that_its_trace_has_no_folder(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("print('ran')\n")
    trace = tmp_path / "missing" / "out.json"
    result = python("-m", "tapegrad", "profile", str(script), "-o", str(trace))
    assert result.returncode == 2 and result.stdout == ""
    assert "there is no folder" in result.stderr
