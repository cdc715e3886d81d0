"""Products of matrices without a BLAS, for every width of vectors that this machine can run."""

import ctypes
import itertools
import mmap
import platform
import sys

import numpy as np
import pytest

from tapegrad.compiler.c_backend import c_library
from tests.compiler.c_backend.c_compiler import compiled

TYPES = {"f32": np.float32, "f64": np.float64}
X86 = platform.machine().lower() in ("x86_64", "amd64")
FLAGS = {"native": (), "avx2": ("-mno-avx512f",), "sse": ("-march=x86-64",)}
WIDTHS = FLAGS if X86 else {"native": ()}


def gemm(suffix, width):
    """`tg_gemm` as Python calls it."""
    head = "void product(int a, int b, const int64_t *n, const real *s, void *A, void *B, void *C)"
    call = "tg_gemm_real(101, a, b, n[0], n[1], n[2], s[0], A, n[3], B, n[4], s[1], C, n[5]);"
    code = f"{head} {{\n    {call}\n}}\n".replace("_real", f"_{suffix}")
    code = code.replace("real", {"f32": "float", "f64": "double"}[suffix])
    text = c_library.HEADER + c_library.used_by(code) + code + f"/* {width} */\n"
    product = compiled(text, *FLAGS[width])[0].product

    def run(x, y, out, alpha=1.0, beta=0.0, a=False, b=False):
        (m, n), k = out.shape, x.shape[0] if a else x.shape[1]
        steps = [each.strides[0] // each.itemsize for each in (x, y, out)]
        numbers = (ctypes.c_int64 * 6)(m, n, k, *steps)
        scales = np.array([alpha, beta], x.dtype)
        where = [ctypes.c_void_p(each.ctypes.data) for each in (scales, x, y, out)]
        product(112 if a else 111, 112 if b else 111, numbers, *where)

    return run


def assert_product(out, x, y, alpha=1.0, added=0.0):
    """That each sum is right to a few roundings of the sum of its absolute products."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    limit = 8 * np.finfo(out.dtype).eps * (abs(alpha) * (np.abs(x) @ np.abs(y)) + np.abs(added))
    assert (np.abs(out - (alpha * (x @ y) + added)) <= limit).all()


def draw(shape, dtype, seed):
    return np.random.default_rng(abs(seed) + 1000 * (seed < 0)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize(("a", "b"), list(itertools.product((False, True), repeat=2)))
def test_products_of_all_shapes(a, b, suffix, width):
    run, dtype = gemm(suffix, width), TYPES[suffix]
    sizes = itertools.product((1, 2, 5, 7, 8, 13, 70), (1, 7, 16, 32, 33, 90), (1, 16, 37, 600))
    for m, n, k in sizes:
        x, y = draw((k, m) if a else (m, k), dtype, m), draw((n, k) if b else (k, n), dtype, -n)
        around = np.full((m, n + 3), 7, dtype)
        run(x, y, around[:, :n], a=a, b=b)
        assert_product(around[:, :n], x.T if a else x, y.T if b else y)
        assert (around[:, n:] == 7).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("suffix", TYPES)
def test_tall_matrices_are_cut(suffix, width):
    run, dtype = gemm(suffix, width), TYPES[suffix]
    for m, n, k, a in [(701, 70, 530, True), (1301, 33, 40, True), (701, 70, 530, False)]:
        x, y = draw((k, m) if a else (m, k), dtype, 0), draw((k, n), dtype, 1)
        out = np.empty((m, n), dtype)
        run(x, y, out, a=a)
        assert_product(out, x.T if a else x, y)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("suffix", TYPES)
def test_what_is_there_is_scaled_and_added_to(suffix, width):
    run, dtype = gemm(suffix, width), TYPES[suffix]
    for m, n, k in [(9, 32, 20), (9, 21, 20), (9, 32, 520), (3, 5, 520)]:
        x, y, c = draw((m, k), dtype, 0), draw((k, n), dtype, 1), draw((m, n), dtype, 2)
        for alpha, beta in [(1, 1), (-0.5, 0), (2, 0.25)]:
            out = c.copy()
            run(x, y, out, alpha, beta)
            assert_product(out, x, y, alpha, beta * c)
        out = np.full_like(c, np.nan)
        run(x, y, out)  # beta of 0: nan that is there counts nothing
        assert np.isfinite(out).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("a", [False, True])
def test_a_row_is_the_same_alone_and_among_others(a, width):
    run = gemm("f32", width)
    x, y = draw((150, 610), np.float32, 0), draw((610, 75), np.float32, 1)
    out = np.empty((150, 75), np.float32)
    run(np.ascontiguousarray(x.T) if a else x, y, out, a=a)
    for first, last in [(0, 1), (3, 8), (40, 117)]:
        part = np.empty((last - first, 75), np.float32)
        rows = x[first:last]
        run(np.ascontiguousarray(rows.T) if a else rows, y, part, a=a)
        assert part.tobytes() == out[first:last].tobytes()
    few = np.empty((150, 9), np.float32)
    run(np.ascontiguousarray(x.T) if a else x, np.ascontiguousarray(y[:, 5:14]), few, a=a)
    assert few.tobytes() == np.ascontiguousarray(out[:, 5:14]).tobytes()


@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected otherwise")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("a", "b"), list(itertools.product((False, True), repeat=2)))
def test_nothing_behind_the_matrices_is_read_or_written(a, b, width):
    run, kept = gemm("f32", width), []
    c = ctypes.CDLL(None, use_errno=True)

    def at_the_end(x):
        """A copy whose last byte lies before a page that nobody may touch."""
        page = mmap.PAGESIZE
        size = -(-x.nbytes // page) * page
        memory = mmap.mmap(-1, size + page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert c.mprotect(ctypes.c_void_p(start + size), ctypes.c_size_t(page), 0) == 0
        kept.append(memory)
        out = np.frombuffer(memory, x.dtype, x.size, size - x.nbytes).reshape(x.shape)
        out[...] = x
        return out

    for m, n, k in [(3, 5, 7), (8, 32, 16), (13, 33, 31), (70, 40, 300), (9, 48, 257)]:
        x = draw((k, m) if a else (m, k), np.float32, 0)
        y = draw((n, k) if b else (k, n), np.float32, 1)
        out = at_the_end(np.zeros((m, n), np.float32))
        run(at_the_end(x), at_the_end(y), out, a=a, b=b)
        assert_product(out, x.T if a else x, y.T if b else y)
