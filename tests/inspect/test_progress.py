"""The progress of loops: bars, lines that are written over, lines that stay."""

import io
import re
import sys
from importlib import import_module

import pytest

import tapegrad as torch
from tapegrad.inspect import progress
from tests import needs
from tests.command import run_code


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def size(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by a hundredth of a second each time it is read; how often it was."""
    ticks = []

    def read():
        ticks.append(None)
        return len(ticks) / 100

    # By its full name: `tapegrad.inspect.progress` is the function.
    monkeypatch.setattr(import_module("tapegrad.inspect.progress"), "perf_counter", read)
    return ticks


def screen(text):
    """What a terminal shows after `text`: returns go to the start of the line."""
    lines = []
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


def test_into_a_pipe_goes_one_line_at_the_end_of_a_quick_loop(capsys):
    steps = progress([1, 2, 3, 4], "train")
    for step in steps:
        steps.show(loss=torch.tensor(1 / step, requires_grad=True), lr=0.001, phase="warm", n=step)
    (line,) = capsys.readouterr().out.splitlines()
    facts = r"train: 4 of 4 in \S+ s, \S+/s, loss 0.25, lr 0.001, phase warm, n 4"
    assert re.fullmatch(facts, line)


def test_into_a_pipe_go_lines_now_and_then(clock):
    file = io.StringIO()
    for _ in progress((None for _ in range(5)), every=0, file=file):
        pass
    lines = file.getvalue().splitlines()
    assert len(lines) == 6
    assert lines[0] == "1, 100/s"
    assert lines[-1] == "5 in 0.06 s, 83.33/s"


def test_how_long_it_will_take_is_said_where_the_total_is_known(clock):
    file = io.StringIO()
    for _ in progress((None for _ in range(4)), total=8, every=0, file=file):
        pass
    second = file.getvalue().splitlines()[1]
    assert second == "2 of 8, 100/s, 0.06 s left"


def test_a_loop_that_ends_early_says_so_and_errors_pass():
    file = io.StringIO()
    steps = progress(range(10), file=file)
    for step in steps:
        if step == 3:
            break
    assert steps.n == 3
    with pytest.raises(KeyError):
        for step in progress(range(10), file=file):
            raise KeyError(step)
    first, second = file.getvalue().splitlines()
    assert first.startswith("3 of 10 in") and first.endswith("stopped")
    assert second.startswith("0 of 10 in") and second.endswith("stopped")


def test_it_can_be_iterated_again_and_has_a_length():
    steps = progress(range(3), file=io.StringIO())
    assert [list(steps), list(steps), len(steps)] == [[0, 1, 2], [0, 1, 2], 3]
    with pytest.raises(TypeError, match=r"object of type 'generator' has no len"):
        len(progress(x for x in ()))


def test_in_a_terminal_without_rich_a_line_is_written_over(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    file = Terminal()
    steps = progress(range(4), "train", every=0, file=file)
    for step in steps:
        steps.show(loss=0.5 if step else 123456789.125)
    text = file.getvalue()
    assert text.count("\n") == 1
    assert "[############............] train: 2 of 4, " in text
    line, last = screen(text)
    assert re.fullmatch(r"train: 4 of 4 in \S+ s, \S+/s, loss 0.5", line)
    assert last == ""


def test_a_line_is_never_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setitem(sys.modules, "rich.console", None)
    file = Terminal()
    for _ in progress(range(2), "a title that is long enough to fill the line", every=0, file=file):
        pass
    assert max(len(part) for part in re.split(r"[\r\n]", file.getvalue())) == 39


def test_a_notebook_gets_a_line_that_is_written_over():
    class OutStream(io.StringIO):
        pass

    OutStream.__module__ = "ipykernel.iostream"
    file = OutStream()
    for _ in progress(range(4), every=0, file=file):
        pass
    assert file.getvalue().count("\n") == 1 and file.getvalue().count("\r") == 5


def test_in_a_terminal_rich_draws_bars_loops_in_loops_too():
    needs.package("rich", "draws the bars")
    file = Terminal()
    epochs = progress(range(2), "epochs", every=0, file=file)
    for _ in epochs:
        batches = progress(range(3), "[batches]", every=0, file=file)
        for batch in batches:
            batches.show(loss=torch.tensor(batch / 2))
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue())
    assert "━" in plain
    ends = re.findall(r"^\[?\w+\]?: \d of \d in .*$", plain.replace("\r", "\n"), re.MULTILINE)
    assert [end.partition(" in ")[0] for end in ends] == [
        "[batches]: 3 of 3",
        "[batches]: 3 of 3",
        "epochs: 2 of 2",
    ]
    assert ends[0].rstrip().endswith("loss 1")


def test_rich_is_loaded_for_terminals_only():
    code = """
import sys
from tapegrad.inspect import progress
print(list(progress(range(2), file=sys.stderr)), "rich" in sys.modules)
"""
    assert run_code(code) == "[0, 1] False\n"


def test_an_item_costs_one_look_at_the_clock(clock):
    calls = []
    steps = iter(progress(range(1000), every=1e9, file=io.StringIO()))
    next(steps)
    before = len(clock)
    sys.setprofile(lambda frame, event, _: calls.append(event))
    try:
        for _ in range(500):
            next(steps)
    finally:
        sys.setprofile(None)
    assert len(clock) - before == 500
    # Python calls two functions each time: the generator, and what stands in for the clock.
    assert calls.count("call") == 2 * 500
