"""The pages of the documentation, their programs and their links."""

import re
from pathlib import Path

import pytest

from tools import notebooks

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


def blocks(page):
    """Each ```python block of a page, with the ```text block that follows it if there is one.

    A page of the course is one program.
    """
    text = page.read_text(encoding="utf-8")
    found = list(notebooks.BLOCK.finditer(text))
    if page in notebooks.pages():
        code = "\n".join(match["code"] for match in found)
        output = "".join(match["output"] or "" for match in found)
        yield pytest.param(code, output, id=str(page.relative_to(ROOT)))
        return
    for match in found:
        line = text.count("\n", 0, match.start()) + 2
        name = f"{page.relative_to(ROOT)}:{line}"
        yield pytest.param(match["code"], match["output"], id=name)


def links(page):
    """The targets of the links of a page that are no addresses of the web."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = [match["target"] for match in LINK.finditer(text)]
    return [target for target in targets if "://" not in target]


def anchors(page):
    """The names by which the headings of a page are linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
