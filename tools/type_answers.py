"""What type checkers answer about the programs of the pages, beside PyTorch's own types.

python -m tools.type_answers         write the table in the page of types (needs `oracle`)

The programs are those of `tests/typing`; for PyTorch they import `torch`, and those that ask for
what only tapegrad has are left out for both.
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.repository.pages import ROOT
from tests.typing import programs, pyright
from tests.typing.reveal import classes
from tests.typing.test_typing import ERROR, NOTE

PAGE = ROOT / "docs" / "how-to" / "typing.md"
TABLE = re.compile(r"\| checker \|.*?\n(?=\n|\Z)", re.DOTALL)
SOURCE = ROOT / "src"
OURS = re.compile(r"tapegrad\.(?!optim|nn|autograd|func|utils|linalg|fft|special|distributions)\w+")
ABSENT = frozenset("attr-defined import-not-found reportMissingImports".split())
"""Errors about what PyTorch has not, or what is not installed."""

Answers = tuple[dict[tuple[str, int, int], set[str]], list[tuple[str, str, int, str]]]


def mypy(folder: Path) -> Answers:
    """The types that mypy reveals, by file, line and column, and its errors."""
    options = ["--show-column-numbers", "--check-untyped-defs", "--no-pretty"]
    options += ["--disable-error-code=func-returns-value", f"--cache-dir={folder / 'cache'}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "."], cwd=folder, capture_output=True, text=True
    )
    types, errors = {}, []
    for line in done.stdout.splitlines():
        if note := NOTE.match(line):
            place = (note["file"], int(note["line"]), int(note["column"]))
            types[place] = set(classes(note["type"]))
        elif error := ERROR.match(line):
            errors.append((error["file"], error["code"], 0, error["text"]))
    return types, errors


def answers(checker: str, package: str, names: set[str] | None) -> tuple[Counter[str], set[str]]:
    """What a checker says with one of the packages: counts, and the programs that were there."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pages, places = programs.write(folder)
        for path in folder.glob("*.py"):
            text = path.read_text(encoding="utf-8")
            if path.stem not in pages or OURS.search(text) or "tapegrad" not in text:
                path.unlink()
            elif names is not None and path.stem not in names:
                path.unlink()
            elif package == "torch":
                path.write_text(_for_pytorch(text), encoding="utf-8")
        types, errors = mypy(folder) if checker == "mypy" else pyright.run(folder, SOURCE)
        left = {path.stem for path in folder.glob("*.py")}
        left -= {name for name, code, *_ in errors if code in ABSENT}
    seen, counts = programs.recorded(), Counter[str]()
    counts["errors"] = sum(error[0] in left for error in errors)
    for (name, *place), static in types.items():
        key = pages[name], places[name].get(tuple(place))
        if name in left and key in seen:
            values = seen[key] | ({"Module"} if "callable" in seen[key] else set())
            counts[programs.verdict(static, values, key[1])] += 1
    return counts, left


def _for_pytorch(text: str) -> str:
    """The program with `torch` for `tapegrad`; lines keep their places."""
    text = re.sub(r"\bimport tapegrad as torch\b", "import torch as torch", text)
    return re.sub(r"\btapegrad\b", "torch", text)


def table() -> Iterator[str]:
    """A row for each checker and package, over the programs that both have."""
    yield "| checker | types of | expressions | known and right | unknown, `Any` | wrong | errors |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for checker in ("mypy", "pyright"):
        common = answers(checker, "torch", None)[1]
        for package in ("tapegrad", "torch"):
            counts, _ = answers(checker, package, common)
            found = [counts[word] for word in ("right", "unknown", "wrong")]
            name = "PyTorch" if package == "torch" else package
            cells = [checker, name, sum(found), *found, counts["errors"]]
            yield f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Write the table."""
    text = PAGE.read_text(encoding="utf-8")
    new = "\n".join(table()) + "\n"
    if TABLE.search(text) is None:
        raise ValueError(f"{PAGE} has no table of answers to write again")
    PAGE.write_text(TABLE.sub(lambda _: new, text, count=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
