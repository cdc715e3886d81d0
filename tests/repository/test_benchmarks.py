"""The benchmarks run, and say of each bound whether it is met."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools import comparison

RUN = Path(__file__).parents[2] / "benchmarks" / "run.py"


def test_a_row_is_measured_and_judged(tmp_path):
    file = tmp_path / "figures.json"
    command = [sys.executable, RUN, "--only", "^network$", "--repeats", "2", "--without", "torch"]
    run = subprocess.run([*command, "--json", file], capture_output=True, text=True, timeout=600)
    assert run.stderr == ""
    row = json.loads(file.read_text())["rows"]["network"]
    against_torch, against_numpy = row["bounds"]
    assert against_torch["met"] is None
    assert against_numpy["met"] is (against_numpy["value"] <= against_numpy["limit"])
    assert run.returncode == (0 if against_numpy["met"] else 1)
    assert [len(row["samples"][name]) for name in ("tapegrad", "numpy")] == [2, 2]
    assert all(sample["cpu"] > 0 for sample in row["samples"]["tapegrad"])
    assert "at most 1.15" in run.stdout


def test_a_row_is_compared_with_another_checkout(tmp_path):
    file = tmp_path / "figures.json"
    command = [sys.executable, RUN, "--only", "^network$", "--repeats", "2"]
    run = subprocess.run(
        [*command, "--against", RUN.parents[1], "--json", file], capture_output=True, text=True
    )
    assert run.stderr == ""
    (bound,) = json.loads(file.read_text())["rows"]["network"]["bounds"]
    assert bound["limit"] == 1.03
    assert bound["met"] is (bound["value"] <= 1.03)
    assert run.returncode == (0 if bound["met"] else 1)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_the_peak_of_memory_is_above_what_was_there_before():
    code = """
from memory import Peak
gone = bytearray(64 << 20)
del gone
peak = Peak()
before = peak.bytes()
kept = bytearray(32 << 20)
del kept
print(before / 2**20, peak.bytes() / 2**20)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=RUN.parent, capture_output=True, text=True, timeout=600
    )
    assert run.stderr == ""
    before, after = map(float, run.stdout.split())
    assert before < 1
    assert 31 < after < 34


def test_the_page_that_compares_is_written_from_figures():
    figures = json.loads(comparison.FIGURES.read_text(encoding="utf-8"))
    assert comparison.page(figures) == comparison.PAGE.read_text(encoding="utf-8")
    assert {"tapegrad", "torch", "tinygrad", "mygrad", "micrograd"} <= figures["rows"][
        "import"
    ].keys()


def test_a_package_is_weighed_alone_and_with_what_it_needs():
    assert comparison.size("numpy") > 10_000_000
    assert sum(comparison.sizes_with("tapegrad")) > comparison.size("tapegrad") + 10_000_000
