"""The programs in the documentation run, and print what the block after them says."""

import re
from pathlib import Path

import pytest

from tests.command import run_code

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n*^```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def blocks():
    """Each ```python block, with the ```text block that follows it if there is one."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            name = f"{page.relative_to(ROOT)}:{line}"
            yield pytest.param(match["code"], match["output"], id=name)


@pytest.mark.parametrize(("code", "output"), list(blocks()))
def test_a_program_prints_what_the_page_says(code, output):
    printed = run_code(code)
    if output is not None:
        assert printed == output


def test_the_readme_opens_with_a_program_and_its_output():
    first = next(iter(blocks()))
    assert first.id == "README.md:9"
    assert first.values[1]


@pytest.mark.parametrize("word", ["tapegrad demo", "pytest"])
def test_the_readme_has_one_command_for_the_demo_and_one_for_the_tests(word):
    shell = re.findall(r"^```sh\n(.*?)^```", PAGES[0].read_text(encoding="utf-8"), re.M | re.S)
    commands = [line for block in shell for line in block.splitlines() if word in line]
    assert len(commands) == 1
    assert commands[0].startswith("python3 -m venv .venv && ")
