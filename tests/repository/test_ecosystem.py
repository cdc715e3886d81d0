"""The page of packages: how two outputs are compared, and that it is what its results say."""

import json

import pytest

from tools import ecosystem


@pytest.mark.parametrize(
    ("expected", "got", "first"),
    [
        ("loss 1.0\nend", "loss 1.00005\nend", None),
        ("loss 1.0\nend", "loss 1.001\nend", "line 1: `loss 1.001` where PyTorch prints"),
        ("loss 2000.0", "loss 2000.1", None),
        ("shape (3, 4)", "size (3, 4)", "line 1"),
        ("a 1 2", "a 1", "line 1"),
        ("a\nb", "a", "1 lines where PyTorch prints 2"),
        ("time 3.5\na", "time 9.5\na", None),
        ("nan inf", "nan inf", None),
        ("nan", "1.0", "line 1"),
        ("1.0", "nan", "line 1"),
        ("inf", "1.0", "line 1"),
    ],
)
def test_two_outputs_agree_to_the_tolerance(expected, got, first):
    found, _ = ecosystem.difference(expected, got)
    assert (found is None) if first is None else found.startswith(first)


def test_the_worst_deviation_is_relative_to_numbers_above_one():
    assert ecosystem.difference("0.5 100.0", "0.50001 100.005")[1] == pytest.approx(5e-5)


def test_a_program_says_what_it_runs(tmp_path):
    program = tmp_path / "flows.py"
    program.write_text('"""zuko: flows, ten steps"""\nprint(1)\n', encoding="utf-8")
    assert ecosystem.header(program) == ("zuko", "flows, ten steps")
    program.write_text("print(1)\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the first line is to say"):
        ecosystem.header(program)


def test_a_test_that_passed_is_found_in_the_report():
    report = "PASSED tests/a.py::test_b[1-x]\nFAILED tests/a.py::test_c - E\n2 passed"
    assert ecosystem.passed(report) == {"tests/a.py::test_b[1-x]"}


def test_the_page_is_what_the_results_say():
    results = json.loads(ecosystem.RESULTS.read_text(encoding="utf-8"))
    written = ecosystem.PAGE.read_text(encoding="utf-8")
    assert written == ecosystem.page(results), "run: python -m tools.ecosystem"
    assert "\n| " in written


def test_a_package_that_differs_somewhere_is_not_counted():
    row = dict(version="1", what="x", result="agrees", pytorch_seconds=1, tapegrad_seconds=1)
    programs = {
        "one": {**row, "package": "a", "agrees": True},
        "two": {**row, "package": "a", "agrees": False},
        "three": {**row, "package": "b", "agrees": True},
    }
    assert "Of 2 packages 1 agree" in ecosystem.page({"programs": programs, "tests": {}})
