"""What there is of PyTorch's public names, module by module: docs/compare/compatibility.md.

python -m tools.compatibility               write the page
python -m tools.compatibility --check       1 if the page is not what would be written
"""

import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tapegrad import compat
from tapegrad.compat.refusal import advice_of
from tools.pytorch_surface import stored

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "compare" / "compatibility.md"
INTRODUCTION = Path(__file__).with_suffix(".md")
WORDS = ("there", "refuses", "missing")


def state(module: str, name: str) -> str:
    """Whether a name is there, there and refuses when it is called, or missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = getattr(home_of(module), name)
        except (ImportError, AttributeError):
            return "missing"
    return "there" if advice_of(value) is None else "refuses"


def home_of(module: str) -> Any:
    """The module of tapegrad, or its class of tensors, that PyTorch calls `module`."""
    if module == "torch.Tensor":
        return import_module("tapegrad").Tensor
    return compat.module_for(module)


def states() -> dict[str, dict[str, list[str]]]:
    """For each package of PyTorch, its names by what they are here, each name once."""
    found: dict[str, dict[str, list[str]]] = {}
    for module, names in stored().items():
        group = found.setdefault(package_of(module), {word: [] for word in WORDS})
        known = {full.rpartition(".")[2] for each in group.values() for full in each}
        for name in names:
            if name not in known:  # also exported from above
                group[state(module, name)].append(f"{module}.{name}")
    return found


def package_of(module: str) -> str:
    """The row of the table that a module belongs to."""
    return ".".join(module.split(".")[:2])


def table() -> Iterator[str]:
    """A row for each package; what is missing is named where that is short."""
    yield "| package | names | there | refuse | missing | |"
    yield "|---|--:|--:|--:|--:|---|"
    sums = dict.fromkeys(WORDS, 0)
    for package, group in states().items():
        counts = {word: len(group[word]) for word in WORDS}
        sums = {word: sums[word] + counts[word] for word in WORDS}
        missing = group["missing"]
        few = ", ".join(f"`{each.removeprefix(package + '.')}`" for each in missing)
        few = few if len(missing) < 8 else ""
        yield f"| `{package}` | {sum(counts.values())} | {_cells(counts)} | {few} |"
    yield f"| all | {sum(sums.values())} | {_cells(sums)} | |"


def _cells(counts: dict[str, int]) -> str:
    return " | ".join(str(counts[word] or "") for word in WORDS)


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION.read_text(encoding="utf-8"), *table(), ""])


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` compare it with what is there."""
    text = page()
    if arguments != ["--check"]:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(
        f"{PAGE.relative_to(ROOT)} is out of date: python -m tools.compatibility", file=sys.stderr
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
