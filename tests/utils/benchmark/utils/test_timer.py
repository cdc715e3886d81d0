"""Timer: how often statements run, and what is refused."""

from itertools import count, repeat

import pytest

import tapegrad as torch
from tapegrad.utils.benchmark import Language, Timer


class Clock:
    """Time that passes by the statements that run."""

    def __init__(self, durations):
        self.now = 0.0
        self.durations = iter(durations)
        self.runs = 0

    def __call__(self):
        return self.now

    def run(self):
        self.now += next(self.durations)
        self.runs += 1

    def timer(self, **options):
        return Timer("run()", timer=self, globals={"run": self.run}, **options)


def test_timeit_runs_as_often_as_asked_on_the_threads_asked_for():
    clock, threads = Clock(repeat(0.5)), []
    m = clock.timer(num_threads=1).timeit(10)
    assert (m.number_per_run, m.raw_times) == (10, [5.0])
    assert clock.runs == 12  # two to warm up
    Timer("n.append(torch.get_num_threads())", globals={"n": threads}, num_threads=1).timeit(1)
    assert set(threads) == {1}


def test_blocked_autorange_runs_for_the_time_asked_for():
    seen = []
    clock = Clock(repeat(0.5))
    m = clock.timer().blocked_autorange(lambda n, t: seen.append((n, t)), min_run_time=5.0)
    assert m.number_per_run == 1
    assert m.raw_times == [0.5] * 10
    assert seen == [(1, 0.5)] * 10


def test_short_statements_run_in_blocks():
    m = Clock(repeat(1e-6)).timer().blocked_autorange(min_run_time=0.1)
    assert m.number_per_run == 1000
    assert m.median == pytest.approx(1e-6)
    assert sum(m.raw_times) == pytest.approx(0.1)


def test_adaptive_autorange_ends_when_times_are_steady():
    m = Clock(repeat(0.5)).timer().adaptive_autorange()
    assert 4 <= len(m.raw_times) < 10
    assert m.meets_confidence()


def test_adaptive_autorange_ends_at_the_latest_at_the_time_given():
    m = Clock(count(1.0)).timer().adaptive_autorange(threshold=1e-9, max_run_time=1e3)
    assert sum(m.raw_times) > 1e3
    assert sum(m.raw_times[:-1]) <= 1e3


def test_the_task_is_named_and_its_indentation_taken_away():
    m = Timer(
        "y = x + 1\ny + 1",
        """
            x = torch.ones(3)
            z = 1
        """,
        label="L",
        env="e",
    ).timeit(2)
    spec = m.task_spec
    assert (spec.stmt, spec.setup) == ("y = x + 1\ny + 1", "x = torch.ones(3)\nz = 1")
    assert (spec.label, spec.env, spec.description) == ("L", "e", None)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"stmt": 3}, ValueError, "Currently only a `str` stmt is supported."),
        ({"language": "c"}, ValueError, "Invalid language `c`."),
        ({"global_setup": "x"}, ValueError, "global_setup is C++ only, got `x`. Most likely this "
         "code can simply be moved to `setup`."),
        ({"stmt": "x +"}, SyntaxError, "invalid syntax (<timeit-src>, line 2)"),
        ({"language": Language.CPP}, NotImplementedError,
         "torch.utils.benchmark.Timer: statements in C++ cannot be compiled"),
    ],
)  # fmt: skip
def test_what_is_refused(options, error, message):
    with pytest.raises(error) as caught:
        Timer(**options)
    assert str(caught.value) == message


def test_methods_that_are_refused():
    timer = Timer()
    for method in (timer.repeat, timer.autorange):
        with pytest.raises(NotImplementedError, match=r"See `Timer.blocked_autorange.`"):
            method()
    with pytest.raises(OSError, match="collect_callgrind: instructions are not counted"):
        timer.collect_callgrind()


def test_errors_of_the_statement_come_through():
    with pytest.raises(NameError, match="name 'nope' is not defined"):
        Timer("nope").timeit(1)
    assert torch.get_num_threads() >= 1
