"""Running sums, `xp.cumulative_sum`, and the place of an extremum, `xp.argmax`, `xp.argmin`."""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template

SOURCE = r"""
/* Running sums in double precision along the middle of (outer, n, inner); scratch: inner */
static void tg_cumsum_real(real *restrict y, const real *restrict x, int64_t outer, int64_t n,
                           int64_t inner, double *restrict total) {
    for (int64_t o = 0; o < outer; o++) {
        if (inner == 1 && outer - o >= 4) { /* four rows at once: no addition waits for another */
            double a = 0, b = 0, c = 0, d = 0;
            for (int64_t i = 0; i < n; i++) {
                y[i] = (real)(a += x[i]);
                y[n + i] = (real)(b += x[n + i]);
                y[2 * n + i] = (real)(c += x[2 * n + i]);
                y[3 * n + i] = (real)(d += x[3 * n + i]);
            }
            x += 4 * n, y += 4 * n, o += 3;
            continue;
        }
        if (inner == 1) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++) y[i] = (real)(sum += x[i]);
            x += n, y += n;
            continue;
        }
        for (int64_t k = 0; k < inner; k++) total[k] = 0;
        for (int64_t i = 0; i < n; i++, x += inner, y += inner) {
            _Pragma("omp simd")
            for (int64_t k = 0; k < inner; k++) {
                total[k] += x[k];
                y[k] = (real)total[k];
            }
        }
    }
}

/* The place of the largest (sign 1) or smallest (-1) of rows; of equal ones the first; nan wins */
static void tg_argmax_real(int64_t *restrict y, const real *restrict x, int64_t rows, int64_t n,
                           int64_t sign) {
    for (int64_t r = 0; r < rows; r++, x += n) {
        real lanes[32], bad[32] = {0};
        int64_t i = 0, place = 0;
        int has_nan = 0;
        real best = sign > 0 ? x[0] : -x[0], factor = (real)sign;
        if (n >= 64) { /* the value first, then where it is */
            for (int k = 0; k < 32; k++) lanes[k] = factor * x[k];
            for (i = 0; i + 32 <= n; i += 32) {
                _Pragma("omp simd")
                for (int k = 0; k < 32; k++) {
                    real v = factor * x[i + k];
                    bad[k] = v != v ? 1 : bad[k];
                    lanes[k] = v > lanes[k] ? v : lanes[k];
                }
            }
            for (int k = 0; k < 32; k++) {
                best = lanes[k] > best ? lanes[k] : best;
                has_nan |= bad[k] != 0;
            }
        }
        for (; i < n; i++) {
            real v = factor * x[i];
            has_nan |= v != v;
            best = v > best ? v : best;
        }
        if (has_nan)
            while (x[place] == x[place]) place++;
        else
            while (factor * x[place] != best) place++;
        y[r] = place;
    }
}
"""


@template("xp.cumulative_sum")
def cumulative_sum(at: Instance) -> Call:
    (x,) = at.args
    axis, shape = at.kwargs.get("axis"), at.shape(x)
    require(shape and (axis is not None or len(shape) == 1))
    axis = (axis or 0) % len(shape)
    sizes = [prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])]
    return at.call(f"tg_cumsum_{at.real(x)}", [x, *sizes], scratch=8 * max(sizes[2], 1))


def _extremum(at: Instance, sign: int) -> Call:
    (x,) = at.args
    axis, shape = at.kwargs.get("axis"), at.shape(x)
    require(prod(shape) and shape)
    require(axis is None or axis % len(shape) == len(shape) - 1)
    n = prod(shape) if axis is None else shape[-1]
    return at.call(f"tg_argmax_{at.real(x)}", [x, prod(shape) // n, n, sign])


@template("xp.argmax")
def argmax(at: Instance) -> Call:
    return _extremum(at, 1)


@template("xp.argmin")
def argmin(at: Instance) -> Call:
    return _extremum(at, -1)
