"""Fetch the drawing libraries of the page of a graph, in the versions below, with npm.

python -m tools.page_libraries      writes them and their licences to src/tapegrad/inspect/page
"""

import bz2
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "src" / "tapegrad" / "inspect" / "page"
LIBRARIES = {  # package: its version, the file that is taken, and what the copy is called
    "cytoscape": ("3.34.4", "dist/cytoscape.min.js", "cytoscape"),
    "@dagrejs/dagre": ("3.1.3", "dist/dagre.min.js", "dagre"),
}


def main() -> int:
    """Write the files; npm's exit status if it fails."""
    packages = [f"{name}@{version}" for name, (version, _, _) in LIBRARIES.items()]
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit"]
        done = subprocess.run([*command, "--no-fund", "--no-save", *packages])
        if done.returncode:
            return done.returncode
        for name, (version, file, short) in LIBRARIES.items():
            package = Path(folder) / "node_modules" / name
            text = (package / file).read_text(encoding="utf-8")
            lines = [line for line in text.splitlines() if "sourceMappingURL=" not in line]
            target = FOLDER / f"{short}.min.js.bz2"
            target.write_bytes(bz2.compress(("\n".join(lines) + "\n").encode()))
            shutil.copy(package / "LICENSE", FOLDER / f"{short}.LICENSE")
            print(f"{target.name}: {name} {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
