"""The progress of loops: bars, lines that are written over, lines that stay."""

import io
import re
import sys
from time import perf_counter, sleep

import pytest

import tapegrad as torch
from tapegrad.inspect import progress
from tests.command import run_code


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def size(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")


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


def test_into_a_pipe_go_lines_now_and_then():
    file = io.StringIO()
    for _ in progress((sleep(0.01) for _ in range(5)), every=0, file=file):
        pass
    lines = file.getvalue().splitlines()
    assert len(lines) == 6
    assert re.fullmatch(r"1, \S+/s", lines[0])
    assert re.fullmatch(r"5 in 0\.\d+ s, \S+/s", lines[-1])


def test_how_long_it_will_take_is_said_where_the_total_is_known():
    file = io.StringIO()
    for _ in progress((sleep(0.02) for _ in range(4)), total=8, every=0, file=file):
        pass
    second = file.getvalue().splitlines()[1]
    assert re.fullmatch(r"2 of 8, \S+/s, \S+ s left", second)


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
    pytest.importorskip("rich", reason="rich is not installed")
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


def test_an_item_costs_less_than_a_microsecond_or_two():
    def seconds(iterable):
        start = perf_counter()
        for _ in iterable:
            pass
        return perf_counter() - start

    n = 100_000
    bare = min(seconds(range(n)) for _ in range(3))
    shown = min(seconds(progress(range(n), file=io.StringIO())) for _ in range(3))
    assert (shown - bare) / n < 5e-6
