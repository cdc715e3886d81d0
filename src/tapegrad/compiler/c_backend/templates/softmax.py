"""Softmax and its logarithm along an axis: `xp.softmax_along`, `xp.log_softmax_along`, ..."""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared

SOURCE = r"""
/* exp(x - shift) in y, and its sum, in blocks of 4,096 */
static double tg_exp_sum_real(real *restrict y, const real *restrict x, real shift, int64_t n) {
    double total = 0;
    for (int64_t first = 0; first < n; first += 4096) {
        int64_t last = TG_MIN(n, first + 4096);
        real s = 0;
        _Pragma("omp simd reduction(+ : s)")
        for (int64_t j = first; j < last; j++) {
            real e = tg_exp_down_real(x[j] - shift);
            y[j] = e;
            s += e;
        }
        total += s;
    }
    return total;
}

/* that sum alone */
static double tg_exp_total_real(const real *restrict x, real shift, int64_t n) {
    double total = 0;
    for (int64_t first = 0; first < n; first += 4096) {
        int64_t last = TG_MIN(n, first + 4096);
        real s = 0;
        _Pragma("omp simd reduction(+ : s)")
        for (int64_t j = first; j < last; j++) s += tg_exp_down_real(x[j] - shift);
        total += s;
    }
    return total;
}

/* Up to 64 columns of a slab (n, inner): the largest of each, and the sum of exp(x - largest) */
static inline void tg_exp_columns_real(real *restrict top, real *restrict sum,
                                       const real *restrict x, int64_t n, int64_t inner,
                                       int64_t width) {
    for (int64_t k = 0; k < width; k++) top[k] = -INFINITY, sum[k] = 0;
    for (int64_t i = 0; i < n; i++) {
        const real *a = x + i * inner;
        _Pragma("omp simd")
        for (int64_t k = 0; k < width; k++) top[k] = a[k] > top[k] ? a[k] : top[k];
    }
    for (int64_t i = 0; i < n; i++) {
        const real *a = x + i * inner;
        _Pragma("omp simd")
        for (int64_t k = 0; k < width; k++) sum[k] += tg_exp_down_real(a[k] - top[k]);
    }
}

static void tg_softmax_real(real *restrict y, const real *restrict x, int64_t outer, int64_t n,
                            int64_t inner) {
    if (inner == 1) {
        for (int64_t i = 0; i < outer; i++, x += n, y += n) {
            real r = (real)(1 / tg_exp_sum_real(y, x, tg_largest_real(x, n), n));
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) y[j] *= r;
        }
        return;
    }
    for (int64_t o = 0; o < outer; o++, x += n * inner, y += n * inner) {
        for (int64_t c = 0; c < inner; c += 64) {
            int64_t width = TG_MIN(inner - c, 64);
            real top[64], sum[64];
            tg_exp_columns_real(top, sum, x + c, n, inner, width);
            for (int64_t k = 0; k < width; k++) sum[k] = 1 / sum[k];
            for (int64_t i = 0; i < n; i++) {
                const real *a = x + i * inner + c;
                real *out = y + i * inner + c;
                _Pragma("omp simd")
                for (int64_t k = 0; k < width; k++)
                    out[k] = tg_exp_down_real(a[k] - top[k]) * sum[k];
            }
        }
    }
}

/* y (g - sum(g y)) */
static void tg_softmax_back_real(real *restrict dx, const real *restrict g, const real *restrict y,
                                 int64_t outer, int64_t n, int64_t inner) {
    if (inner == 1) {
        for (int64_t i = 0; i < outer; i++, g += n, y += n, dx += n) {
            real s = (real)tg_product_sum_real(g, 0, y, 0, n);
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) dx[j] = (g[j] - s) * y[j];
        }
        return;
    }
    for (int64_t o = 0; o < outer; o++, g += n * inner, y += n * inner, dx += n * inner) {
        for (int64_t c = 0; c < inner; c += 64) {
            int64_t width = TG_MIN(inner - c, 64);
            real sum[64] = {0};
            for (int64_t i = 0; i < n; i++) {
                const real *a = g + i * inner + c, *b = y + i * inner + c;
                _Pragma("omp simd")
                for (int64_t k = 0; k < width; k++) sum[k] += a[k] * b[k];
            }
            for (int64_t i = 0; i < n; i++) {
                const real *a = g + i * inner + c, *b = y + i * inner + c;
                real *out = dx + i * inner + c;
                _Pragma("omp simd")
                for (int64_t k = 0; k < width; k++) out[k] = (a[k] - sum[k]) * b[k];
            }
        }
    }
}

static void tg_log_softmax_real(real *restrict y, const real *restrict x, int64_t outer, int64_t n,
                                int64_t inner) {
    if (inner == 1) { /* rows together, as many as the first cache holds: logarithms at once */
        int64_t most = 4096 / TG_MAX(n, 1);
        most = TG_MAX(TG_MIN(most, 64), 1);
        for (int64_t first = 0; first < outer; first += most) {
            real top[64], sum[64];
            int64_t rows = TG_MIN(most, outer - first);
            for (int64_t i = 0; i < rows; i++) {
                top[i] = tg_largest_real(x + i * n, n);
                sum[i] = (real)tg_exp_total_real(x + i * n, top[i], n);
            }
            _Pragma("omp simd")
            for (int64_t i = 0; i < rows; i++) sum[i] = tg_log_real(sum[i]);
            for (int64_t i = 0; i < rows; i++, x += n, y += n) {
                real t = top[i], s = sum[i];
                _Pragma("omp simd")
                for (int64_t j = 0; j < n; j++) y[j] = (x[j] - t) - s;
            }
        }
        return;
    }
    for (int64_t o = 0; o < outer; o++, x += n * inner, y += n * inner) {
        for (int64_t c = 0; c < inner; c += 64) {
            int64_t width = TG_MIN(inner - c, 64);
            real top[64], sum[64];
            tg_exp_columns_real(top, sum, x + c, n, inner, width);
            for (int64_t k = 0; k < width; k++) sum[k] = tg_log_real(sum[k]);
            for (int64_t i = 0; i < n; i++) {
                const real *a = x + i * inner + c;
                real *out = y + i * inner + c;
                _Pragma("omp simd")
                for (int64_t k = 0; k < width; k++) out[k] = (a[k] - top[k]) - sum[k];
            }
        }
    }
}

/* g - exp(y) sum(g) */
static void tg_log_softmax_back_real(real *restrict dx, const real *restrict g,
                                     const real *restrict y, int64_t outer, int64_t n,
                                     int64_t inner) {
    if (inner == 1) {
        for (int64_t i = 0; i < outer; i++, g += n, y += n, dx += n) {
            real s = (real)tg_sum_real(g, n);
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) dx[j] = g[j] - tg_exp_down_real(y[j]) * s;
        }
        return;
    }
    for (int64_t o = 0; o < outer; o++, g += n * inner, y += n * inner, dx += n * inner) {
        for (int64_t c = 0; c < inner; c += 64) {
            int64_t width = TG_MIN(inner - c, 64);
            real sum[64] = {0};
            for (int64_t i = 0; i < n; i++) {
                const real *a = g + i * inner + c;
                _Pragma("omp simd")
                for (int64_t k = 0; k < width; k++) sum[k] += a[k];
            }
            for (int64_t i = 0; i < n; i++) {
                const real *a = g + i * inner + c, *b = y + i * inner + c;
                real *out = dx + i * inner + c;
                _Pragma("omp simd")
                for (int64_t k = 0; k < width; k++) out[k] = a[k] - tg_exp_down_real(b[k]) * sum[k];
            }
        }
    }
}
"""
for _name in ("tg_softmax", "tg_log_softmax"):
    SOURCE += shared(SOURCE, _name, "outer", y="n * inner", x="n * inner")
    SOURCE += shared(SOURCE, f"{_name}_back", "outer", dx="n * inner", g="n * inner", y="n * inner")


