"""`tools/next_pytorch.py`: what is compared between PyTorch and tapegrad, and how."""

import json
import os
import subprocess
import sys

import pytest

import tapegrad
from tests.repository.pages import ROOT
from tools import next_pytorch, pytorch_surface
from tools.docstring_examples import programs


def in_c(docstring):
    """What stands for a function written in C: it has no signature but in its docstring."""
    return type("builtin", (), {"__doc__": docstring})()


@pytest.mark.parametrize(
    ("x", "names"),
    [
        (lambda self, a, *, b=1: None, ["a", "b"]),
        (lambda *args: None, None),
        (in_c("f(input, dim=(0, 1), *, out=None) -> (Tensor, Tensor)\n\nT."), "input dim out"),
        (in_c("f(a: Optional[Dict[str, int]] = None) -> bool"), "a"),
        (in_c("No form."), None),
    ],
)  # fmt: skip
def test_parameters_are_those_of_the_signature_or_of_the_docstring(x, names):
    assert next_pytorch.parameters(x) == (names.split() if isinstance(names, str) else names)


def test_names_that_one_version_has_are_listed_with_what_they_are_here():
    lines = list(next_pytorch.new_and_gone({"torch": ["abs", "a"]}, {"torch": ["abs", "tanh"]}))
    assert lines == ["- new: `torch.a`, missing here", "- gone: `torch.tanh`, there here"]


def test_examples_are_read_from_docstrings_and_run_under_tapegrad():
    def f():
        """Text.

        >>> x = torch.ones(2)
        >>> x + 1
        tensor([2., 2.])
        >>> torch.bouquet
        """

    def end():
        """>>> import os; os._exit(3)"""

    given = dict(programs({"f": f, "g": None, "end": end, "again": f}))
    assert list(given) == ["f", "end", "again"]
    command = [sys.executable, "-m", "tools.docstring_examples", "tapegrad"]
    path = os.pathsep.join([os.path.dirname(os.path.dirname(tapegrad.__file__)), str(ROOT)])
    done = subprocess.run(
        command, input=json.dumps(given), cwd=ROOT, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 3
    (line,) = done.stdout.splitlines()
    name, printed = json.loads(line)
    assert name == "f" and printed[:2] == ["", "tensor([2., 2.])\n"]
    assert printed[2].startswith("AttributeError: module 'torch' has no attribute 'bouquet'")


def test_the_recorded_names_are_of_all_packages():
    names = pytorch_surface.stored()
    assert {"torch", "torch.nn", "torch.Tensor", "torch.optim"} < names.keys()
    assert sum(map(len, names.values())) > 5000
