"""The course's notebooks in JupyterLite: static files for any server, Python in the browser.

    python -m tools.jupyterlite FOLDER      writes them, with the extra `jupyterlite`
    python -m http.server -d FOLDER         shows them, at http://localhost:8000

tapegrad's wheel is among the files, in the index from which `%pip install` takes packages first.
Pyodide, NumPy and SciPy come from where JupyterLite takes them.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import notebooks, playground

INSTALL = {
    "cell_type": "code",
    "execution_count": None,
    "id": "install",
    "metadata": {},
    "source": "%pip install -q tapegrad",
    "outputs": [],
}


def write(folder: Path) -> None:
    """Build the site into a folder: ten notebooks for pupils, those with answers in `answers`."""
    with tempfile.TemporaryDirectory() as place:
        contents = Path(place) / "contents"
        for part, answers in ((contents, False), (contents / "answers", True)):
            part.mkdir()
            for page in notebooks.pages():
                text = json.dumps(_notebook(page, answers), ensure_ascii=False)
                (part / f"{page.stem}.ipynb").write_text(text, encoding="utf-8")
        wheel = playground.build_wheel(Path(place))
        command = [sys.executable, "-m", "jupyter", "lite", "build", "--contents", contents]
        command += ["--piplite-wheels", wheel, "--output-dir", folder.resolve()]
        subprocess.run(command, cwd=place, check=True)


def _notebook(page, answers):
    """That of the course, which first installs tapegrad into the page."""
    notebook = notebooks.notebook(page, answers)
    notebook["cells"].insert(0, INSTALL)
    return notebook


def main(args: list[str]) -> int:
    """Write the files; 2 without one folder."""
    if len(args) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    write(Path(args[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
