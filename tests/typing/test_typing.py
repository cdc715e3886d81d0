"""Type checkers: what they accept, take expressions for, and flag; one run of mypy for all."""

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest

import tapegrad
from tapegrad.compat.type_stubs import write
from tests import needs
from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import groups_of
from tests.repository.pages import ROOT
from tests.typing import programs
from tests.typing.reveal import classes

GROUPS = groups_of(tensor_calls, matrix_calls, layer_calls)
HERE = Path(__file__).parent
SOURCE = Path(tapegrad.__file__).parents[1]
NOTE = re.compile(
    r'(?P<file>\w+)\.py:(?P<line>\d+):(?P<column>\d+): note: Revealed type is "(?P<type>.*)"'
)
ERROR = re.compile(
    r"(?P<file>\w+)\.py:(?P<line>\d+):\d+: error: (?P<text>.*)  \[(?P<code>[\w-]+)\]"
)
QUIET = ["func-returns-value", "import-untyped", "import-not-found"]
"""A None is printed; a package is optional."""

USER = frozenset("assignment var-annotated has-type misc union-attr".split())
"""Errors of programs whose author would annotate a name, or ask whether a gradient is there."""

EXPECTED = {
    ("as_torch", "attr-defined"): 1,  # a typo
    (
        "docs/how-it-works/engine.md",
        "attr-defined",
    ): 1,  # `torch.tanh.op`: no attribute of functions
    ("docs/how-to/extending.md", "arg-type"): 2,  # what only `__torch_function__` makes an operand
    ("docs/how-to/extending.md", "attr-defined"): 2,
    ("docs/how-to/hooks.md", "arg-type"): 2,  # a gradient, which may be None
    ("docs/how-to/hooks.md", "index"): 1,
    ("docs/how-to/train.md", "arg-type"): 1,
    ("docs/learn/04-leaves.md", "arg-type"): 1,
    ("docs/learn/05-no-grad.md", "operator"): 1,
    ("docs/learn/10-training.md", "operator"): 2,
}
"""Errors that programs of the pages have for good, and how many at most."""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says of the programs of the pages, of the examples and of the wrong calls."""
    needs.package("mypy", "checks the types", extra="dev")
    folder = tmp_path_factory.mktemp("typing")
    pages, places = programs.write(folder)
    for name in ("wrong", "as_torch"):
        shutil.copy(HERE / f"{name}.txt", folder / f"{name}.py")
    options = ["--show-column-numbers", "--check-untyped-defs", "--no-pretty"]
    options += [f"--disable-error-code={code}" for code in QUIET]
    options.append(f"--cache-dir={ROOT / '.mypy_cache' / 'typing'}")
    command = [sys.executable, "-m", "mypy", *options, "."]
    (folder / "calls.py").write_text(calls(), encoding="utf-8")
    typings = write(tmp_path_factory.mktemp("typings")).parent
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "MYPYPATH": str(typings)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr  # the wrong calls are wrong
    lines = done.stdout.splitlines()
    notes = [match for line in lines if (match := NOTE.match(line))]
    errors = [match for line in lines if (match := ERROR.match(line))]
    return pages, places, notes, errors


def test_programs_are_accepted(checked):
    pages, _, _, errors = checked
    found = Counter()
    for each in errors:
        if each["file"] != "wrong" and each["code"] not in USER:
            found[pages.get(each["file"], each["file"]), each["code"]] += 1
    unexpected = {key: n for key, n in found.items() if n > EXPECTED.get(key, 0)}
    said = [
        each[0]
        for each in errors
        if (pages.get(each["file"], each["file"]), each["code"]) in unexpected
    ]
    assert unexpected == {}, "\n".join(said)


def test_types_are_those_of_the_values(checked):
    pages, places, notes, _ = checked
    wrong, known, unknown = [], 0, []
    seen = programs.recorded()
    for note in notes:
        page = pages.get(note["file"])
        expression = places.get(note["file"], {}).get((int(note["line"]), int(note["column"])))
        if (page, expression) not in seen or expression.startswith("np."):
            continue
        found = programs.verdict(classes(note["type"]), seen[page, expression], expression)
        if found == "right":
            known += 1
        elif found == "unknown":
            unknown.append((page, expression, note["type"]))
        else:
            wrong.append((page, expression, note["type"], seen[page, expression]))
    assert not wrong, "\n".join(map(str, wrong))
    assert known >= 400
    assert len(unknown) < 0.4 * known, "\n".join(map(str, unknown))


def calls():
    """A program with the calls of the tables of public operators; their inputs are tensors."""
    lines = ["import tapegrad as torch", "import tapegrad.nn.functional as F"]
    for number, group in enumerate(GROUPS):
        inputs = ", ".join(f"{name}: torch.Tensor" for name in group.tensors(tapegrad))
        lines.append(f"def group_{number}({inputs}) -> None:")
        lines += [f"    reveal_type({call})" for call in group.calls]
    return "\n".join(lines) + "\n"


def test_public_operators_return_what_the_stubs_say(checked):
    said = {int(note["line"]): note["type"] for note in checked[2] if note["file"] == "calls"}
    wrong = []
    for number, line in enumerate(calls().splitlines(), 1):
        if line.startswith("def "):
            group = GROUPS[int(line[len("def group_") :].partition("(")[0])]
        elif line.startswith("    "):
            names = {"torch": tapegrad, "F": tapegrad.nn.functional, **group.tensors(tapegrad)}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of functions in beta
                kinds = type(eval(line.strip()[len("reveal_type(") : -1], names)).__mro__
            static = {"NoneType" if each == "None" else each for each in classes(said[number])}
            if not static & {each.__name__ for each in kinds}:
                wrong.append(f"{line.strip()}: {said[number]}, and is {kinds[0].__name__}")
    assert not wrong, "\n".join(wrong)
    assert len(said) > 500


def test_mistakes_are_flagged(checked):
    errors = checked[3]
    found = {}
    for each in errors:
        if each["file"] == "wrong":
            found.setdefault(int(each["line"]), set()).add(each["code"])
    lines = (HERE / "wrong.txt").read_text(encoding="utf-8").splitlines()
    expected = {
        number: set(line.partition("# error: ")[2].split())
        for number, line in enumerate(lines[2:], 3)
        if "# error: " in line
    }
    assert found == expected
    assert len(expected) > 40


def test_torch_has_the_types_of_tapegrad(checked):
    notes = [note["type"].rpartition(".")[2] for note in checked[2] if note["file"] == "as_torch"]
    lines = (HERE / "as_torch.txt").read_text(encoding="utf-8").splitlines()
    assert notes == [line.partition("  # ")[2] for line in lines if line.startswith("reveal")]
    typos = [each["text"] for each in checked[3] if each["file"] == "as_torch"]
    assert len(typos) == 1 and '"randnn"' in typos[0]
