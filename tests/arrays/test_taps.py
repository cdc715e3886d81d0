"""Taps: lanes in which an element occurs once, transposes, slices where they are regular."""

import numpy as np

from tapegrad.arrays.resampling import resample
from tapegrad.arrays.taps import Separable, Taps
from tapegrad.arrays.window import adaptive, regular


def matrix(taps):
    to, source, weight, _ = taps.entries
    found = np.zeros((taps.n_out, taps.n_in))
    np.add.at(found, (to, source), 1.0 if weight is None else weight)
    return found


def random_taps():
    rng = np.random.default_rng(0)
    return Taps(5, 7, rng.integers(0, 7, 20), rng.integers(0, 5, 20), rng.standard_normal(20))


def test_a_map_and_its_transpose_are_those_of_the_matrix():
    x = np.random.default_rng(1).standard_normal((3, 5, 5))
    through = Separable((random_taps(), random_taps()))
    m = matrix(random_taps())
    np.testing.assert_allclose(resample(x, through), m @ x @ m.T)
    g = np.ones((3, 7, 7))
    np.testing.assert_allclose(resample(g, through.reverse), m.T @ g @ m)


def test_an_element_of_the_result_occurs_once_in_a_lane():
    for taps in (random_taps(), random_taps().reverse, adaptive(10, 4).taps):
        for lane in taps.lanes:
            reached = np.arange(taps.n_out)[lane.to]
            assert len(np.unique(reached)) == len(reached)


def test_regular_windows_are_read_as_slices():
    lanes = regular(24, 12, 2, 2, 0).lanes
    assert [(lane.to, lane.source) for lane in lanes] == [
        (slice(0, 12, 1), slice(0, 23, 2)),
        (slice(0, 12, 1), slice(1, 24, 2)),
    ]


def test_the_reverse_of_the_reverse_is_the_map_itself():
    through = Separable((random_taps(),), 3)
    assert through.reverse.reverse is through
