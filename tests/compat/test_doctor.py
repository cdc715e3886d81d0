"""`tapegrad doctor`: what it finds in a script and in the modules beside it."""

import re

import pytest

from tapegrad.compat import doctor
from tests.command import python
from tests.repository.pages import ROOT

SCRIPT = """\
import numpy, no_such_package
import torch
import torch.nn.functional as F
from torch import export, nn
from torch.optim import Adm
import beside
from package import inner

functional = torch.nn.functional

def train(device="cpu"):
    x = torch.zeros(3, pin_memory=True).to("cuda:0")
    functional.rellu(x)
    F.scaled_mm(x, x)
    return torch.sort(torch.sort(x))

class Net(nn.Liner):
    pass

export.export(None)
"""
EXPECTED = """\
script.py:5: torch.optim.Adm is missing: did you mean torch.optim.Adam?
script.py:12: "cuda:0" is missing
script.py:12: torch.zeros(pin_memory=) is missing
script.py:13: torch.nn.functional.rellu is missing: did you mean torch.nn.functional.relu?
script.py:14: torch.nn.functional.scaled_mm is missing: instead: `torch.mm`
script.py:15: torch.sort differs
script.py:17: torch.nn.Liner is missing: did you mean torch.nn.Linear?
script.py:20: torch.export.export refuses
beside.py:2: torch.quantize_per_tensor is missing: tapegrad has no quantised tensors
package/inner.py:1: torch.bouquet is missing
package/other.py:1: torch.nn.Bouquet is missing
not looked into: no_such_package (not installed), numpy
"""


def test_the_names_of_a_script_and_of_what_it_imports_are_looked_up(tmp_path):
    (tmp_path / "package").mkdir()
    files = {
        "script.py": SCRIPT,
        "beside.py": "import torch, script\ntorch.quantize_per_tensor",
        "package/__init__.py": "",
        "package/inner.py": "from torch import bouquet\nfrom . import other",
        "package/other.py": "import torch.nn as layers; layers.Bouquet()",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = python("-m", "tapegrad", "doctor", "script.py", cwd=tmp_path)
    lines = done.stdout.splitlines()
    for line, expected in zip(lines, EXPECTED.splitlines(), strict=False):
        assert line.startswith(expected)
    assert len(lines) == len(EXPECTED.splitlines()) + 1
    assert lines[-1].endswith("names in 5 files: 10 to change, 1 that differ")
    assert done.returncode == 1


def test_a_script_without_findings_ends_well_and_a_broken_one_does_not(tmp_path):
    script = tmp_path / "script.py"
    for text, status in (("import torch\ntorch.ones(2).sum()", 0), ("x = =", 2)):
        script.write_text(text, encoding="utf-8")
        assert python("-m", "tapegrad", "doctor", script).returncode == status
    assert python("-m", "tapegrad", "doctor", tmp_path / "nowhere.py").returncode == 2


def test_the_examples_have_nothing_to_change():
    for path in (ROOT / "examples").glob("*.py"):
        for program in doctor.followed(path):
            assert [f for f in doctor.findings(program) if f.kind != "differs"] == []


def test_the_pages_that_are_named_are_there():
    source = (ROOT / "src/tapegrad/compat/doctor.py").read_text(encoding="utf-8")
    pages = set(re.findall(r'"([a-z]+\.md)"', source))
    assert len(pages) > 5
    assert {path.name for path in ROOT.glob("docs/**/*.md")} >= pages


@pytest.mark.parametrize("name", ["torch", "torch.Tensor.add_", "torch.ops.aten.add.Tensor"])
def test_names_that_are_there_are_found(name):
    assert doctor.found(name)[0] == name and doctor.found(name)[1] is not doctor.MISSING
