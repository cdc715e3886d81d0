"""The course as notebooks: docs/learn, a notebook for each page, with outputs and pictures.

    python -m tools.notebooks FOLDER                write those for pupils, without the answers
    python -m tools.notebooks FOLDER --answers      write those for teachers

A page is one session: its programs run in turn, each with the names of those above it. So a
notebook has a cell for each, and beneath it what the page says it prints, as the tests make sure.
"""

import argparse
import base64
import json
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "learn"
PICTURES = ROOT / "docs" / "pictures"
REPOSITORY = "https://github.com/tapegrad/tapegrad/blob/main"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n*^```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
ANSWER = re.compile(r"^<details markdown=\"1\">.*?\n\n(?P<answer>.*?)^</details>\n", re.M | re.S)
PICTURE = re.compile(r"!\[(?P<title>[^\]]*)\]\(\.\./pictures/(?P<name>[\w.-]+)\)")
LINK = re.compile(r"(?<!!)\[(?P<title>[^\]]*)\]\((?P<path>[\w./-]+)\.md(?P<anchor>#[\w-]+)?\)")
TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def pages() -> list[Path]:
    """The pages of the course, in order."""
    return sorted(FOLDER.glob("[0-9]*.md"))


def notebook(page: Path, answers: bool = True) -> dict:
    """The notebook of a page; without answers, an empty cell stands for each."""
    text = page.read_text(encoding="utf-8")
    kept = r"**Answer**\n\n\g<answer>" if answers else "```python\n# your answer\n```\n"
    cells = list(_cells(ANSWER.sub(kept, text)))
    for i, cell in enumerate(cells):
        cell["id"] = f"{page.stem}-{i}"
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def written(page: Path, answers: bool = True) -> str:
    """The text of a notebook's file."""
    return json.dumps(notebook(page, answers), indent=1, ensure_ascii=False) + "\n"


def _cells(text: str) -> Iterator[dict]:
    """Prose and programs in turn."""
    end = 0
    for block in BLOCK.finditer(text):
        yield from _prose(text[end : block.start()])
        yield _program(block["code"], block["output"])
        end = block.end()
    yield from _prose(text[end:])


def _program(code: str, output: str | None) -> dict:
    outputs = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "source": code.rstrip("\n"),
        "outputs": outputs,
    }


def _prose(text: str) -> Iterator[dict]:
    """A cell of Markdown, which brings its pictures with it; none where nothing is said."""
    pictures = {match["name"]: _attachment(match["name"]) for match in PICTURE.finditer(text)}
    source = LINK.sub(_target, PICTURE.sub(r"![\g<title>](attachment:\g<name>)", text)).strip()
    if source:
        cell = {"cell_type": "markdown", "metadata": {}, "source": source}
        yield cell | ({"attachments": pictures} if pictures else {})


def _attachment(name: str) -> dict[str, str]:
    data = base64.b64encode((PICTURES / name).read_bytes()).decode()
    return {TYPES[Path(name).suffix]: data}


def _target(link: re.Match) -> str:
    """A link to another notebook, or to a page where the source is."""
    title, path, anchor = link["title"], link["path"], link["anchor"] or ""
    if (FOLDER / f"{path}.md") in pages():
        return f"[{title}]({path}.ipynb)"
    page = posixpath.normpath(f"docs/learn/{path}.md")
    return f"[{title}]({REPOSITORY}/{page}{anchor})"


def main(argv: list[str]) -> int:
    """Write the notebooks into a folder."""
    parser = argparse.ArgumentParser(prog="tools.notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answers", action="store_true", help="with the answers, for teachers")
    arguments = parser.parse_args(argv)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for page in pages():
        path = arguments.folder / f"{page.stem}.ipynb"
        path.write_text(written(page, arguments.answers), encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
