"""`tools/lowest_versions.py`: what is pinned for the run on the lowest versions."""

import sys
import tomllib

import pytest

from tools import lowest_versions

PROJECT = {
    "name": "tool",
    "dependencies": ["numpy>=2", "scipy>=1.13"],
    "optional-dependencies": {
        "narrow": ["ml_dtypes>=0.5"],
        "test": ["tool[narrow]", "pytest==8.3.1"],
        "open": ["rich"],
    },
}


def test_an_extra_brings_what_it_names():
    assert list(lowest_versions.lowest(PROJECT)) == ["numpy==2", "scipy==1.13"]
    assert list(lowest_versions.lowest(PROJECT, "test")) == [
        *("numpy==2", "scipy==1.13", "ml_dtypes==0.5", "pytest==8.3.1")
    ]


def test_a_requirement_without_a_lowest_version_is_an_error():
    with pytest.raises(ValueError, match="'rich' does not say"):
        list(lowest_versions.lowest(PROJECT, "open"))


def test_every_requirement_of_the_project_says_its_lowest_version():
    project = tomllib.loads(lowest_versions.PROJECT.read_text(encoding="utf-8"))["project"]
    pins = list(lowest_versions.lowest(project, *project["optional-dependencies"]))
    assert all(pin.count("==") == 1 for pin in pins)


def test_the_lowest_python_is_the_one_that_the_sources_are_checked_for():
    whole = tomllib.loads(lowest_versions.PROJECT.read_text(encoding="utf-8"))
    lowest = whole["project"]["requires-python"].removeprefix(">=")
    assert whole["tool"]["mypy"]["python_version"] == lowest
    assert whole["tool"]["ruff"]["target-version"] == "py" + lowest.replace(".", "")
    assert sys.version_info >= tuple(int(part) for part in lowest.split("."))
