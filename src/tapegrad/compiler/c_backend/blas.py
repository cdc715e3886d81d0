"""Whose products of matrices programs call.

`found()` says whose: with AVX-512 those of `templates.gemm`, which are quicker; elsewhere those of
the BLAS that NumPy or SciPy brings, and ours where there is none. C calls them by pointers of
CBLAS's type, `gemm_f32` and `gemm_f64`, that `bind` sets when a library is loaded.
"""

import ctypes
import hashlib
import os
import sys
from functools import cache

import numpy as np

from tapegrad.compiler.c_backend import cache as libraries
from tapegrad.compiler.c_backend.surroundings import surroundings
from tapegrad.compiler.c_backend.toolchain import compiler, cpu
from tapegrad.core.annotations import Any, Sequence


class Blas:
    """Addresses of sgemm and dgemm, and in which convention they are called: ours are "own".

    `threads` are addresses of what gives and sets the number of its threads; 0 if it has none.
    """

    def __init__(
        self, convention: str, sgemm: int = 0, dgemm: int = 0, keep: Any = None,
        threads: tuple[int, int] = (0, 0),
    ):  # fmt: skip
        self.convention, self.keep, self.threads = convention, keep, threads
        self._addresses = {"f32": sgemm, "f64": dgemm}

    def address(self, suffix: str) -> int:
        """Of the product of that type. Raises CompilerMissing where ours cannot be compiled."""
        return _own(suffix) if self.convention == "own" else self._addresses[suffix]


@cache
def found() -> Blas:
    """What makes the products of this process."""
    if "avx512f" in cpu():
        return Blas("own")
    return _of_numpy() or _of_scipy() or Blas("own")


def bind(library: Any, suffixes: Sequence[str]) -> None:
    """Give a library the products of these types."""
    kernels = found()
    library.bind.argtypes, library.bind.restype = [ctypes.c_void_p] * 2, None
    library.bind(*[kernels.address(t) if t in suffixes else 0 for t in _REAL])


@cache
def _own(suffix: str) -> int:
    """Where our product of a type lies, in a library of its own."""
    known = f"{suffix}\n{compiler().identity}\n{surroundings()}"
    known = hashlib.sha256(known.encode()).hexdigest()[:32]
    library = libraries.kept(known)
    if library is None:
        from tapegrad.compiler.c_backend import c_library  # which takes long to import

        code = f"tg_gemm_type_{suffix} product = tg_gemm_{suffix};\n"
        source = c_library.HEADER + c_library.used_by(f"tg_gemm_{suffix}()") + code
        library = libraries.library(source, compiler())
        libraries.keep(known, source, compiler())
    return ctypes.c_void_p.in_dll(library, "product").value or 0


def _of_numpy() -> Blas | None:
    """The library in NumPy's own wheel, with 64-bit integers."""
    folder = os.path.dirname(np.__file__)
    beside = os.path.join(os.path.dirname(folder), "numpy.libs")
    for place in (beside, os.path.join(folder, ".libs"), os.path.join(folder, ".dylibs")):
        names = os.listdir(place) if os.path.isdir(place) else []
        for name in sorted(x for x in names if "openblas64" in x):
            try:
                library = ctypes.CDLL(os.path.join(place, name))
                sgemm, dgemm = [_address(library, f"scipy_cblas_{x}gemm64_") for x in "sd"]
                threads = [
                    _address(library, f"scipy_openblas_{x}_num_threads64_") for x in ("get", "set")
                ]
            except (OSError, AttributeError):  # another build of it: SciPy's or ours remains
                continue
            return Blas("cblas64", sgemm, dgemm, library, (threads[0], threads[1]))
    return None


def _address(library: Any, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


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


_FORTRAN = """\
typedef void (*fortran_SUFFIX_t)(const char *, const char *, const int *, const int *, const int *,
                                 const REAL *, const REAL *, const int *, const REAL *, const int *,
                                 const REAL *, REAL *, const int *);
static fortran_SUFFIX_t fortran_SUFFIX;
/* CBLAS by Fortran's function, of which rows are columns */
static void by_fortran_SUFFIX(int order, int a, int b, int64_t m, int64_t n, int64_t k, REAL alpha,
                              const REAL *A, int64_t lda, const REAL *B, int64_t ldb, REAL beta,
                              REAL *C, int64_t ldc) {
    const int rows = (int)n, columns = (int)m, inner = (int)k;
    const int first = (int)ldb, second = (int)lda, third = (int)ldc;
    (void)order;
    fortran_SUFFIX(b == 112 ? "T" : "N", a == 112 ? "T" : "N", &rows, &columns, &inner, &alpha, B,
                   &first, A, &second, &beta, C, &third);
}
"""
_ALONE = """\
#ifdef TG_CBLAS
#include <cblas.h>
static void by_cblas_SUFFIX(int order, int a, int b, int64_t m, int64_t n, int64_t k, REAL alpha,
                            const REAL *A, int64_t lda, const REAL *B, int64_t ldb, REAL beta,
                            REAL *C, int64_t ldc) {
    cblas_GEMM(order, a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
#else
#define by_cblas_SUFFIX tg_gemm_SUFFIX
#endif
"""
_SOURCES = {"cblas64": "", "fortran": _FORTRAN, "own": "", "alone": _ALONE}
_GIVEN = "gemm_SUFFIX = (tg_gemm_type_SUFFIX)GEMM;"
_BINDING = {
    "cblas64": _GIVEN,
    "fortran": "fortran_SUFFIX = (fortran_SUFFIX_t)GEMM; gemm_SUFFIX = by_fortran_SUFFIX;",
    "own": _GIVEN,
    "alone": "gemm_SUFFIX = by_cblas_SUFFIX;",
}
_REAL = {"f32": ("float", "sgemm"), "f64": ("double", "dgemm")}


def binding(suffixes: Any, convention: str) -> str:
    """The C function that is given the addresses of sgemm and dgemm: it sets `gemm_f32`, ...

    `convention` is that of `found()`, or "alone" for a file that is compiled with CBLAS or without.
    """
    texts: list[str] = []
    lines: list[str] = []
    for suffix in suffixes:
        real, gemm = _REAL[suffix]
        for where, text in ((texts, _SOURCES[convention]), (lines, _BINDING[convention])):
            text = text.replace("SUFFIX", suffix).replace("REAL", real).replace("GEMM", gemm)
            where.append(text)
    head = "void bind(void *sgemm, void *dgemm) {"
    lines = [f"    {line}" for line in lines]
    return "\n".join([*texts, head, *lines, "    (void)sgemm, (void)dgemm;", "}", ""])
