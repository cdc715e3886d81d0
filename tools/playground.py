"""The playground as static files for any server, tapegrad's wheel beside them.

python -m tools.playground             builds the wheel into docs/playground
python -m tools.playground FOLDER      writes all of it to another folder
python -m http.server -d FOLDER        shows it, at http://localhost:8000
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAYGROUND = ROOT / "docs" / "playground"
WHEEL = "tapegrad.whl"  # what worker.js asks for, whatever the version is


def write(folder: Path) -> None:
    """Copy the page to a folder, and build the wheel into it."""
    if folder != PLAYGROUND:
        shutil.copytree(PLAYGROUND, folder, dirs_exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(build_wheel(Path(place)), folder / WHEEL)


def build_wheel(place: Path) -> Path:
    """Build this tree's wheel into a folder in which there is none; its path."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", place, ROOT]
    subprocess.run(command, check=True)
    (wheel,) = place.glob("*.whl")
    return wheel


def main(args: list[str]) -> int:
    """Write the files; 2 for more than a folder."""
    if len(args) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    write(Path(args[0]) if args else PLAYGROUND)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
