"""The notebooks of the course: they are whole, and say what they print."""

import json
import re

import pytest

from tapegrad.inspect import graph
from tests import needs
from tools import course_pictures, notebooks

PAGES = pytest.mark.parametrize("page", notebooks.pages(), ids=lambda page: page.stem)


def cells(page, kind, answers=True):
    return [c for c in notebooks.notebook(page, answers)["cells"] if c["cell_type"] == kind]


def test_there_are_ten_pages():
    assert [page.stem[:2] for page in notebooks.pages()] == [f"{i:02}" for i in range(1, 11)]


@PAGES
def test_pupils_have_a_cell_in_place_of_each_answer(page):
    text = page.read_text(encoding="utf-8")
    exercises = len(re.findall(r"^\*\*\d\.\*\* ", text, re.MULTILINE))
    asked, answered = cells(page, "code", answers=False), cells(page, "code")
    assert 2 <= exercises <= 4
    assert [cell["source"] for cell in asked].count("# your answer") == exercises
    assert all(cell["source"] != "# your answer" for cell in answered)
    assert "**Answer**" not in json.dumps(asked + cells(page, "markdown", answers=False))


@PAGES
def test_prose_has_its_pictures_with_it_and_its_links_lead_somewhere(page):
    prose = cells(page, "markdown")
    text = "\n".join(cell["source"] for cell in prose)
    attached = {name for cell in prose for name in cell.get("attachments", {})}
    assert set(re.findall(r"\(attachment:([^)]+)\)", text)) == attached
    assert "<details" not in text
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#]+)", text):
        if target.startswith(notebooks.REPOSITORY):
            path = notebooks.ROOT / target.removeprefix(notebooks.REPOSITORY).strip("/")
        else:
            path = notebooks.FOLDER / target.replace(".ipynb", ".md")
        assert path.exists(), target


@pytest.mark.parametrize("name", course_pictures.GRAPHS)
def test_pictures_are_up_to_date(name):
    drawn = graph(course_pictures.GRAPHS[name]()).svg()
    stored = (course_pictures.FOLDER / name).read_text(encoding="utf-8")
    assert drawn.strip() == stored.strip(), "run: python -m tools.course_pictures"


def test_jupyter_prints_what_they_say(tmp_path):
    """One kernel runs them all, emptied before each."""
    needs.package("ipykernel", "runs notebooks")
    needs.package("nbclient", "runs notebooks")
    nbformat = needs.package("nbformat", "reads notebooks")
    nbclient = needs.package("nbclient", "runs notebooks")
    whole, said = nbformat.v4.new_notebook(), []
    assert notebooks.main([str(tmp_path), "--answers"]) == 0
    for page in notebooks.pages():
        book = nbformat.read(tmp_path / f"{page.stem}.ipynb", as_version=4)
        nbformat.validate(book)
        whole.cells.append(nbformat.v4.new_code_cell("%reset -f"))
        whole.cells += [cell for cell in book.cells if cell.cell_type == "code"]
    for cell in whole.cells:
        said.append("".join(output.text for output in cell.outputs))
    nbclient.NotebookClient(whole, timeout=300).execute()
    for cell, expected in zip(whole.cells, said, strict=True):
        printed = "".join(output.get("text", f"not printed: {output}") for output in cell.outputs)
        assert printed == expected, cell.source
