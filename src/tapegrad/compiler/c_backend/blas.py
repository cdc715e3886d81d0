"""Products of matrices by the BLAS that NumPy or SciPy brings.

`found()` says which one there is, and `SOURCES` how C calls it: through pointers that are set once
when a library is loaded. Where there is none, loops of C take its place.
"""

import ctypes
import sys
from functools import cache
from pathlib import Path

import numpy as np

from tapegrad.core.annotations import Any


class Blas:
    """Addresses of sgemm and dgemm, and in which convention they are called."""

    def __init__(self, convention: str, sgemm: int = 0, dgemm: int = 0, keep: Any = None):
        self.convention, self.sgemm, self.dgemm, self.keep = convention, sgemm, dgemm, keep


@cache
def found() -> Blas:
    """The BLAS of this process."""
    return _of_numpy() or _of_scipy() or Blas("loops")


def _of_numpy() -> Blas | None:
    """The library in NumPy's own wheel, with 64-bit integers."""
    folder = Path(np.__file__).parent
    places = [folder.parent / "numpy.libs", folder / ".libs", folder / ".dylibs"]
    for place in places:
        for path in sorted(place.glob("*openblas64*")) if place.is_dir() else ():
            try:
                library = ctypes.CDLL(str(path))
                pointers = [
                    ctypes.cast(getattr(library, f"scipy_cblas_{x}gemm64_"), ctypes.c_void_p).value
                    for x in "sd"
                ]
            except (OSError, AttributeError):  # another build of it: SciPy's or loops remain
                continue
            return Blas("cblas64", pointers[0] or 0, pointers[1] or 0, library)
    return None


def _of_scipy() -> Blas | None:
    """The functions that SciPy offers to Cython, with 32-bit integers, as Fortran calls them."""
    try:
        from scipy.linalg import cython_blas  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    if sys.implementation.name != "cpython":
        return None
    capi = cython_blas.__pyx_capi__
    pointers = [_pointer_in(capi[f"{x}gemm"]) for x in "sd"]
    return Blas("fortran", pointers[0], pointers[1], cython_blas)


def _pointer_in(capsule: Any) -> int:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule)) or 0


_CBLAS64 = """\
typedef void (*gemm_SUFFIX_t)(int, int, int, int64_t, int64_t, int64_t, REAL, const REAL *, int64_t,
                              const REAL *, int64_t, REAL, REAL *, int64_t);
static gemm_SUFFIX_t gemm_SUFFIX; /* cblas, set by bind() */
/* out = x y: m rows, n columns; x and y lie in rows or in columns, out in rows */
static void product_SUFFIX(int64_t m, int64_t n, int64_t k, const REAL *x, int x_columns,
                           int64_t x_step, const REAL *y, int y_columns, int64_t y_step, REAL *out,
                           int64_t out_step) {
    gemm_SUFFIX(101, x_columns ? 112 : 111, y_columns ? 112 : 111, m, n, k, 1, x, x_step, y, y_step,
                0, out, out_step);
}
"""
_FORTRAN = """\
typedef void (*gemm_SUFFIX_t)(const char *, const char *, const int *, const int *, const int *,
                              const REAL *, const REAL *, const int *, const REAL *, const int *,
                              const REAL *, REAL *, const int *);
static gemm_SUFFIX_t gemm_SUFFIX; /* Fortran's, set by bind() */
/* out = x y: m rows, n columns; x and y lie in rows or in columns, out in rows */
static void product_SUFFIX(int64_t m, int64_t n, int64_t k, const REAL *x, int x_columns,
                           int64_t x_step, const REAL *y, int y_columns, int64_t y_step, REAL *out,
                           int64_t out_step) {
    const int rows = (int)n, columns = (int)m, inner = (int)k;
    const int first = (int)y_step, second = (int)x_step, third = (int)out_step;
    const REAL one = 1, zero = 0;
    gemm_SUFFIX(y_columns ? "T" : "N", x_columns ? "T" : "N", &rows, &columns, &inner, &one, y,
                &first, x, &second, &zero, out, &third);
}
"""
_LOOPS = """\
/* out = x y: m rows, n columns; x and y lie in rows or in columns, out in rows */
static void product_SUFFIX(int64_t m, int64_t n, int64_t k, const REAL *x, int x_columns,
                           int64_t x_step, const REAL *y, int y_columns, int64_t y_step, REAL *out,
                           int64_t out_step) {
    for (int64_t i = 0; i < m; i++) {
        REAL *row = out + i * out_step;
        for (int64_t j = 0; j < n; j++) row[j] = 0;
        for (int64_t l = 0; l < k; l++) {
            const REAL a = x_columns ? x[l * x_step + i] : x[i * x_step + l];
            if (y_columns)
                for (int64_t j = 0; j < n; j++) row[j] += a * y[j * y_step + l];
            else
                for (int64_t j = 0; j < n; j++) row[j] += a * y[l * y_step + j];
        }
    }
}
"""
_SOURCES = {"cblas64": _CBLAS64, "fortran": _FORTRAN, "loops": _LOOPS}


def source(suffix: str) -> str:
    """The C function `product_f32` or `product_f64`."""
    real = {"f32": "float", "f64": "double"}[suffix]
    return _SOURCES[found().convention].replace("SUFFIX", suffix).replace("REAL", real)


def binding(suffixes: Any) -> str:
    """The C function that is given the addresses of sgemm and dgemm."""
    lines = ["void bind(void *sgemm, void *dgemm) {"]
    if found().convention != "loops":
        for suffix, name in (("f32", "sgemm"), ("f64", "dgemm")):
            if suffix in suffixes:
                lines.append(f"    gemm_{suffix} = (gemm_{suffix}_t){name};")
    return "\n".join([*lines, "    (void)sgemm, (void)dgemm;", "}", ""])
