"""Elementary functions in C: errors over dense ranges, and values at special numbers."""

import ctypes
import re

import mpmath
import numpy as np
import pytest
from scipy import special

from tapegrad.compiler.c_backend import vector_math
from tests.compiler.c_backend.c_compiler import compiled

INF, NAN = np.inf, np.nan
HEADERS = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
EPS = 2.0**-23
EXTRA = np.longdouble


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def rsqrt(x):
    return 1 / np.sqrt(x)


# name: what it is, ranges, and the largest errors in units in the last place (float32, float64).
# Of float32 the reference is computed in double precision, of float64 in extended precision where
# NumPy has the function, else by mpmath.
WIDE = ((-1e-3, 1e-3), (-1.0, 1.0), (-20.0, 20.0))
FUNCTIONS = {
    "exp": (np.exp, (*WIDE, (-104, 88.7)), 1.0, 1.0),
    "expm1": (np.expm1, (*WIDE, (-104, 88.7)), 2.0, 2.0),
    "tanh": (np.tanh, WIDE, 3.0, 3.0),
    "sigmoid": (sigmoid, (*WIDE, (-87, 89)), 3.0, 3.0),
    "sigmoid_slope": (lambda y: (1 - y) * y, ((0, 1), (1 - 1e-5, 1)), 2.0, 2.0),
    "tanh_slope": (lambda y: (1 - y) * (1 + y), ((-1, 1), (1 - 1e-5, 1), (-20, 20)), 2.0, 2.0),
    "log": (np.log, ((0, 1e-37), (0, 2), (0.9, 1.1), (0, 1e30)), 1.0, 1.0),
    "log1p": (np.log1p, ((-1, 1), (-1e-3, 1e-3), (0, 1e30)), 2.0, 2.0),
    "log2": (np.log2, ((0, 2), (0, 1e30)), 1.0, 3.0),
    "log10": (np.log10, ((0, 2), (0, 1e30)), 1.0, 3.0),
    "softplus": (softplus, WIDE, 3.0, 3.0),
    "erf": (special.erf, (*WIDE, (0.9, 4)), 2.0, 3.0),
    "erfc": (special.erfc, (*WIDE, (0.9, 9.3)), 5.0, 6.0),
    "sin": (np.sin, (*WIDE, (-1e5, 1e5), (1e20, 3e38)), 2.0, 1.0),
    "cos": (np.cos, (*WIDE, (-1e5, 1e5), (1e20, 3e38)), 2.0, 1.0),
    "sqrt": (np.sqrt, ((0, 1), (0, 1e38)), 0.5, 0.5),
    "rsqrt": (rsqrt, ((0, 1), (0, 1e38)), 1.5, 1.5),
}
TYPES = {"f32": ("float", np.float32), "f64": ("double", np.float64)}


def loop(name, suffix, n_arguments=1):
    real = TYPES[suffix][0]
    letters = "ab"[:n_arguments]
    given = ", ".join(f"const {real} *restrict {x}" for x in letters)
    call = f"tg_{name}_{suffix}({', '.join(f'{x}[i]' for x in letters)})"
    return (
        f"void run_{name}_{suffix}(int64_t n, {real} *restrict y, {given}) {{\n"
        f'    _Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = {call};\n}}\n'
    )


def source():
    loops = [loop(name, suffix) for name in FUNCTIONS for suffix in TYPES]
    loops += [loop("pow", suffix, 2) for suffix in TYPES]
    alone = ("exp_down", "gelu", "gelu_tanh")
    loops += [loop(name, suffix) for name in alone for suffix in TYPES]
    loops += [loop(f"{name}_back", suffix, 2) for name in ("gelu", "gelu_tanh") for suffix in TYPES]
    text = vector_math.LIBRARY.source(vector_math.LIBRARY.definitions)
    return "\n".join([HEADERS, text, *loops])


def run(name, *arrays):
    suffix = "f32" if arrays[0].dtype == np.float32 else "f64"
    library, _ = compiled(source())
    out = np.empty_like(arrays[0])
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (out, *arrays)]
    getattr(library, f"run_{name}_{suffix}")(ctypes.c_int64(out.size), *pointers)
    return out


def ulps(found, exact):
    """The error in units in the last place of the correctly rounded result."""
    exact = np.asarray(exact, EXTRA)
    unit = np.spacing(np.abs(exact.astype(found.dtype))).astype(EXTRA)
    with np.errstate(all="ignore"):
        error = np.abs(found.astype(EXTRA) - exact) / unit
    same = (found == exact.astype(found.dtype)) | (np.isnan(found) & np.isnan(exact))
    return float(np.where(same, 0, error).max())


