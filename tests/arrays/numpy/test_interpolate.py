"""Taps: lanes in which an element occurs once, transposes, slices where they are regular."""

import numpy as np

from tapegrad.arrays.numpy.interpolate import Separable, Taps, fewest_lanes, resample
from tapegrad.arrays.numpy.max_pool import adaptive, regular


def matrix(taps):
    found = np.zeros((taps.n_out, taps.n_in))
    for lane in taps.lanes:
        np.add.at(found, (lane.tos, lane.sources), 1.0 if lane.weight is None else lane.weight)
    return found


def random_taps():
    rng = np.random.default_rng(0)
    to, source = rng.integers(0, 7, 20), rng.integers(0, 5, 20)
    return Taps(5, 7, fewest_lanes(to, source, rng.standard_normal(20)))


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


def test_few_long_windows_are_gone_through_one_by_one():
    x = np.random.default_rng(1).standard_normal((2, 40, 3))
    sums = Separable((regular(40, 3, 20, 10, 0).taps, regular(3, 3, 1, 1, 0).taps))
    assert sums.axes[0].runs is not None and sums.axes[1].is_identity
    want = np.stack([x[:, i : i + 20].sum(1) for i in (0, 10, 20)], 1)
    np.testing.assert_allclose(resample(x, sums), want)
    back = resample(np.ones((2, 3, 3)), sums.reverse)
    assert back[0, :, 0].tolist() == [1] * 10 + [2] * 20 + [1] * 10


def test_the_reverse_of_the_reverse_is_the_map_itself():
    through = Separable((random_taps(),), 3)
    assert through.reverse.reverse is through
