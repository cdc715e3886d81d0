"""A choice between two arrays, or an array and a number: `xp.where` where it is called alone."""

from math import prod

import numpy as np

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

SOURCE = r"""
/* y = c ? x1 : x2 for `rows` rows of n numbers from number `first` on; c has `repeat` rows, which
   come again and again. A step of 0: that operand is one number */
static void tg_where_real(real *restrict y, const char *restrict c, const real *restrict x1,
                          const real *restrict x2, int64_t first, int64_t rows, int64_t repeat,
                          int64_t n, int64_t step1, int64_t step2) {
    for (int64_t i = 0; i < rows; i++, y += n) {
        const char *mask = c + (first + i) % repeat * n;
        const real *a = x1 + i * n * step1, *b = x2 + i * n * step2, one = *a, other = *b;
        if (step1 && step2) {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) {
                real s = a[j], t = b[j];
                y[j] = mask[j] ? s : t;
            }
        } else if (step1) {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) {
                real s = a[j];
                y[j] = mask[j] ? s : other;
            }
        } else {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) {
                real t = step2 ? b[j] : other;
                y[j] = mask[j] ? one : t;
            }
        }
    }
}
"""
SOURCE += shared(SOURCE, "tg_where", "rows", y="n", x1="n * step1", x2="n * step2", first="1")


@template("xp.where")
def where(at: Instance) -> Call:
    condition, *operands = at.args
    (result,) = at.results()
    require(len(operands) == 2 and at.dtype(condition).kind == "b" and prod(result.shape))
    arrays = [x for x in operands if type(x) not in (int, float)]
    t = at.real(result, *arrays)
    found, steps = zip(*[_operand(at, x, result) for x in operands], strict=True)
    require(any(steps))
    own, whole = at.shape(condition), result.shape
    while own[:1] == (1,):
        own = own[1:]
    require(own and own == whole[len(whole) - len(own) :])
    n = own[-1]
    rows = [prod(whole) // n, prod(own) // n]
    return at.call(f"tg_where_{t}", [condition, *found, 0, *rows, n, *steps], work=prod(whole))


def _operand(at: Instance, x: Any, result: Any) -> tuple[Any, int]:
    """An operand as an array, and the elements from one of its numbers to the next."""
    if type(x) in (int, float):
        return at.table(np.array([x], result.dtype)), 0
    shape = at.shape(x)
    require(shape in ((), result.shape))
    return x, int(shape != ())
