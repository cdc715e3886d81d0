"""Batch and group normalisation: `xp.channel_moments`, `xp.standardize_channels`, ...

Arrays are (N, C, ...). A channel of one sample is a row. A mean belongs to a channel (G = 0), or to
each of G groups of channels of one sample.
"""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

SOURCE = r"""
/* which mean a row belongs to */
static inline int64_t tg_mean_of_real(int64_t n, int64_t c, int64_t C, int64_t G) {
    return G ? n * G + c / (C / G) : c;
}

/* Mean and variance of each of C channels; samples are `step` apart; scratch: 2 C */
static void tg_channel_moments_real(real *restrict mean, real *restrict variance,
                                    const real *restrict x, int64_t N, int64_t C, int64_t length,
                                    int64_t step, double *restrict sum) {
    double count = (double)N * length, *square = sum + C;
    if (length >= 16) {
        for (int64_t c = 0; c < C; c++) {
            double s = 0, q = 0;
            for (int64_t n = 0; n < N; n++) s += tg_sum_real(x + n * step + c * length, length);
            real m = (real)(s / count);
            for (int64_t n = 0; n < N; n++) {
                const real *row = x + n * step + c * length;
                q += tg_product_sum_real(row, m, row, m, length);
            }
            mean[c] = m;
            variance[c] = (real)(q / count);
        }
        return;
    }
    for (int64_t c = 0; c < C; c++) sum[c] = square[c] = 0;
    for (int64_t n = 0; n < N; n++) {
        const real *rows = x + n * step;
        for (int64_t l = 0; l < length; l++) {
            _Pragma("omp simd")
            for (int64_t c = 0; c < C; c++) sum[c] += rows[c * length + l];
        }
    }
    for (int64_t c = 0; c < C; c++) sum[c] /= count;
    for (int64_t n = 0; n < N; n++) {
        const real *rows = x + n * step;
        for (int64_t l = 0; l < length; l++) {
            _Pragma("omp simd")
            for (int64_t c = 0; c < C; c++) {
                double d = rows[c * length + l] - sum[c];
                square[c] += d * d;
            }
        }
    }
    for (int64_t c = 0; c < C; c++) {
        mean[c] = (real)sum[c];
        variance[c] = (real)(square[c] / count);
    }
}

/* Mean and variance of each group, which lies in one piece */
static void tg_group_moments_real(real *restrict mean, real *restrict variance,
                                  const real *restrict x, int64_t groups, int64_t size) {
    for (int64_t i = 0; i < groups; i++, x += size) {
        real m = (real)(tg_sum_real(x, size) / size);
        mean[i] = m;
        variance[i] = (real)(tg_product_sum_real(x, m, x, m, size) / size);
    }
}

/* y = (x - shift) a + b of the rows of one sample */
static void tg_scale_rows_real(real *restrict y, const real *restrict x,
                               const real *restrict shift, const real *restrict a,
                               const real *restrict b, int64_t C, int64_t length) {
    if (length == 1) {
        _Pragma("omp simd")
        for (int64_t c = 0; c < C; c++) y[c] = (x[c] - shift[c]) * a[c] + b[c];
        return;
    }
    for (int64_t c = 0; c < C; c++, x += length, y += length) {
        real s = shift[c], f = a[c], o = b[c];
        _Pragma("omp simd")
        for (int64_t l = 0; l < length; l++) y[l] = (x[l] - s) * f + o;
    }
}

/* (x - mean) / sqrt(variance + eps) weight + bias; scratch: 3 C */
static void tg_channel_norm_real(real *restrict y, const real *restrict x,
                                 const real *restrict mean, const real *restrict variance,
                                 const real *restrict weight, const real *restrict bias,
                                 int64_t has_weight, int64_t has_bias, int64_t N, int64_t C,
                                 int64_t length, int64_t G, double eps, real *restrict shift) {
    real *a = shift + C, *b = a + C;
    for (int64_t n = 0; n < N; n++) {
        for (int64_t c = 0; c < C && (G || n == 0); c++) {
            int64_t i = tg_mean_of_real(n, c, C, G);
            double v = (double)variance[i] + eps;
            double s = v < INFINITY || !G ? 1 / sqrt(v) : NAN;
            shift[c] = mean[i];
            a[c] = (real)(has_weight ? s * weight[c] : s);
            b[c] = has_bias ? bias[c] : 0;
        }
        tg_scale_rows_real(y + n * C * length, x + n * C * length, shift, a, b, C, length);
    }
}

/* Sums of g, and of g (x - mean), added to a pair of totals */
static void tg_add_sums_real(double *restrict first, double *restrict second,
                             const real *restrict g, const real *restrict x, real mean,
                             int64_t n) {
    for (; n > 0; g += 4096, x += 4096, n -= 4096) {
        int64_t size = TG_MIN(n, 4096), half = size / 2;
        real a = 0, b = 0, c = 0, d = 0;
        _Pragma("omp simd reduction(+ : a, b, c, d)")
        for (int64_t i = 0; i < half; i++) {
            a += g[i];
            b += g[i] * (x[i] - mean);
            c += g[half + i];
            d += g[half + i] * (x[half + i] - mean);
        }
        for (int64_t i = 2 * half; i < size; i++) {
            a += g[i];
            b += g[i] * (x[i] - mean);
        }
        *first += (double)(a + c);
        *second += (double)(b + d);
    }
}

/* The same for each channel of all samples, or of each sample where there are groups; samples are
   `step` apart */
static void tg_channel_sums_real(double *restrict first, double *restrict second,
                                 const real *restrict g, const real *restrict x,
                                 const real *restrict mean, int64_t N, int64_t C, int64_t length,
                                 int64_t G, int64_t step) {
    for (int64_t i = 0; i < (G ? N * C : C); i++) first[i] = second[i] = 0;
    for (int64_t n = 0; n < N; n++, g += step, x += step) {
        if (length < 16 && !G) {
            for (int64_t l = 0; l < length; l++) {
                _Pragma("omp simd")
                for (int64_t c = 0; c < C; c++) {
                    first[c] += g[c * length + l];
                    second[c] += g[c * length + l] * (x[c * length + l] - mean[c]);
                }
            }
            continue;
        }
        for (int64_t c = 0; c < C; c++) {
            int64_t to = G ? n * C + c : c;
            tg_add_sums_real(first + to, second + to, g + c * length, x + c * length,
                             mean[tg_mean_of_real(n, c, C, G)], length);
        }
    }
}

/* dx = s (h - mean(h) - z mean(h z)), h = g weight, z = (x - mean) s; samples are `step` apart;
   scratch: 6 C doubles, and 2 C, or 2 N C where there are groups */
static void tg_channel_norm_back_real(real *restrict dx, const real *restrict g,
                                      const real *restrict x, const real *restrict weight,
                                      const real *restrict mean, const real *restrict variance,
                                      int64_t has_weight, int64_t N, int64_t C, int64_t length,
                                      int64_t G, int64_t step, double eps,
                                      double *restrict scratch) {
    int64_t sums = G ? N * C : C;
    double *first = scratch, *second = first + sums, *total = second + sums;
    double *along = total + C;
    real *A = (real *)(along + C), *S = A + C, *O = S + C, *M = O + C;
    double count = G ? (double)(C / G) * length : (double)N * length;
    tg_channel_sums_real(first, second, g, x, mean, N, C, length, G, step);
    for (int64_t n = 0; n < N; n++) {
        if (G || n == 0) {
            for (int64_t c = 0; c < C; c++) total[c] = along[c] = 0;
            for (int64_t c = 0; c < C; c++) {
                double w = has_weight ? weight[c] : 1;
                int64_t to = G ? c / (C / G) : c;
                total[to] += w * first[n * C + c];
                along[to] += w * second[n * C + c];
            }
            for (int64_t c = 0; c < C; c++) {
                int64_t i = tg_mean_of_real(n, c, C, G), from = G ? c / (C / G) : c;
                double v = (double)variance[i] + eps;
                double s = v < INFINITY || !G ? 1 / sqrt(v) : NAN;
                A[c] = (real)(has_weight ? s * weight[c] : s);
                S[c] = (real)(-along[from] * s * s * s / count);
                O[c] = (real)(-total[from] * s / count);
                M[c] = mean[i];
            }
        }
        const real *h = g + n * step, *a = x + n * step;
        real *out = dx + n * step;
        if (length == 1) {
            _Pragma("omp simd")
            for (int64_t c = 0; c < C; c++) out[c] = h[c] * A[c] + (a[c] - M[c]) * S[c] + O[c];
            continue;
        }
        for (int64_t c = 0; c < C; c++, h += length, a += length, out += length) {
            real f = A[c], s = S[c], o = O[c], m = M[c];
            _Pragma("omp simd")
            for (int64_t l = 0; l < length; l++) out[l] = h[l] * f + (a[l] - m) * s + o;
        }
    }
}

/* The same of C channels, or of groups of N samples; scratch: 8 C, 8 N C */
static void tg_batch_norm_back_real(real *dx, const real *g, const real *x, const real *weight,
                                    const real *mean, const real *variance, int64_t has_weight,
                                    int64_t N, int64_t C, int64_t length, int64_t step, double eps,
                                    double *memory) {
    tg_channel_norm_back_real(dx, g, x, weight, mean, variance, has_weight, N, C, length, 0, step,
                              eps, memory);
}
static void tg_group_norm_back_real(real *dx, const real *g, const real *x, const real *weight,
                                    const real *mean, const real *variance, int64_t has_weight,
                                    int64_t N, int64_t C, int64_t length, int64_t G, double eps,
                                    double *memory) {
    tg_channel_norm_back_real(dx, g, x, weight, mean, variance, has_weight, N, C, length, G,
                              C * length, eps, memory);
}

/* for each channel the sum of g (x - mean) / sqrt(variance + eps); samples are `step` apart;
   memory: C, and 2 C, or 2 N C where there are groups */
static void tg_channel_norm_weight_back_real(real *restrict dw, const real *restrict g,
                                             const real *restrict x, const real *restrict mean,
                                             const real *restrict variance, int64_t N, int64_t C,
                                             int64_t length, int64_t G, int64_t step,
                                             double eps, double *restrict memory) {
    int64_t sums = G ? N * C : C;
    double *first = memory, *second = first + sums, *total = second + sums;
    tg_channel_sums_real(first, second, g, x, mean, N, C, length, G, step);
    for (int64_t c = 0; c < C; c++) total[c] = 0;
    for (int64_t n = 0; n < (G ? N : 1); n++) {
        for (int64_t c = 0; c < C; c++) {
            double v = (double)variance[tg_mean_of_real(n, c, C, G)] + eps;
            total[c] += second[n * C + c] / sqrt(v);
        }
    }
    for (int64_t c = 0; c < C; c++) dw[c] = (real)total[c];
}

/* The same of C channels; memory: 3 C */
static void tg_batch_norm_weight_back_real(real *dw, const real *g, const real *x,
                                           const real *mean, const real *variance, int64_t N,
                                           int64_t C, int64_t length, int64_t step, double eps,
                                           double *memory) {
    tg_channel_norm_weight_back_real(dw, g, x, mean, variance, N, C, length, 0, step, eps, memory);
}

/* the sum of each channel; samples are `step` apart; scratch: C */
static void tg_sum_channels_real(real *restrict db, const real *restrict g, int64_t N, int64_t C,
                                 int64_t length, int64_t step, double *restrict total) {
    for (int64_t c = 0; c < C; c++) total[c] = 0;
    for (int64_t n = 0; n < N; n++, g += step) {
        if (length >= 16) {
            for (int64_t c = 0; c < C; c++) total[c] += tg_sum_real(g + c * length, length);
            continue;
        }
        for (int64_t l = 0; l < length; l++) {
            _Pragma("omp simd")
            for (int64_t c = 0; c < C; c++) total[c] += g[c * length + l];
        }
    }
    for (int64_t c = 0; c < C; c++) db[c] = (real)total[c];
}

/* g weight / sqrt(variance + eps); scratch: C */
static void tg_scale_channels_real(real *restrict y, const real *restrict g,
                                   const real *restrict variance, const real *restrict weight,
                                   int64_t has_weight, int64_t N, int64_t C, int64_t length,
                                   double eps, real *restrict a) {
    for (int64_t c = 0; c < C; c++)
        a[c] = (real)((has_weight ? weight[c] : 1) / sqrt((double)variance[c] + eps));
    for (int64_t n = 0; n < N; n++) {
        for (int64_t c = 0; c < C; c++, y += length, g += length) {
            real f = a[c];
            _Pragma("omp simd")
            for (int64_t l = 0; l < length; l++) y[l] = g[l] * f;
        }
    }
}
"""
SOURCE += shared(SOURCE, "tg_channel_moments", "C", mean="1", variance="1", x="length", sum="2")
SOURCE += shared(SOURCE, "tg_group_moments", "groups", mean="1", variance="1", x="size")
SOURCE += shared(
    SOURCE, "tg_channel_norm", "N", y="C * length", x="C * length", mean="G", variance="G",
    scratch="3 * C",
)  # fmt: skip

