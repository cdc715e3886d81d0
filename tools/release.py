"""Build the sdist and the wheel, check them as an index does, and say what weighs in the wheel.

    python -m tools.release dist        needs the extra `release`
    python -m tools.release --weigh     only what the wheel of this tree would weigh, by its parts

A zip compresses each file by itself, and says 200 bytes about it in its directory and among the
digests: the Python of 1,300 small files is 2.3 MB of the wheel, and would be 1.8 in one file.
"""

import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
BOUND = 2_950_000
"""Bytes that a wheel may have."""

KINDS = {
    ".py": "Python",
    ".pyi": "type stubs",
    ".js": "page of a graph",
    ".css": "page of a graph",
    ".html": "page of a graph",
    ".bz2": "packed: libraries of the page, digits, signatures",
    ".txt": "forms of native functions",
}


def weigh(files: list[Path]) -> Counter[str]:
    """The bytes of `files` in a wheel, by what they are, with what the archive says of each."""
    found: Counter[str] = Counter()
    for path in files:
        packed = zlib.compress(path.read_bytes())
        found[KINDS.get(path.suffix, "other")] += len(packed) - 6  # without zlib's own frame
        name = len(str(path.relative_to(SOURCE)))
        found["directory of the archive, digests"] += 76 + 2 * name + 46
    return found


def sources() -> list[Path]:
    """The files of the package."""
    return [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in str(path)]


def table(weights: Counter[str]) -> str:
    """A line for each part, the heaviest first, and one for them all."""
    lines = [f"{count:>10,}  {kind}" for kind, count in weights.most_common()]
    return "\n".join([*lines, f"{weights.total():>10,}  all, of {BOUND:,} at most"])


def main(args: list[str]) -> int:
    """Do what the command line says."""
    weights = weigh(sources())
    print(table(weights))
    if args == ["--weigh"]:
        return 0
    (folder,) = args
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True)
    built = [path for kind in ("whl", "tar.gz") for path in Path(folder).glob(f"*.{kind}")]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *built], check=True)
    for path in built:
        print(f"{path.stat().st_size:>10,}  {path.name}")
    heavy = [path.name for path in built if path.suffix == ".whl" and path.stat().st_size > BOUND]
    if heavy:
        print(f"over {BOUND:,} bytes: {', '.join(heavy)}", file=sys.stderr)
    return 1 if heavy else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