def by_mpmath(function, x):
    """A function of mpmath as the sum of two doubles, which have 106 bits."""
    with mpmath.workprec(300):
        exact = [function(mpmath.mpf(float(each))) for each in x]
        high = [float(y) for y in exact]
        low = [float(y - h) for y, h in zip(exact, high, strict=True)]
    return np.array(high, EXTRA) + np.array(low, EXTRA)


def points(ranges, dtype):
    rng = np.random.default_rng(0)
    return np.concatenate([rng.uniform(*each, 40_000).astype(dtype) for each in ranges])


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_error_is_the_one_that_is_stated(name, suffix):
    exact, ranges, *bounds = FUNCTIONS[name]
    dtype = TYPES[suffix][1]
    x = points(ranges, dtype)
    with np.errstate(all="ignore"):
        if suffix == "f32":
            expected = exact(x.astype(np.float64))
        elif exact in (special.erf, special.erfc):
            x = x[np.linspace(0, len(x) - 1, 3000).astype(int)]
            expected = by_mpmath(getattr(mpmath, name), x)
        else:
            expected = exact(x.astype(EXTRA))
        found = run(name, x)
    assert ulps(found, expected) <= bounds[suffix == "f64"]


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_near_multiples_of_half_a_turn(name):
    """What is left of a large number after whole turns is small: all its digits count."""
    rng, numbers = np.random.default_rng(0), []
    with mpmath.workprec(300):
        for exponent in rng.uniform(0, 127, 2000):
            k = mpmath.nint(mpmath.mpf(2) ** exponent / (mpmath.pi / 2))
            numbers.append(float(k * mpmath.pi / 2))
        x = np.array(numbers, np.float32)
        assert ulps(run(name, x), by_mpmath(getattr(mpmath, name), x)) <= 2


SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 2.0, 1e-300, 1e-42, -1e-42, 1e300, -1e300]


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_numbers(name, suffix):
    exact = FUNCTIONS[name][0]
    dtype = TYPES[suffix][1]
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL).astype(dtype)
        x = np.concatenate((x, [np.finfo(dtype).tiny, np.finfo(dtype).max]), dtype=dtype)
        if name == "sigmoid_slope":
            x = x[(x >= 0) & (x <= 1) | np.isnan(x)]  # what a sigmoid gives
        found, expected = run(name, x), exact(x.astype(np.float64)).astype(dtype)
    np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps, atol=0)
    is_zero = expected == 0
    np.testing.assert_array_equal(np.signbit(found[is_zero]), np.signbit(expected[is_zero]))


@pytest.mark.parametrize("suffix", TYPES)
def test_exp_in_one_factor(suffix):
    """Right where its result is a normal number, and 0 below, also of -infinity."""
    dtype = TYPES[suffix][1]
    least = np.log(np.finfo(dtype).tiny)
    x = points((*WIDE, (least, 80), (-1, 0)), dtype)
    exact = np.exp(x.astype(np.float64 if suffix == "f32" else EXTRA))
    assert ulps(run("exp_down", x), exact) <= 1
    found = run("exp_down", np.array([0, -0.0, least - 2, -1e4, -1e30, -INF, NAN], dtype))
    np.testing.assert_array_equal(found, [1, 1, 0, 0, 0, 0, NAN])


@pytest.mark.parametrize("suffix", TYPES)
def test_tanh_and_sigmoid_stay_within_their_limits(suffix):
    dtype = TYPES[suffix][1]
    x = points(((-30, 30), (-10, -5), (5, 10), (-1e30, 1e30)), dtype)
    assert np.abs(run("tanh", x)).max() == 1
    far = np.abs(x) > (9.02 if suffix == "f32" else 19.1)
    np.testing.assert_array_equal(run("tanh", x)[far], np.sign(x[far]))
    found = run("sigmoid", x)
    assert found.min() == 0 and found.max() == 1
    tiny = np.array([1e-42, -1e-42, 1e-38, -1e-20, 1e-10], dtype)
    np.testing.assert_array_equal(run("tanh", tiny), tiny)


@pytest.mark.parametrize(("suffix", "bound"), [("f32", 1.0), ("f64", 1.0)])
def test_powers(suffix, bound):
    dtype = TYPES[suffix][1]
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(-5, 5, 50_000)).astype(dtype)
    y = rng.uniform(-15, 15, 50_000).astype(dtype)
    wider = np.float64 if suffix == "f32" else EXTRA
    assert ulps(run("pow", x, y), np.power(x.astype(wider), y.astype(wider))) <= bound
    x = rng.integers(-9, 9, 5000).astype(dtype)
    y = rng.integers(-5, 5, 5000).astype(dtype)
    with np.errstate(all="ignore"):
        assert ulps(run("pow", x, y), np.power(x.astype(wider), y.astype(wider))) <= bound