SOURCE += shared(
    SOURCE, "tg_batch_norm_back", "C", dx="length", g="length", x="length", weight="has_weight",
    mean="1", variance="1", memory="8",
)  # fmt: skip
SOURCE += shared(
    SOURCE, "tg_group_norm_back", "N", dx="C * length", g="C * length", x="C * length", mean="G",
    variance="G", memory="8 * C",
)  # fmt: skip
SOURCE += shared(
    SOURCE, "tg_batch_norm_weight_back", "C", dw="1", g="length", x="length", mean="1",
    variance="1", memory="3",
)  # fmt: skip
SOURCE += shared(SOURCE, "tg_sum_channels", "C", db="1", g="length", total="1")
SOURCE += shared(SOURCE, "tg_scale_channels", "N", y="C * length", g="C * length", scratch="C")


def _sizes(at: Instance, x: Any) -> list[int]:
    """N, C and the length of a row."""
    shape = at.shape(x)
    require(len(shape) >= 2 and prod(shape))
    return [shape[0], shape[1], prod(shape[2:])]


def _known(*arrays: Any) -> list[Any]:
    return [x for x in arrays if x is not None]


@template("xp.channel_moments")
def channel_moments(at: Instance) -> Call:
    x, groups = at.args
    t, sizes = at.real(x), _sizes(at, x)
    if groups is None:
        name, arguments = "tg_channel_moments", [x, *sizes, sizes[1] * sizes[2]]
        return at.call(f"{name}_{t}", arguments, scratch=16 * sizes[1], work=prod(sizes))
    size = prod(sizes) // (sizes[0] * groups)
    arguments = [x, sizes[0] * groups, size]
    return at.call(f"tg_group_moments_{t}", arguments, work=prod(sizes))


