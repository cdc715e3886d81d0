"""The documentation: its programs run, its links lead somewhere, its tables are up to date."""

import os

import pytest

from tests import needs
from tests.command import python, run_code
from tests.repository.pages import PAGES, ROOT, anchors, blocks, links
from tools import operators_page
from tools.pytorch_names import full_names


@pytest.mark.parametrize(("code", "output"), [block for page in PAGES for block in blocks(page)])
def test_a_program_prints_what_the_page_says(code, output):
    for word, package in (("tensorboard", "tensorboard"), ("import plot", "matplotlib")):
        if word in code:
            needs.package(package, "is used by this program")
    printed = run_code(code)
    if output is not None:
        assert printed == output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_exist(page):
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert file.is_relative_to(ROOT), target
        assert not anchor or anchor in anchors(file), target


def test_the_page_of_operators_is_up_to_date():
    written = operators_page.PAGE.read_text(encoding="utf-8")
    assert written == operators_page.page(), "run: python -m tools.operators_page"


def test_the_page_of_compatibility_is_up_to_date():
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = python("-m", "tools.compatibility", "--check", cwd=ROOT, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr


def test_the_page_of_operators_has_every_operator_and_says_what_is_kept():
    rows = operators_page.page().splitlines()
    for op in operators_page.REGISTRY.values():
        if op.forward.__module__.startswith("tapegrad."):
            assert operators_page.row(op) in rows
    product = operators_page.row(operators_page.REGISTRY["mul"])
    assert "| `input`: `other`; `other`: `input` |" in product


def test_check_compares_with_the_page_that_is_there(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(operators_page, "PAGE", tmp_path / "docs" / "operators.md")
    assert operators_page.main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().err
    assert operators_page.main([]) == 0
    assert operators_page.main(["--check"]) == 0
    operators_page.PAGE.write_text("other", encoding="utf-8")
    assert operators_page.main(["--check"]) == 1


@pytest.mark.parametrize("table", ["different", "option"])
def test_a_difference_is_that_of_a_function_that_is_there(table):
    absent = [name for name in operators_page.NOTES[table] if not operators_page.exists(name)]
    assert absent == []


def test_advice_is_about_functions_that_pytorch_has_and_tapegrad_lacks():
    assert operators_page.NOTES["instead"].keys() <= set(operators_page.lacking())


def test_no_function_that_is_left_out_on_purpose_is_there():
    wrong = [n for n in full_names() if operators_page.left_out(n) and operators_page.exists(n)]
    assert wrong == []
