"""The four paths: each is walked, file by file and command by command, in an empty folder."""

import os
import re
import subprocess
import sys

import pytest

from tests.repository.pages import ROOT

PATHS = sorted((ROOT / "docs" / "paths").glob("[!i]*.md"))
STEP = re.compile(
    r"^```(?:python title=\"(?P<file>[\w.]+)\"|(?P<sh>sh)|(?P<text>text))\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
ELSEWHERE = (
    "pip install",
    "python -m http.server",
    "python -m tapegrad demo",
    "python -m tools.playground",
)
"""Commands that need a network, do not end, or are tested by themselves."""


@pytest.mark.parametrize("page", PATHS, ids=lambda page: page.stem)
def test_it_has_at_most_five_steps(page):
    steps = re.findall(r"^## (\d)\. ", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert steps == [str(i + 1) for i in range(len(steps))]
    assert 3 <= len(steps) <= 5


@pytest.mark.parametrize("page", PATHS, ids=lambda page: page.stem)
def test_its_commands_print_what_the_page_says(page, tmp_path):
    python = tmp_path / "bin"
    python.mkdir()
    (python / "python").symlink_to(sys.executable)
    environment = {
        **os.environ,
        "PATH": f"{python}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    steps = [match.groupdict() for match in STEP.finditer(page.read_text(encoding="utf-8"))]
    for step in steps:  # a page may run a file before it shows another that this one imports
        if step["file"]:
            (tmp_path / step["file"]).write_text(step["body"], encoding="utf-8")
    printed = ""
    for step in steps:
        if step["text"]:
            assert printed == step["body"]
        elif step["sh"] and not step["body"].startswith(ELSEWHERE):
            command = ["bash", "-euo", "pipefail", "-c", step["body"]]
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            printed = done.stdout