@template("xp.standardize_channels")
def standardize_channels(at: Instance) -> Call:
    x, mean, variance, weight, bias, groups, eps = at.args
    t, sizes = at.real(x, mean, variance, *_known(weight, bias)), _sizes(at, x)
    w, b = (x if each is None else each for each in (weight, bias))
    flags = [int(weight is not None), int(bias is not None)]
    arguments = [x, mean, variance, w, b, *flags, *sizes, groups or 0, float(eps)]
    scratch = 3 * sizes[1] * at.dtype(x).itemsize
    return at.call(f"tg_channel_norm_{t}", arguments, part_scratch=scratch, work=prod(sizes))


@template("xp.standardize_channels_back")
def standardize_channels_back(at: Instance) -> Call:
    g, x, weight, mean, variance, groups, eps = at.args
    t, sizes = at.real(g, x, mean, variance, *_known(weight)), _sizes(at, x)
    w = x if weight is None else weight
    flag = int(weight is not None)
    n, channels, length = sizes
    name = "tg_group_norm_back" if groups else "tg_batch_norm_back"
    arguments = [g, x, w, mean, variance, flag, *sizes, groups or channels * length, float(eps)]
    scratch = 64 * channels * (n if groups else 1)
    return at.call(f"{name}_{t}", arguments, scratch=scratch, work=2 * prod(sizes))


