"""The demo: what it learns, prints and draws."""

import re

from tapegrad import demo
from tests.command import python


def test_the_demo_learns_to_read_digits():
    result = python("-m", "tapegrad", "demo", PYTHONIOENCODING="utf-8")
    assert result.returncode == 0, result.stderr
    printed = result.stdout
    accuracy = float(re.search(r"test accuracy ([\d.]+)%", printed).group(1))
    assert accuracy >= 97
    assert re.search(r"trained in [\d.]+ s: 2,250 steps, [\d.]+ ms a step", printed)
    assert len(re.findall(r"reads \d", printed)) == 4
    assert "██" in printed
    assert "AccumulateGrad 0.weight (200, 64)" in printed
    assert "Try next" in printed


def test_the_demo_is_the_same_again_from_its_seed(capsys, monkeypatch, seed):
    monkeypatch.setattr(demo, "EPOCHS", 2)
    runs = []
    for choice in (5, 5, 6):
        accuracy = demo.demo(seed=choice)
        runs.append((accuracy, re.sub(r"[\d.]+( m?s|/s)\b", "", capsys.readouterr().out)))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_the_demo_draws_in_ascii_where_blocks_cannot_be_printed():
    code = "from tapegrad import demo; demo.EPOCHS = 1; demo.demo()"
    result = python("-c", code, PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    assert "##" in result.stdout.partition("a step")[2]
    assert "`- " in result.stdout
