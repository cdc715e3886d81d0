"""Tables of measurements, as PyTorch prints them."""

import pytest

from tapegrad.utils.benchmark import Compare, Measurement, TaskSpec


def measured(median, *, spread=1e-4, **names):
    spec = TaskSpec("f()", "pass", **{"label": "Dot", "description": "d", **names})
    return Measurement(1, [median * (1 + spread * i) for i in range(5)], spec)


def lines(table):
    return [line.rstrip() for line in str(table).split("\n")]


def dots():
    return [
        measured(base * factor / threads, sub_label=row, description=column, num_threads=threads)
        for row, base in (("n=1", 1e-6), ("n=10", 2.22e-5))
        for column, factor in (("mul", 1.0), ("bmm", 1.7))
        for threads in (1, 4)
    ]


def test_rows_columns_and_threads(capsys):
    table = Compare(dots()[:-2])
    table.extend_results(dots()[-2:-1])
    assert lines(table) == [
        "[------------- Dot --------------]",
        "            |    mul    |    bmm",
        "1 threads: -----------------------",
        "      n=1   |   1000.2  |   1700.3",
        "      n=10  |  22204.4  |  37747.5",
        "4 threads: -----------------------",
        "      n=1   |    250.0  |    425.1",
        "      n=10  |   5551.1  |",
        "",
        "Times are in nanoseconds (ns).",
        "",
    ]
    table.print()
    assert capsys.readouterr().out == f"{table}\n"


def test_environments_stand_once_and_times_that_vary_are_marked():
    names = (("long", 1e-4), ("e", 0.2), ("e", 1e-4), ("f", 1e-4))
    table = Compare(
        [measured(1e-3, spread=s, sub_label=f"s{i}", env=e) for i, (e, s) in enumerate(names)]
    )
    table.highlight_warnings()
    assert lines(table) == [
        "[---------- Dot -----------]",
        "              |       d",
        "1 threads: -----------------",
        "  (e)     s1  |  1.4 (! 29%)",
        "          s2  |   1.0",
        "  (f)     s3  |   1.0",
        "  (long)  s0  |   1.0",
        "",
        "Times are in milliseconds (ms).",
        "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.",
        "",
    ]


def test_a_table_for_each_label():
    table = Compare([measured(1e-3, label="A"), measured(1e-6, label="B")])
    assert [line for line in lines(table) if "-" in line[:2] or "Times" in line] == [
        "[------ A ------]",
        "Times are in milliseconds (ms).",
        "[------ B ------]",
        "Times are in microseconds (us).",
    ]
    assert str(Compare([])) == ""


def test_digits_are_trimmed_to_what_a_column_supports():
    table = Compare(dots())
    table.trim_significant_figures()
    assert lines(table)[3:8] == [
        "      n=1   |   1000  |   2000",
        "      n=10  |  22000  |  37700",
        "4 threads: -------------------",
        "      n=1   |    300  |    400",
        "      n=10  |   5600  |   9400",
    ]


COLORS = {"g": "\033[92m\033[1m", "b": "\033[34m\033[1m", "d": "\033[2m\033[91m",
          "r": "\033[31m\033[1m", ".": ""}  # fmt: skip


@pytest.mark.parametrize("is_rowwise", [False, True])
@pytest.mark.parametrize(
    ("scale", "values", "expected"),
    [
        (1e-3, (1, 1.005, 1.02, 1.09, 1.2, 2.1, 4.9, 5.1), "ggbb.ddr"),
        (1e-6, (1, 1.02, 1.09, 1.2, 3, 6), "ggg.dr"),  # what no clock can tell apart is equal
    ],
)
def test_colors_say_how_far_the_best_is(is_rowwise, scale, values, expected):
    place = "description" if is_rowwise else "sub_label"
    table = Compare(
        [
            measured(v * scale, **{"sub_label": "s", place: f"{place} {i}"})
            for i, v in enumerate(values)
        ]
    )
    table.colorize(rowwise=is_rowwise)
    rows = lines(table)[3 : 3 + (1 if is_rowwise else len(values))]
    cells = [cell.lstrip() for row in rows for cell in row.split("  |  ")[1:]]
    for cell, key in zip(cells, expected, strict=True):
        assert cell.startswith(COLORS[key])
        assert ("\033" in cell) is (key != ".")


def test_only_measurements_are_compared():
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`, got <class 'int'"):
        Compare([3])