@template("xp.standardize_channels_weight_back")
def standardize_channels_weight_back(at: Instance) -> Call:
    g, x, mean, variance, like, groups, eps = at.args
    return _weight_back(at, [g, x, mean, variance], like, groups or 0, eps)


@template("xp.standardize_given_weight_back")
def standardize_given_weight_back(at: Instance) -> Call:
    g, x, mean, variance, like, eps = at.args
    return _weight_back(at, [g, x, mean, variance], like, 0, eps)


def _weight_back(at: Instance, arrays: list, like: Any, groups: int, eps: float) -> Call:
    t, sizes = at.real(*arrays, like), _sizes(at, arrays[1])
    n, channels, length = sizes
    step = channels * length
    if groups:
        arguments, scratch = [*arrays, *sizes, groups, step, float(eps)], 8 * channels * (2 * n + 1)
        return at.call(f"tg_channel_norm_weight_back_{t}", arguments, scratch=scratch)
    arguments, scratch = [*arrays, *sizes, step, float(eps)], 24 * channels
    return at.call(f"tg_batch_norm_weight_back_{t}", arguments, scratch=scratch, work=prod(sizes))


@template("xp.sum_channels")
def sum_channels(at: Instance) -> Call:
    g, like = at.args
    t, sizes = at.real(g, like), _sizes(at, g)
    arguments = [g, *sizes, sizes[1] * sizes[2]]
    return at.call(f"tg_sum_channels_{t}", arguments, scratch=8 * sizes[1], work=prod(sizes))


@template("xp.scale_channels")
def scale_channels(at: Instance) -> Call:
    g, variance, weight, eps = at.args
    t, sizes = at.real(g, variance, *_known(weight)), _sizes(at, g)
    w = variance if weight is None else weight
    arguments = [g, variance, w, int(weight is not None), *sizes, float(eps)]
    scratch = sizes[1] * at.dtype(g).itemsize
    return at.call(f"tg_scale_channels_{t}", arguments, part_scratch=scratch, work=prod(sizes))
