"""The parts of the random streams: words, rounding, permutations, layout."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tapegrad.core.streams import binomial_poisson, integer, normal
from tapegrad.core.streams.mersenne_twister import Twister, laid_out_like
from tapegrad.core.streams.rounding import cast, fma32, fma64, libm

FEW_AND_MANY = [0, 1, 2, 255, 256, 257, 2000]  # both ways of asking NumPy, and around the switch


@pytest.mark.parametrize("n", FEW_AND_MANY)
def test_words_come_in_the_order_of_the_twister(n):
    want = np.random.RandomState(9).randint(0, 2**32, 4000, dtype=np.uint32)
    assert (Twister(9).u32(n) == want[:n]).all()
    high, low = want[: 2 * n : 2].astype(np.uint64), want[1 : 2 * n : 2].astype(np.uint64)
    assert (Twister(9).u64(n) == (high << np.uint64(32)) + low).all()


def test_only_32_bits_of_a_seed_count():
    assert (Twister(2**32 + 7).u32(5) == Twister(7).u32(5)).all()


def test_fma_rounds_once(rng):
    a, b, c = rng.normal(size=200), 1.7, -0.3
    exact = [Fraction(x) * Fraction(b) + Fraction(c) for x in a]
    assert fma64(a, b, c).tolist() == [float(x) for x in exact]
    a = a.astype(np.float32)
    b, c = np.float32(b), np.float32(c)
    exact = [float(Fraction(float(x)) * Fraction(float(b)) + Fraction(float(c))) for x in a]
    assert fma32(a, b, c).tolist() == np.float32(exact).tolist()


def test_fma_of_double_precision_survives_large_and_small_factors():
    a = np.array([0.5, -0.25])
    assert fma64(a, 1e305, 1e304).tolist() == (a * 1e305 + 1e304).tolist()
    assert fma64(a, 1e-305, 0.0).tolist() == (a * 1e-305).tolist()


def test_casts_to_16_bits_go_by_way_of_float32():
    x = np.array([1 + 2.0**-11 + 2.0**-40])  # to float16: up at once, to even by way of float32
    assert x.astype(np.float16) == np.float16(1 + 2.0**-10)
    assert cast(x, np.dtype(np.float16)) == np.float16(1)
    assert cast(np.array([40000]), np.dtype(np.uint16)) == 40000


def test_libm_is_what_python_computes(rng):
    x = rng.random((3, 4))
    assert libm(math.log1p, x).tolist() == [[math.log1p(v) for v in row] for row in x]


def test_single_precision_functions_are_within_two_units_in_the_last_place(rng):
    x = np.float32(1) - rng.random(5000).astype(np.float32)
    close(normal.log(x), np.log(x.astype(np.float64)), 2)
    x = (2 * math.pi * rng.random(5000)).astype(np.float32)
    sin, cos = normal.sin_cos(x)
    assert np.abs(sin - np.sin(x.astype(np.float64))).max() < 1.2e-7
    assert np.abs(cos - np.cos(x.astype(np.float64))).max() < 1.2e-7


def close(got, want, n_units):
    assert (np.abs(got - want) <= n_units * np.spacing(np.abs(want).astype(np.float32))).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 1000])
def test_a_permutation_is_what_swapping_one_by_one_gives(n):
    words = Twister(3).u32(max(n - 1, 0)).tolist()
    want = list(range(n))
    for i, word in enumerate(words):
        j = i + word % (n - i)
        want[i], want[j] = want[j], want[i]
    stream = Twister(3)
    assert integer.permutation(stream, n).tolist() == want
    assert stream.u32(1) == Twister(3).u32(max(n, 1))[-1]


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_a_huge_permutation_is_built_from_the_inside_out(monkeypatch, n):
    monkeypatch.setattr(integer, "_HUGE", 2)
    want = list(range(n))
    for i, word in enumerate(Twister(3).u64(n).tolist()):
        j = word % (i + 1)
        want[i], want[j] = want[j], i
    assert integer.permutation(Twister(3), n).tolist() == want


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("n", [16, 17, 31, 40, 16 * normal._CHUNK + 5])
def test_a_last_block_that_is_not_full_replaces_the_last_sixteen(dtype, n):
    kind = np.dtype(dtype)
    stream = Twister(1)
    x = normal.normal(stream, (n,), kind)
    n_full = n // 16 * 16
    full = normal.normal(Twister(1), (n_full,), kind)
    kept = n if n == n_full else n - 16
    assert (x[:kept] == full[:kept]).all()
    if n > n_full:
        tail = Twister(1)
        (tail.u64 if dtype == "float64" else tail.u32)(n_full if dtype == "float16" else n)
        assert (x[-16:] == normal.normal(tail, (16,), kind)).all()


def test_poisson_gives_back_what_it_drew_ahead():
    stream, rates = Twister(2), np.array([0.0, 3.0, 50.0])
    first = binomial_poisson.poisson(stream, rates)
    assert first[0] == 0
    state = stream.pack()
    again = Twister(2)
    one_by_one = [binomial_poisson.poisson(again, rates[i : i + 1])[0] for i in range(3)]
    assert first.tolist() == one_by_one
    assert (again.pack() == state).all()


def test_poisson_of_zero_draws_nothing():
    stream = Twister(2)
    assert binomial_poisson.poisson(stream, np.zeros(3)).tolist() == [0, 0, 0]
    assert (stream.pack() == Twister(2).pack()).all()


def test_binomial_of_certain_and_impossible_trials_draws_nothing():
    stream, nan = Twister(2), float("nan")
    trials, chances = np.array([5.0, 5.0, -1.0, nan, 5.0]), np.array([0.0, 1.0, 0.5, 0.5, nan])
    counts = binomial_poisson.binomial(stream, trials, chances)
    assert counts[:3].tolist() == [0.0, 5.0, 0.0]
    assert np.isnan(counts[3:]).all()
    assert (stream.pack() == Twister(2).pack()).all()


@pytest.mark.parametrize(("n", "p"), [(7.0, 0.3), (7.0, 0.9), (400.0, 0.2), (400.0, 0.7)])
def test_binomial_has_the_mean_and_variance_of_its_law(n, p):
    counts = binomial_poisson.binomial(Twister(3), np.full(20_000, n), np.array(p))
    assert abs(counts.mean() - n * p) < 4 * np.sqrt(n * p * (1 - p) / 20_000)
    assert abs(counts.var() / (n * p * (1 - p)) - 1) < 0.05


def test_memory_is_filled_in_its_own_order():
    array = np.empty((2, 3, 4)).transpose(2, 0, 1)[::2]
    drawn = laid_out_like(array, lambda shape: np.arange(12).reshape(shape))
    assert drawn.shape == array.shape
    target = np.full((2, 3, 4), -1)
    target.transpose(2, 0, 1)[::2] = drawn
    assert target[:, :, ::2].ravel().tolist() == list(range(12))


def test_numbers_have_the_moments_of_their_distributions():
    stream, n, double = Twister(0), 40000, np.dtype(float)
    for x, mean, variance in [
        (normal.normal(stream, (n,), np.dtype("f4"), 2.0, 3.0), 2, 9),
        (normal.normal(stream, (n,), double, is_strided=True), 0, 1),
        (integer.integers(stream, (n,), double, -5, 11), 0, 10),
        (binomial_poisson.poisson(stream, np.full(n, 4.0)), 4, 4),
        (binomial_poisson.poisson(stream, np.full(n, 40.0)), 40, 40),
    ]:
        assert abs(x.mean() - mean) < 5 * math.sqrt(variance / n)
        assert abs(x.var() / variance - 1) < 0.05
