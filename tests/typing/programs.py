"""The programs that type checkers are asked about, and how their answers are judged."""

import re
import shutil
from pathlib import Path

from tests.repository.pages import PAGES, ROOT, blocks
from tests.typing.reveal import revealing

HERE = Path(__file__).parent


def write(folder):
    """Write the programs of the pages, with `reveal_type` around expressions, and the examples.

    Returns: the page of each program, and its expressions by their line and column.
    """
    pages, places = {}, {}
    for page in PAGES:
        stem = re.sub(r"[^a-z]", "_", page.relative_to(ROOT).with_suffix("").as_posix().lower())
        for i, block in enumerate(blocks(page)):
            name = f"{stem}_{i}"
            text, places[name] = revealing(block.values[0])
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
            pages[name] = page.relative_to(ROOT).as_posix()
    for path in (ROOT / "examples").glob("*.py"):  # two of them import torch
        shutil.copy(path, folder)
    return pages, places


def recorded():
    """The classes of the values of expressions, by page and expression."""
    found = {}
    for line in (HERE / "types.txt").read_text(encoding="utf-8").splitlines():
        page, kinds, expression = line.split("\t")
        found[page, expression] = set(kinds.replace("|", " ").split())
    return found


STANDS_IN = {
    "Iterator": {"generator"},
    "Generator": {"generator"},
    "Sequence": {"list", "tuple"},
    "Sequential": {"OptimizedModule"},  # it has the attributes of the module that was compiled
    "Tensor": {"Proxy", "Length"},  # what a symbolic trace and `__torch_function__` make of calls
}
"""Classes of values that a type takes for another class, and is right."""


def verdict(static, values, expression):
    """Whether the classes of a type are `right`, `wrong` or `unknown` of the values seen."""
    static = {"NoneType" if each == "None" else each for each in static}
    if static & {"Any", "Unknown", "Self"}:
        return "unknown"
    static = static.union(*(STANDS_IN.get(each, ()) for each in static))
    narrowed = static == {"NoneType"} and expression.endswith(".grad")  # by an assignment
    return "right" if narrowed or "object" in static or static & values else "wrong"
