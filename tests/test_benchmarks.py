"""The benchmarks run, and say of each bound whether it is met."""

import json
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[1] / "benchmarks" / "run.py"


def test_a_row_is_measured_and_judged(tmp_path):
    file = tmp_path / "figures.json"
    command = [sys.executable, RUN, "--only", "^network$", "--repeats", "2", "--without", "torch"]
    run = subprocess.run([*command, "--json", file], capture_output=True, text=True, timeout=120)
    assert run.stderr == ""
    row = json.loads(file.read_text())["rows"]["network"]
    against_torch, against_numpy = row["bounds"]
    assert against_torch["met"] is None
    assert against_numpy["met"] is (against_numpy["value"] <= against_numpy["limit"])
    assert run.returncode == (0 if against_numpy["met"] else 1)
    assert [len(row["samples"][name]) for name in ("tapegrad", "numpy")] == [2, 2]
    assert all(sample["cpu"] > 0 for sample in row["samples"]["tapegrad"])
    assert "at most 1.15" in run.stdout
