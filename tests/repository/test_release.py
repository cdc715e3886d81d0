"""What is published: one version everywhere, what it needs, and what the wheel weighs."""

import re
import tomllib

import pytest

from tapegrad import version
from tests.repository.pages import ROOT
from tools import release

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("CITATION.cff", r"^version: (.*)$"),
        ("CHANGELOG.md", r"^## \[(\d.*)\]"),
        ("conda/recipe.yaml", r'^  version: "(.*)"$'),
        ("docs/compare/compatibility.md", r"is `2\.13\.0\+tapegrad\.(.*?)`"),
    ],
)
def test_the_version_is_the_same_everywhere(path, pattern):
    assert re.search(pattern, text(path), re.MULTILINE)[1] == version.tapegrad


def test_the_recipe_needs_what_the_project_needs():
    run = text("conda/recipe.yaml").partition("  run:\n")[2].partition("\n\n")[0]
    needs = [line.strip(" -").replace(" ", "") for line in run.splitlines()]
    assert needs == [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]


def test_the_classifiers_and_the_workflow_name_the_lowest_python():
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {lowest}" in PROJECT["classifiers"]
    for each in re.findall(r'python: "(.*)", versions: lowest', text(".github/workflows/ci.yml")):
        assert each == lowest


def test_the_wheel_stays_below_its_bound():
    weights = release.weigh(release.sources())
    assert weights["Python"] > 1_000_000
    assert weights.total() < release.BOUND, release.table(weights)


def test_a_file_weighs_what_it_is_compressed_to_and_what_is_said_of_it(monkeypatch, tmp_path):
    monkeypatch.setattr(release, "SOURCE", tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n" * 1000, encoding="utf-8")
    (tmp_path / "b.pyi").write_text("x: int\n", encoding="utf-8")
    weights = release.weigh(release.sources())
    assert weights["Python"] < 50 and weights["type stubs"] < 20
    assert weights["directory of the archive, digests"] == 2 * (76 + 46) + 2 * (4 + 5)
    assert release.table(weights).endswith(f"{weights.total():>10,}  all, of 2,950,000 at most")