@pytest.mark.parametrize("suffix", TYPES)
def test_powers_of_special_numbers(suffix):
    dtype = TYPES[suffix][1]
    numbers = np.array([*SPECIAL[:7], 0.5, -0.5, 3.0, -3.0, 2.0, -2.5, 1e30, -1e30], dtype)
    x, y = (np.ascontiguousarray(each.ravel()) for each in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        found, expected = run("pow", x, y), np.power(x, y)
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)
    same = (np.signbit(found) == np.signbit(expected)) | np.isnan(expected)
    assert same.all()


def gelu(x):
    x = x.astype(np.float64)
    return x * special.ndtr(x)


def gelu_back(g, x):
    x = x.astype(np.float64)
    return g * (special.ndtr(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


@pytest.mark.parametrize(("suffix", "bound"), [("f32", 1e-7), ("f64", 4e-16)])
def test_gelu(suffix, bound):
    dtype = TYPES[suffix][1]
    x = points((*WIDE, (-6, 6)), dtype)
    g = points((*WIDE, (-6, 6)), dtype)[::-1].copy()
    assert (np.abs(run("gelu", x) - gelu(x)) <= bound * np.maximum(np.abs(x), 1)).all()
    exact = gelu_back(g, x)
    assert (np.abs(run("gelu_back", g, x) - exact) <= 3 * bound * np.abs(g)).all()


def test_gelu_of_negative_numbers_is_right_in_proportion():
    """Phi(x) is small there, and yet no difference of large numbers."""
    x = points(((-9, 0), (-3, 0), (-1e-3, 0)), np.float32)
    found = np.abs(run("gelu", x) / gelu(x) - 1)
    assert found.max() <= 60 * EPS and found[x > -3].max() <= 11 * EPS
    found = np.abs(run("gelu_back", np.ones_like(x), x) / gelu_back(1, x) - 1)[x < -1]
    assert found.max() <= 60 * EPS


@pytest.mark.parametrize(("suffix", "bound"), [("f32", 4e-7), ("f64", 4e-15)])
def test_gelu_by_tanh(suffix, bound):
    from tapegrad.arrays.numpy import namespace

    dtype = TYPES[suffix][1]
    x = points((*WIDE, (-6, 6)), dtype)
    g = points((*WIDE, (-6, 6)), dtype)[::-1].copy()
    exact = namespace.gelu(x.astype(np.float64), "tanh")
    assert (np.abs(run("gelu_tanh", x) - exact) <= bound * np.maximum(np.abs(x), 1)).all()
    exact = namespace.gelu_back(g.astype(np.float64), x.astype(np.float64), "tanh")
    found = run("gelu_tanh_back", g, x)
    assert (np.abs(found - exact) <= 6 * bound * np.maximum(np.abs(g), 1)).all()


@pytest.mark.parametrize("suffix", TYPES)
def test_gelu_of_special_numbers_is_the_kernels(suffix):
    from tapegrad.arrays.numpy import namespace

    x = np.array([0.0, -0.0, INF, -INF, NAN, 1e-42, 30, -30], TYPES[suffix][1])
    for approximate, name in (("none", "gelu"), ("tanh", "gelu_tanh")):
        with np.errstate(all="ignore"):
            expected = namespace.gelu(x, approximate)
        np.testing.assert_allclose(run(name, x), expected, rtol=1e-6, atol=1e-20)


def test_whole_powers():
    loops = [
        f"void p{n if n >= 0 else f'm{-n}'}(double *y, const float *x) "
        f"{{ y[0] = tg_powi_f32(x[0], {n}); y[1] = tg_powi_f64(x[0], {n}); }}\n"
        for n in (-3, -1, 0, 1, 2, 3, 7)
    ]
    names = ["tg_powi_f32", "tg_powi_f64"]
    text = HEADERS + vector_math.LIBRARY.source(names) + "\n" + "".join(loops)
    library, _ = compiled(text)
    x, y = np.array([-1.5], np.float32), np.empty(2)
    for n in (-3, -1, 0, 1, 2, 3, 7):
        run_one = getattr(library, f"p{n}" if n >= 0 else f"pm{-n}")
        run_one(ctypes.c_void_p(y.ctypes.data), ctypes.c_void_p(x.ctypes.data))
        np.testing.assert_allclose(y, (-1.5) ** n, rtol=1e-6)


def test_a_definition_comes_with_what_it_needs():
    text = vector_math.LIBRARY.source(["tg_sigmoid_f32"])
    assert re.findall(r"(tg_\w+)\([\w *,]+\) \{", text) == [
        "tg_float_of_bits",
        "tg_bits_of_float",
        "tg_exp_bend_f32",
        "tg_exp_parts_f32",
        "tg_sigmoid_f32",
    ]
