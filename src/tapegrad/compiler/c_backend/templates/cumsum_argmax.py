"""Running sums, `xp.cumulative_sum`, and the place of an extremum, `xp.argmax`, `xp.argmin`."""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared

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
    real factor = (real)sign;
    for (int64_t r = 0; r < rows; r++, x += n) {
        real lanes[32], best = factor * x[0];
        int64_t i = 1, place = 0;
        if (n >= 64) { /* the value first, nan if there is one; then where it is */
            for (int k = 0; k < 32; k++) lanes[k] = factor * x[k];
            for (i = 32; i + 32 <= n; i += 32) {
                _Pragma("omp simd")
                for (int k = 0; k < 32; k++) {
                    real v = factor * x[i + k];
                    lanes[k] = ((v > lanes[k]) | (v != v)) ? v : lanes[k];
                }
            }
            for (int k = 0; k < 32; k++)
                best = ((lanes[k] > best) | (lanes[k] != lanes[k])) ? lanes[k] : best;
        }
        for (; i < n; i++) {
            real v = factor * x[i];
            best = ((v > best) | (v != v)) ? v : best;
        }
        for (; place + 32 <= n; place += 32) {
            int found = 0;
            _Pragma("omp simd reduction(| : found)")
            for (int k = 0; k < 32; k++) {
                real v = factor * x[place + k];
                found |= (v == best) | (v != v);
            }
            if (found) break;
        }
        while (factor * x[place] != best && x[place] == x[place]) place++;
        y[r] = place;
    }
}
"""
SOURCE += shared(SOURCE, "tg_cumsum", "outer", y="n * inner", x="n * inner", scratch="inner")
SOURCE += shared(SOURCE, "tg_argmax", "rows", y="1", x="n")


@template("xp.cumulative_sum")
def cumulative_sum(at: Instance) -> Call:
    (x,) = at.args
    axis, shape = at.kwargs.get("axis"), at.shape(x)
    require(shape and (axis is not None or len(shape) == 1))
    axis = (axis or 0) % len(shape)
    sizes = [prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])]
    return at.call(
        f"tg_cumsum_{at.real(x)}", [x, *sizes], part_scratch=8 * max(sizes[2], 1), work=prod(shape)
    )


def _extremum(at: Instance, sign: int) -> Call:
    (x,) = at.args
    axis, shape = at.kwargs.get("axis"), at.shape(x)
    require(prod(shape) and shape)
    require(axis is None or axis % len(shape) == len(shape) - 1)
    n = prod(shape) if axis is None else shape[-1]
    return at.call(f"tg_argmax_{at.real(x)}", [x, prod(shape) // n, n, sign], work=prod(shape))


@template("xp.argmax")
def argmax(at: Instance) -> Call:
    return _extremum(at, 1)


@template("xp.argmin")
def argmin(at: Instance) -> Call:
    return _extremum(at, -1)
