"""The tiers of tests: what the short one leaves out, and what the nightly one does more of."""

import pytest

from tests import tiers
from tools import record_slow


def test_what_the_short_tier_leaves_out_is_there():
    assert [path for path in tiers.slow_paths() if not path.exists()] == []


@pytest.mark.parametrize(("tier", "left_out"), [("short", True), ("whole", None)])
def test_slow_files_are_left_out_of_the_short_tier_alone(monkeypatch, tier, left_out):
    monkeypatch.setenv(tiers.VARIABLE, tier)
    assert tiers.pytest_ignore_collect(tiers.ROOT / "tests/laws/test_recorded.py") is left_out
    assert tiers.pytest_ignore_collect(tiers.ROOT / "tests/laws/test_laws.py") is None


@pytest.mark.parametrize(
    ("file", "left_out"),
    [
        ("tests/laws/test_recorded.py", None),  # slow
        ("tests/inspect/test_notebook.py", None),  # needs packages
        ("tests/laws", None),
        ("tests/laws/test_laws.py", True),
        ("src/tapegrad/version.py", True),
    ],
)
def test_the_long_tier_has_what_the_short_one_lacks(monkeypatch, file, left_out):
    monkeypatch.setenv(tiers.VARIABLE, "long")
    assert tiers.pytest_ignore_collect(tiers.ROOT / file) is left_out


def test_the_nightly_tier_has_more_rounds(monkeypatch):
    monkeypatch.setenv(tiers.VARIABLE, "nightly")
    assert tiers.rounds(3, 70) == 70
    monkeypatch.setenv(tiers.VARIABLE, "whole")
    assert tiers.rounds(3, 70) == 3


def test_files_whose_tests_take_longer_together_are_recorded(tmp_path):
    cases = '<testcase file="a.py" time="0.3"/>' * 2 + '<testcase file="b.py" time="0.4"/>'
    (tmp_path / "report.xml").write_text(f"<testsuite>{cases}</testsuite>", encoding="utf-8")
    assert record_slow.slow(tmp_path / "report.xml") == ["a.py", *record_slow.NEVER]