def _slabs(shape: tuple[int, ...], axis: int) -> list[int]:
    """Sizes before, of and after an axis."""
    axis %= max(len(shape), 1)
    return [prod(shape[:axis]), prod(shape[axis : axis + 1]), prod(shape[axis + 1 :])]


def _call(at: Instance, name: str, arrays: list, axis: int) -> Call:
    require(type(axis) is int)
    sizes = _slabs(at.shape(arrays[-1]), axis)
    work = prod(sizes) * (2 if len(arrays) == 1 else 1)
    return at.call(f"{name}_{at.real(*arrays)}", [*arrays, *sizes], work=work)


@template("xp.softmax_along")
def softmax_along(at: Instance) -> Call:
    x, axis = at.args
    return _call(at, "tg_softmax", [x], axis)


@template("xp.softmax_back")
def softmax_back(at: Instance) -> Call:
    g, y, axis = at.args
    require(at.shape(g) == at.shape(y))
    return _call(at, "tg_softmax_back", [g, y], axis)


@template("xp.log_softmax_along")
def log_softmax_along(at: Instance) -> Call:
    x, axis = at.args
    return _call(at, "tg_log_softmax", [x], axis)


@template("xp.log_softmax_back")
def log_softmax_back(at: Instance) -> Call:
    g, y, axis = at.args
    require(at.shape(g) == at.shape(y))
    return _call(at, "tg_log_softmax_back", [g, y], axis)
