"""Files that ask for memory, depth or code: `tools.fuzz_files` loads some in processes apart."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tapegrad as torch
from tests.command import python
from tests.tiers import rounds
from tools import fuzz_files

ROOT = Path(__file__).parents[3]

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")


@on_linux
def test_damaged_and_hostile_files_give_an_object_or_a_documented_error():
    path = os.pathsep.join([str(Path(torch.__file__).parents[1]), str(ROOT)])
    command = ["-m", "tools.fuzz_files", "--seed", 11, "--n", rounds(60, 2500), "--every", 20]
    result = python(*command, cwd=ROOT, PYTHONPATH=path)
    assert result.returncode == 0, result.stdout + result.stderr


def saved(x):
    file = io.BytesIO()
    torch.save(x, file)
    return file.getvalue()


@on_linux
def test_a_file_that_takes_more_than_its_room_is_reported():
    program = """
from tests.serialization.reader.test_hostile_files import fuzz_files, saved
fuzz_files.warm_up({"zip": [saved([1])]})
print(fuzz_files.outcome("zip", saved(list(range(3_000_000))), 1, room=0)[0])
"""  # in a process of its own: one that has run other tests has memory to spare
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout.startswith("MemoryError"), run.stderr


@on_linux
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (lambda *args: os.system("true"), "ran code: os.system"),
        (lambda *args: eval("1 + 1"), "ran code: compile"),
        (lambda *args: {}["x"], "KeyError"),
        (lambda *args: os.kill(os.getpid(), 9), "killed by signal 9"),
    ],
)
def test_a_fault_of_load_is_reported(monkeypatch, fault, expected):
    monkeypatch.setattr(fuzz_files, "load", fault)
    assert fuzz_files.outcome("zip", b"", 1)[0].startswith(expected)
