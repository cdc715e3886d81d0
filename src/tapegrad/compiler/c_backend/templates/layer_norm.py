"""Layer normalisation: `xp.standardize_rows` and its cotangents."""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.sequences import without_threads
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

SOURCE = r"""
/* (x - mean) / sqrt(variance + eps) * weight + bias of rows */
static void tg_layer_norm_real(real *restrict y, real *restrict mean, real *restrict scale,
                               const real *restrict x, const real *restrict weight,
                               const real *restrict bias, int64_t has_weight, int64_t has_bias,
                               int64_t rows, int64_t n, double eps) {
    for (int64_t i = 0; i < rows; i++) {
        const real *a = x + i * n;
        real *out = y + i * n;
        real m = (real)(tg_sum_real(a, n) / n);
        real v = (real)(tg_product_sum_real(a, m, a, m, n) / n) + (real)eps;
        real r = v < INFINITY ? 1 / tg_sqrt_real(v) : (real)NAN;
        mean[i] = m;
        scale[i] = r;
        if (has_weight && has_bias) {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) out[j] = (a[j] - m) * r * weight[j] + bias[j];
        } else if (has_weight) {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) out[j] = (a[j] - m) * r * weight[j];
        } else if (has_bias) {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) out[j] = (a[j] - m) * r + bias[j];
        } else {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) out[j] = (a[j] - m) * r;
        }
    }
}

/* dx = r (h - mean(h) - z mean(h z)), h = g weight, z = (x - mean) r */
static void tg_layer_norm_back_real(real *restrict dx, const real *restrict g,
                                    const real *restrict x, const real *restrict weight,
                                    const real *restrict mean, const real *restrict scale,
                                    int64_t has_weight, int64_t rows, int64_t n) {
    for (int64_t i = 0; i < rows; i++) {
        const real *a = x + i * n, *h = g + i * n;
        real *out = dx + i * n, m = mean[i], r = scale[i];
        double total = 0, along = 0;
        for (int64_t first = 0; first < n; first += 4096) {
            int64_t last = TG_MIN(n, first + 4096);
            real s = 0, t = 0;
            if (has_weight) {
                _Pragma("omp simd reduction(+ : s, t)")
                for (int64_t j = first; j < last; j++) {
                    s += h[j] * weight[j];
                    t += h[j] * weight[j] * (a[j] - m);
                }
            } else {
                _Pragma("omp simd reduction(+ : s, t)")
                for (int64_t j = first; j < last; j++) {
                    s += h[j];
                    t += h[j] * (a[j] - m);
                }
            }
            total += s;
            along += t;
        }
        real s = (real)(total / n), t = (real)(along / n) * r * r;
        if (has_weight) {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) out[j] = (h[j] * weight[j] - s - (a[j] - m) * t) * r;
        } else {
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) out[j] = (h[j] - s - (a[j] - m) * t) * r;
        }
    }
}

/* The sums of g (x - mean) scale over rows, or of g where `plain`, of parts `first` ... of `all` of
   them: each part has n sums of its own */
static void tg_norm_sums_real(real *restrict sums, const real *restrict g, const real *restrict x,
                              const real *restrict mean, const real *restrict scale,
                              int64_t plain, int64_t first, int64_t parts, int64_t all,
                              int64_t rows, int64_t n) {
    for (int64_t p = first; p < first + parts; p++, sums += n) {
        memset(sums, 0, n * sizeof(real));
        for (int64_t i = rows * p / all; i < rows * (p + 1) / all; i++) {
            const real *h = g + i * n, *a = x + i * n;
            if (plain) {
                _Pragma("omp simd")
                for (int64_t j = 0; j < n; j++) sums[j] += h[j];
            } else {
                real m = mean[i], r = scale[i];
                _Pragma("omp simd")
                for (int64_t j = 0; j < n; j++) sums[j] += h[j] * ((a[j] - m) * r);
            }
        }
    }
}
@PARTS@
/* Those of all rows, in `parts` parts whatever the number of threads; scratch: parts n */
static void tg_layer_norm_weight_back_shared_real(real *restrict dw, const real *restrict g,
                                                  const real *restrict x,
                                                  const real *restrict mean,
                                                  const real *restrict scale, int64_t plain,
                                                  int64_t parts, int64_t rows, int64_t n,
                                                  real *restrict sums, int64_t threads) {
    tg_norm_sums_shared_real(sums, g, x, mean, scale, plain, 0, parts, parts, rows, n, threads);
    memcpy(dw, sums, n * sizeof(real));
    for (int64_t p = 1; p < parts; p++) {
        _Pragma("omp simd")
        for (int64_t j = 0; j < n; j++) dw[j] += sums[p * n + j];
    }
}
@ALONE@
"""
SOURCE += shared(SOURCE, "tg_layer_norm", "rows", y="n", mean="1", scale="1", x="n")
SOURCE += shared(SOURCE, "tg_layer_norm_back", "rows", dx="n", g="n", x="n", mean="1", scale="1")
_PARTS = shared(SOURCE, "tg_norm_sums", "parts", sums="n", first="1")
SOURCE = SOURCE.replace("@PARTS@", _PARTS)
SOURCE = SOURCE.replace("@ALONE@", without_threads(SOURCE, "tg_layer_norm_weight_back"))

_ROWS = 256  # that are added up one after the other


@template("xp.standardize_rows")
def standardize_rows(at: Instance) -> Call:
    x, weight, bias, n_axes, eps = at.args
    t = at.real(x, *(each for each in (weight, bias) if each is not None))
    n = prod(at.shape(x)[len(at.shape(x)) - n_axes :])
    require(n > 0)
    w, b = (x if each is None else each for each in (weight, bias))
    flags = [int(weight is not None), int(bias is not None)]
    rows = prod(at.shape(x)) // n
    return at.call(f"tg_layer_norm_{t}", [x, w, b, *flags, rows, n, float(eps)], work=rows * n)


@template("xp.standardize_rows_back")
def standardize_rows_back(at: Instance) -> Call:
    g, x, weight, mean, scale, n_axes, _ = at.args
    given = () if weight is None else (weight,)
    t = at.real(g, x, mean, scale, *given)
    n = prod(at.shape(x)[len(at.shape(x)) - n_axes :])
    require(n > 0)
    w = x if weight is None else weight
    rows = prod(at.shape(x)) // n
    arguments = [g, x, w, mean, scale, int(weight is not None), rows, n]
    return at.call(f"tg_layer_norm_back_{t}", arguments, work=rows * n)


@template("xp.standardize_rows_weight_back")
def standardize_rows_weight_back(at: Instance) -> Call:
    g, x, mean, scale, like, _ = at.args
    rows, n = prod(at.shape(mean)), prod(at.shape(like))
    return _sums(at, [g, x, mean, scale], like, 0, rows, n)


@template("xp.sum_rows")
def sum_rows(at: Instance) -> Call:
    g, like = at.args
    n = prod(at.shape(like))
    require(n > 0)
    return _sums(at, [g] * 4, like, 1, prod(at.shape(g)) // n, n)


def _sums(at: Instance, arrays: list, like: Any, plain: int, rows: int, n: int) -> Call:
    t = at.real(*arrays, like)
    parts = max(1, -(-rows // _ROWS))
    scratch, work = parts * n * at.dtype(like).itemsize, rows * n
    arguments = [*arrays, plain, parts, rows, n]
    return at.call(f"tg_layer_norm_weight_back_{t}", arguments, scratch=scratch, work=work)
