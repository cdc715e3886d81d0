"""Measurements: their figures, and how PyTorch prints them."""

import pickle

import pytest

import tapegrad as torch
from tapegrad.utils.benchmark import (
    Measurement,
    TaskSpec,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)

STEADY = [1e-3, 1.1e-3, 1.05e-3, 1.02e-3, 1.03e-3]


def task(stmt="x.sum()", setup="pass", **names):
    return TaskSpec(stmt, setup, **names)


def printed(m):
    first, rest = repr(m).split("\n", 1)
    assert first.startswith("<torch.utils.benchmark.utils.common.Measurement object at 0x")
    return rest


def test_one_time():
    m = Measurement(1, [1e-3], task())
    assert printed(m) == "x.sum()\n  1.00 ms\n  1 measurement, 1 runs , 1 thread"
    assert m.significant_figures == 4


def test_many_times():
    names = {"label": "L", "sub_label": "s", "description": "d", "env": "e", "num_threads": 2}
    m = Measurement(100, STEADY, task(**names))
    assert printed(m) == (
        "L: s\nd\n  Median: 10.30 us\n  IQR:    0.30 us (10.20 to 10.50)\n"
        "  5 measurements, 100 runs per measurement, 2 threads"
    )
    assert (m.median, m.mean) == pytest.approx((1.03e-5, 1.04e-5))
    assert m.significant_figures == 1
    assert not m.has_warnings
    assert (m.stmt, m.num_threads, m.as_row_name, m.env) == ("x.sum()", 2, "s", "e")


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (0.01, "10.0% of the median measurement.\n           This could indicate system "
               "fluctuation."),
        (0.03, "25.1% of the median measurement.\n           This suggests significant "
               "environmental influence."),
    ],
)  # fmt: skip
def test_times_that_vary_are_warned_of(step, words):
    m = Measurement(1, [1.3 + i * step for i in range(30)], task())
    assert m.has_warnings
    assert printed(m).endswith(f"  WARNING: Interquartile range is {words}")


def test_no_times():
    m = Measurement(1, [], task())
    assert m.median == m.mean == -1.0
    with pytest.raises(AttributeError, match="'Measurement' object has no attribute 'foo'"):
        m.foo  # noqa: B018


@pytest.mark.parametrize(
    ("spec", "title", "summary"),
    [
        (task(label="L", sub_label="s", description="d", setup="import torch\nx=1"), "L: s",
         "L: s\nd\nsetup:\n  import torch\n  x=1\n"),
        (task("a\nb", "c"), "stmt:\n  a\n  b", "stmt:\n  a\n  b\n\nsetup: c"),
        (task("a\nb", sub_label="s"), "stmt: (s)\n  a\n  b", "stmt: (s)\n  a\n  b\n"),
        (task(sub_label="s"), "x.sum(): s", "x.sum(): s"),
    ],
)  # fmt: skip
def test_summaries(spec, title, summary):
    assert spec.title == title
    assert spec.summarize() == summary


def test_merged_by_task():
    one, other = task(), task(num_threads=2)
    merged = Measurement.merge(
        [Measurement(1, [1.0, 2.0], one), Measurement(2, [1.0], one), Measurement(1, [3.0], other)]
    )
    assert [m.raw_times for m in merged] == [[1.0, 2.0, 0.5], [3.0]]
    copy = pickle.loads(pickle.dumps(merged[0]))
    assert copy.raw_times == [1.0, 2.0, 0.5]
    assert copy.task_spec == one


def test_units():
    assert [select_unit(t)[0] for t in (1.5e-9, 2e-6, 1e-3, 0.5, 1, 100.0)] == [
        "ns", "us", "ms", "ms", "s", "s",
    ]  # fmt: skip
    assert unit_to_english("ms") == "millisecond"
    assert trim_sigfig(0.0012345, 3) == 0.0012299999361857772


def test_threads_are_set_for_a_while():
    before = torch.get_num_threads()
    with set_torch_threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
