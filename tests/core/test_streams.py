"""The parts of the random streams: words, rounding, permutations, layout."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tapegrad.core import threads
from tapegrad.core.streams import (
    BLOCK,
    BLOCKS,
    binomial_poisson,
    exponential_cauchy,
    integer,
    normal,
)
from tapegrad.core.streams.box_muller import Blocks
from tapegrad.core.streams.mersenne_twister import Twister, laid_out_like
from tapegrad.core.streams.rounding import cast, fma64, libm

FEW_AND_MANY = [0, 1, 2, 2047, 2048, 4095, 4096, 5000]  # both ways of asking NumPy


@pytest.mark.parametrize("n", FEW_AND_MANY)
def test_words_come_in_the_order_of_the_twister(n):
    want = np.random.RandomState(9).randint(0, 2**32, 10000, dtype=np.uint32)
    assert (Twister(9).u32(n) == want[:n]).all()
    assert (Twister(9).low24(n) == want[:n] % 2**24).all()
    high, low = want[: 2 * n : 2].astype(np.uint64), want[1 : 2 * n : 2].astype(np.uint64)
    words = (high << np.uint64(32)) + low
    assert (Twister(9).u64(n) == words).all()
    assert (Twister(9).low53(n) == words % 2**53).all()


def test_only_32_bits_of_a_seed_count():
    assert (Twister(2**32 + 7).u32(5) == Twister(7).u32(5)).all()


def test_fma_rounds_once(rng):
    a, b, c = rng.normal(size=200), 1.7, -0.3
    exact = [Fraction(x) * Fraction(b) + Fraction(c) for x in a]
    assert fma64(a, b, c).tolist() == [float(x) for x in exact]


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


@pytest.mark.parametrize("function", [math.log, math.log1p, math.exp])
def test_a_function_of_many_is_that_of_each(rng, function):
    x = 10 ** rng.uniform(-300, 0, 20_000)
    x = np.concatenate(
        [x, 1 - x[x > 1e-15], np.arange(1, 1000) * 2.0**-53, rng.uniform(0, 1, 20_000)]
    )
    if function is math.log1p:
        x = -x[x < 1]
    if function is math.exp:
        x = np.concatenate([x, rng.uniform(-745, 709, 20_000), [0.0, 709.0]])
    assert libm(function, x).tolist() == [function(number) for number in x.tolist()]
    few = np.array([-0.0, -0.5]) if function is not math.log else np.array([1.0, 0.5])
    assert libm(function, np.tile(few, 200)).tobytes() == libm(function, few).tobytes() * 200


# The formulas of `box_muller` as they are printed: an array for each step, each product that is
# added to something rounded once, with it.

LOG = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1)
LOG = (*LOG, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
PI_4 = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)


def fma32(a, b, c):
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(np.float32)


def polynomial(coefficients, x):
    y = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        y = fma32(y, x, np.float32(c))
    return y


def log(x):
    x, exponent = np.frexp(x)
    is_small = (x < np.float32(0.707106781186547524)).astype(np.float32)
    exponent = exponent.astype(np.float32) - is_small
    x = (x + x * is_small) - np.float32(1)
    square = x * x
    y = polynomial(LOG, x) * x
    y = fma32(y, square, exponent * np.float32(-2.12194440e-4))
    y = fma32(square, np.float32(-0.5), y)
    return fma32(exponent, np.float32(0.693359375), x + y)


def cos_sin(x):
    octant = ((x * np.float32(1.27323954473516)).astype(np.int32) + 1) & ~1
    for part in PI_4:
        x = fma32(octant.astype(np.float32), np.float32(-part), x)
    square = x * x
    cos = polynomial(COS, square) * square
    cos = fma32(cos, square, square * np.float32(-0.5)) + np.float32(1)
    sin = fma32(polynomial(SIN, square) * square, x, x)
    cos, sin = np.where(octant & 2, sin, cos), np.where(octant & 2, cos, sin)
    return np.where((octant + 2) & 4, -cos, cos), np.where(octant & 4, -sin, sin)


@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (0.0, 0.3), (-0.7, 0.3)])
def test_blocks_are_what_the_formulas_give_for_every_word(mean, std):
    n = BLOCKS * BLOCK
    blocks, out = Blocks(BLOCKS), np.empty((BLOCKS, BLOCK), np.float32)
    for start in range(0, 2**24 if std == 1 else 2**20, n // 2):
        word = np.arange(start, start + n // 2, dtype=np.int32) % 2**24
        halves = word.reshape(-1, 8), word[::-1].reshape(-1, 8)
        blocks.transform(np.hstack(halves).reshape(-1), out.reshape(-1), mean, std)
        u, v = (half.astype(np.float32) * np.float32(2.0**-24) for half in halves)
        radius = np.sqrt(np.float32(-2) * log(np.float32(1) - u))
        for part, factor in zip(
            np.hsplit(out, 2), cos_sin(np.float32(2 * math.pi) * v), strict=True
        ):
            want = fma32(radius * factor, np.float32(std), np.float32(mean))
            assert (part.view(np.int32) == want.view(np.int32)).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, integer._MANY - 1, integer._MANY, 5001])
def test_a_permutation_is_what_swapping_one_by_one_gives(n):
    words = Twister(3).u32(max(n - 1, 0)).tolist()
    want = list(range(n))
    for i, word in enumerate(words):
        j = i + word % (n - i)
        want[i], want[j] = want[j], want[i]
    stream = Twister(3)
    assert integer.permutation(stream, n).tolist() == want
    assert stream.u32(1) == Twister(3).u32(max(n, 1))[-1]


@pytest.mark.parametrize("n", [2, 3, 10, integer._MANY, 5001])
def test_a_huge_permutation_is_built_from_the_inside_out(monkeypatch, n):
    monkeypatch.setattr(integer, "_HUGE", 2)
    want = list(range(n))
    for i, word in enumerate(Twister(3).u64(n).tolist()):
        j = word % (i + 1)
        want[i], want[j] = want[j], i
    assert integer.permutation(Twister(3), n).tolist() == want


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("n", [16, 17, 31, 40, BLOCKS * BLOCK, BLOCKS * BLOCK + 5])
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


@pytest.mark.parametrize("round_", range(4))
def test_what_is_drawn_ahead_is_what_would_be_drawn(rng, round_):
    single = np.dtype(np.float32)
    ahead, plain = Twister(round_), Twister(round_)
    ahead.u32(100 * round_), plain.u32(100 * round_)
    for _ in range(300):
        kind, n = rng.random(), int(rng.integers(16, 1025))
        mean, std = (0.0, 1.0) if rng.random() < 0.5 else (0.3, 2.0)
        if kind < 0.9:
            plain.asked_for_few = False  # so that it does not draw ahead
            found = normal.normal(ahead, (n,), single, mean, std)
            want = normal.normal(plain, (n,), single, mean, std)
        elif kind < 0.92:
            found, want = ahead.pack(), plain.pack()
        elif kind < 0.94:
            kept = ahead.snapshot(), plain.snapshot()
            normal.normal(ahead, (n,), single), plain.u32(n)
            ahead.restore(kept[0]), plain.restore(kept[1])
        elif kind < 0.96:
            ahead.reseed(n), plain.reseed(n)
        elif kind < 0.98:
            found, want = ahead.low53(n), plain.low53(n)
        else:
            found = normal.normal(ahead, (n,), np.dtype(np.float64))
            want = normal.normal(plain, (n,), np.dtype(np.float64))
        assert found.tobytes() == want.tobytes()
    assert ahead.pack().tobytes() == plain.pack().tobytes()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_any_number_of_threads_draws_the_same_numbers(dtype):
    n, before = normal._SHARED + 5, threads.n_threads()
    drawn = []
    try:
        for n_threads in (1, 2, 5):
            threads.set_n_threads(n_threads)
            stream = Twister(7)
            numbers = normal.normal(stream, (n,), np.dtype(dtype), 0.5, 2.0)
            drawn.append((numbers.tobytes(), stream.u32(1).item()))
    finally:
        threads.set_n_threads(before)
    assert drawn[0] == drawn[1] == drawn[2]


def test_numbers_that_rounding_takes_to_the_upper_bound_become_the_lower_one():
    x = exponential_cauchy.uniform(Twister(0), (5000,), np.dtype("f4"), 1000.0, 1000.001)
    assert x.min() == 1000
    assert x.max() < np.float32(1000.001)
    x = exponential_cauchy.uniform(Twister(0), (5000,), np.dtype("f2"))
    assert x.max() < 1
    x = exponential_cauchy.uniform(Twister(0), (5000,), np.dtype("f8"), 1.0, 1 + 2.0**-52)
    assert x.max() == 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("draw", [exponential_cauchy.uniform, normal.normal])
def test_memory_that_is_given_gets_the_same_numbers(draw, dtype):
    kind = np.dtype(dtype)
    out = np.empty((5, 3, 7), kind)
    assert draw(Twister(4), out.shape, kind, -1.0, 2.0, out=out) is out
    assert (out == draw(Twister(4), out.shape, kind, -1.0, 2.0)).all()


def test_few_of_many_weights_are_those_of_a_whole_sort(rng):
    keys = rng.integers(0, 50, (3, 1000)).astype(float)
    keys[0, :990] = np.nan
    for row in keys:
        want = np.argsort(row, kind="stable")
        for n in (1, 7, 20, 200):
            assert (integer._lowest(row, n) == want[:n]).all()


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


def test_binomial_of_float32_rounds_its_terms_as_pytorch_does():
    trials, chance = np.full(6, 1000, np.float32), np.array(0.01, np.float32)
    counts = binomial_poisson.binomial(Twister(3), trials, chance)  # 10 expected, in float32
    assert counts.tolist() == [13.0, 13.0, 7.0, 9.0, 7.0, 9.0]
    trials, chances = np.full(40, 1e7, np.float32), np.linspace(0.1, 0.9, 40, dtype=np.float32)
    counts = binomial_poisson.binomial(Twister(3), trials, chances)
    assert counts[[1, 14, 15, 24]].tolist() == [1205995.0, 3872078.0, 4078664.0, 5922257.0]


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


MANY = 2 * 2**16 + 1000  # three parts, which threads share
PROBABILITIES = np.linspace(0, 1, MANY)
DRAWS = {
    "uniform": lambda stream, dtype: exponential_cauchy.uniform(stream, (MANY,), dtype, -1.0, 2.0),
    "bernoulli": lambda stream, dtype: exponential_cauchy.bernoulli(stream, (MANY,), dtype, 0.3),
    "bernoulli of an array": lambda stream, dtype: exponential_cauchy.bernoulli(
        stream, (MANY,), dtype, PROBABILITIES.astype(dtype)
    ),
    "exponential": lambda stream, dtype: exponential_cauchy.exponential(stream, (MANY,), dtype, 2),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", DRAWS)
def test_threads_that_share_draws_leave_the_numbers_as_they_are(name, dtype):
    before = threads.n_threads()
    found = []
    try:
        for n in (1, 2, 3):
            threads.set_n_threads(n)
            stream = Twister(3)
            found.append((DRAWS[name](stream, np.dtype(dtype)), stream.u32(3)))
    finally:
        threads.set_n_threads(before)
    for numbers, next_words in found[1:]:
        np.testing.assert_array_equal(numbers, found[0][0])
        np.testing.assert_array_equal(next_words, found[0][1])


def test_many_numbers_come_from_the_words_in_their_order():
    drawn, single = Twister(3).fractions64(MANY), Twister(3).low24(MANY) * np.float32(2**-24)
    double = np.dtype(np.float64)
    np.testing.assert_array_equal(DRAWS["bernoulli"](Twister(3), double), drawn < 0.3)
    ones = DRAWS["bernoulli of an array"](Twister(3), np.dtype(np.float32))
    np.testing.assert_array_equal(ones, single < PROBABILITIES.astype(np.float32))
    times = DRAWS["exponential"](Twister(3), double)
    np.testing.assert_allclose(times, -np.log1p(-drawn) / 2, rtol=1e-15)
    half = exponential_cauchy.bernoulli(Twister(3), (MANY // 8, 8), double, np.full((8,), 0.5))
    np.testing.assert_array_equal(half, Twister(3).fractions64(MANY).reshape(-1, 8) < 0.5)


def test_an_infinite_median_is_where_all_numbers_are():
    x = exponential_cauchy.cauchy(Twister(0), (5,), np.dtype("f4"), math.inf, 0.5)
    assert x.tolist() == [math.inf] * 5
