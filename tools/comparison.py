"""Compare tapegrad with other libraries, and write docs/compare/index.md.

    python -m tools.comparison --measure    measure all that are installed, then write the page
    python -m tools.comparison              write the page from comparison.json
    python -m tools.comparison --check      1 if it is not what would be written

Figures are in comparison.json, words in comparison.md. Times are those of rows of `benchmarks`.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "compare" / "index.md"
WORDS = Path(__file__).with_suffix(".md")
FIGURES = Path(__file__).with_suffix(".json")
TITLES = {
    "tapegrad": "tapegrad",
    "torch": "PyTorch",
    "jax": "JAX, `jit`",
    "tinygrad": "tinygrad, `TinyJit`",
    "mygrad": "MyGrad",
    "micrograd": "micrograd",
}
ROWS = {  # of benchmarks: the title, and the unit in seconds
    "import": ("the import, ms", 1e-3),
    "engines_chain": ("a chain of 300 multiplications, forward and backward, ms", 1e-3),
    "engines_network": ("a training step of a 2-16-1 network by hand, 32 samples, ms", 1e-3),
}


def measure(rounds: int) -> dict[str, dict[str, dict]]:
    """For each library its version and size, for each row the median of its processor time."""
    os.environ["DEV"] = "CPU"  # for tinygrad, which would take a GPU
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is imported is compiled once
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import contest
    import table

    found: dict[str, dict[str, dict]] = {"libraries": {}, "rows": {}}
    for name in ROWS:
        result = contest.hold(table.ROWS[name], list(TITLES), rounds)
        found["rows"][name] = {
            library: median(sample["cpu"] for sample in samples)
            for library, samples in result.samples.items()
        }
        for library in result.samples:
            version = result.about[library]["version"]
            sizes = {"version": version, "bytes": size(library), "all": sum(sizes_with(library))}
            found["libraries"][library] = sizes
    return found


def size(package: str) -> int:
    """The bytes on disk of a package, without what Python compiles of it."""
    if package == "tapegrad":
        files = [f for f in (ROOT / "src").rglob("*") if "__pycache__" not in f.parts]
    else:
        paths = [Path(str(each.locate())) for each in metadata.files(package) or ()]
        files = [path for path in paths if path.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.is_file())


def sizes_with(package: str, seen: set[str] | None = None) -> Iterator[int]:
    """The sizes of a package and of all that it requires and is installed here."""
    seen = set() if seen is None else seen
    seen.add(package.lower())
    yield size(package)
    required = ["numpy", "scipy"] if package == "tapegrad" else metadata.requires(package) or []
    installed = {each.name.lower() for each in metadata.distributions() if each.name}
    for text in required:
        name = re.split(r"[^\w.-]", text)[0].lower()
        if "extra ==" not in text and name in installed and name not in seen:
            yield from sizes_with(name, seen)


def page(figures: dict[str, dict[str, dict]]) -> str:
    """The text of docs/compare/index.md."""
    return WORDS.read_text(encoding="utf-8").replace("FIGURES\n", "\n".join(_table(figures)) + "\n")


def _table(figures: dict[str, dict[str, dict]]) -> Iterator[str]:
    libraries = [name for name in TITLES if name in figures["libraries"]]
    about = figures["libraries"]
    titles = [f"{TITLES[name]} {about[name]['version']}" for name in libraries]
    yield f"| | {' | '.join(titles)} |"
    yield "|---" * (len(libraries) + 1) + "|"
    for what, key in (("on disk, MB", "bytes"), ("with what it needs, MB", "all")):
        cells = [f"{about[name][key] / 1e6:.3g}" for name in libraries]
        yield f"| {what} | {' | '.join(cells)} |"
    for row, (title, unit) in ROWS.items():
        times = figures["rows"][row]
        shown = {name: f"{float(f'{seconds / unit:.2g}'):g}" for name, seconds in times.items()}
        cells = [shown.get(name, "-") for name in libraries]
        yield f"| {title} | {' | '.join(cells)} |"


def main(argv: list[str]) -> int:
    """Measure, write or check."""
    parser = argparse.ArgumentParser(prog="tools.comparison", description=__doc__.splitlines()[0])
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--measure", action="store_true", help="measure what is installed")
    choice.add_argument("--check", action="store_true", help="1 if the page is out of date")
    parser.add_argument("--rounds", type=int, default=11, help="samples of each (default: 11)")
    arguments = parser.parse_args(argv)
    if arguments.measure:
        figures = json.dumps(measure(arguments.rounds), indent=1)
        FIGURES.write_text(figures + "\n", encoding="utf-8")
    text = page(json.loads(FIGURES.read_text(encoding="utf-8")))
    if arguments.check:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
