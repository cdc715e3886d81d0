"""C of the gradient of 3x3 kernels by Winograd's F(3x3, 4x4), with the tiles and points of others.

What is summed over all tiles are the products at the points, so that a kernel is made of them once.
"""

from tapegrad.compiler.c_backend.templates.shared import shared

SOURCE = r"""
/* Four cotangents of a row as values at the six points, but for what they are divided by */
static inline __attribute__((always_inline)) void tg_cotangents_at_points_real(
    tg_wide_real *to, const tg_wide_real *y) {
    const real a = 0.75, b = 1.5;
    tg_wide_real even = y[0] + a * a * y[2], odd = a * y[1] + a * a * a * y[3];
    to[0] = y[0], to[1] = even + odd, to[2] = even - odd;
    even = y[0] + b * b * y[2], odd = b * y[1] + b * b * b * y[3];
    to[3] = even + odd, to[4] = even - odd, to[5] = y[3];
}

/* The cotangents of a strip at 36 points, which are `step` apart; rows: four of them, split */
static inline void tg_strip_of_cotangents_real(real *to, int64_t step, const real *rows,
                                               int64_t lanes) {
    const int64_t one = TG_WIDE / sizeof(real), next = lanes + 1;
    tg_wide_real y[4], v[6], down[6][4];
    for (int64_t t = 0; t < lanes; t += one) {
        for (int64_t j = 0; j < 4; j++) {
            _Pragma("GCC unroll 4")
            for (int i = 0; i < 4; i++)
                y[i] = *(const tg_wide_real *)(rows + (4 * i + j) * next + t);
            tg_cotangents_at_points_real(v, y);
            _Pragma("GCC unroll 6")
            for (int i = 0; i < 6; i++) down[i][j] = v[i];
        }
        for (int64_t i = 0; i < 6; i++) {
            tg_cotangents_at_points_real(v, down[i]);
            _Pragma("GCC unroll 6")
            for (int j = 0; j < 6; j++) *(tg_wide_real *)(to + (6 * i + j) * step + t) = v[j];
        }
    }
}

/* The cotangents y (N, O, oh, ow) of some channels of a block of strips; the memory: twice the rows
   of a block */
static void tg_cotangents_of_block_real(real *to, const real *y, const tg_strips_real *at,
                                        int64_t channel, int64_t channels, int64_t first,
                                        int64_t strips, int64_t part_size, real *memory) {
    const int64_t n = 4 * at->lanes + 4, most = 4 * at->strips;
    tg_strips_real of = *at;
    real *split = memory + most * n;
    (void)part_size;
    of.h = at->oh, of.w = at->ow;
    for (int64_t s = 0, below; s < strips; s += below) {
        int64_t image, i, j;
        tg_place_strip_real(at, first + s, &image, &i, &j);
        below = TG_MIN(strips - s, at->down - i / 4);
        memset(memory, 0, 4 * below * n * sizeof(real));
        for (int64_t o = channel; o < channel + channels; o++) {
            const real *from = y + (image * at->O + o) * at->oh * at->ow;
            tg_copy_rows_real(memory, from, i, j, 4 * below, n, &of);
            tg_split_rows_real(split, memory, 4 * below, at->lanes);
            for (int64_t k = 0; k < below; k++)
                tg_strip_of_cotangents_real(to + o * at->pitch + (s + k) * at->columns,
                                            at->sums_step, split + 4 * k * n, at->lanes);
        }
    }
}
@SHARED_COTANGENTS@
/* Rows of images from row i and column j on, n numbers of each, up to a vector of channels side by
   side; what is around the images is left as it is */
static inline void tg_turn_rows_real(real *restrict to, const real *restrict x, int64_t channels,
                                     int64_t i, int64_t j, int64_t rows, int64_t n,
                                     const tg_strips_real *at) {
    const int64_t one = TG_WIDE / sizeof(real);
    int64_t low = TG_MAX(0, -j), high = TG_MIN(n, at->w - j), last = TG_MIN(i + rows, at->h);
    for (int64_t r = TG_MAX(0, i); r < last; r++)
        for (int64_t c = 0; c < channels; c++) {
            const real *from = x + (c * at->h + r) * at->w + j;
            real *row = to + (r - i) * n * one + c;
            for (int64_t k = low; k < high; k++) row[k * one] = from[k];
        }
}

/* The data of a vector of channels of a strip at 36 points, `step` apart; rows: six of them, n
   vectors each */
static inline void tg_channels_at_points_real(real *to, int64_t step, const real *rows, int64_t n,
                                              int64_t columns) {
    const int64_t one = TG_WIDE / sizeof(real);
    tg_wide_real d[6], v[6], down[6][6];
    for (int64_t t = 0; t < columns; t++, rows += 4 * one, to += 2 * one) {
        for (int64_t j = 0; j < 6; j++) {
            _Pragma("GCC unroll 6")
            for (int i = 0; i < 6; i++)
                d[i] = *(const tg_wide_real *)(rows + (i * n + j) * one);
            tg_data_at_points_real(v, d);
            _Pragma("GCC unroll 6")
            for (int i = 0; i < 6; i++) down[i][j] = v[i];
        }
        for (int64_t i = 0; i < 6; i++) {
            tg_data_at_points_real(v, down[i]);
            _Pragma("GCC unroll 6")
            for (int j = 0; j < 6; j++) *(tg_wide_real *)(to + (6 * i + j) * step) = v[j];
        }
    }
}

/* The data of some vectors of channels of a block of strips: at each point panels of two vectors of
   channels, tile by tile; the memory: the rows of a block */
static void tg_panels_of_block_real(real *data, const real *x, const tg_strips_real *at,
                                    int64_t vector, int64_t vectors, int64_t first,
                                    int64_t strips, int64_t part_size, real *memory) {
    const int64_t one = TG_WIDE / sizeof(real), n = 4 * at->columns + 2;
    (void)part_size;
    for (int64_t s = 0, below; s < strips; s += below) {
        int64_t image, i, j;
        tg_place_strip_real(at, first + s, &image, &i, &j);
        below = TG_MIN(strips - s, at->down - i / 4);
        memset(memory, 0, (4 * below + 2) * n * TG_WIDE);
        for (int64_t v = vector; v < vector + vectors; v++) {
            const real *from = x + (image * at->C + v * one) * at->h * at->w;
            real *to = data + v / 2 * at->width * 2 * one + v % 2 * one;
            tg_turn_rows_real(memory, from, TG_MIN(one, at->C - v * one), i - at->ph, j - at->pw,
                              4 * below + 2, n, at);
            for (int64_t k = 0; k < below; k++)
                tg_channels_at_points_real(to + (s + k) * at->columns * 2 * one, at->data_step,
                                           memory + 4 * k * n * one, n, at->columns);
        }
    }
}
@SHARED_PANELS@
/* At some of the points: totals (O, whole panels of C) = or += cotangents (O, tiles) times data */
static void tg_products_at_points_real(real *totals, const real *y, const real *data,
                                       const tg_strips_real *at, int64_t tiles, int64_t add,
                                       int64_t first, int64_t points) {
    const int64_t panel = 2 * TG_WIDE / sizeof(real), O = at->O, pitch = at->pitch;
    const int64_t channels = (at->C + panel - 1) / panel * panel;
    for (int64_t p = first; p < first + points; p++) {
        for (int64_t c = 0; c < channels; c += panel) {
            const real *x = data + p * at->data_step + c * at->width;
            tg_times_panel_real(O, panel, tiles, 1, y + p * at->sums_step, pitch, 1, 0, x, add > 0,
                                totals + p * O * channels + c, channels);
        }
    }
}
@SHARED_PRODUCTS_AT_POINTS@
/* Three elements of eight kernels from what six points have, the points `step` apart */
static inline void tg_kernels_of_points_real(double (*restrict to)[8], int64_t next,
                                             const double (*restrict m)[8], int64_t step) {
    const double a = 0.75, b = 1.5;
    const double of_a = 1 / (2 * a * a * (a * a - b * b)), of_b = 1 / (2 * b * b * (b * b - a * a));
    _Pragma("omp simd")
    for (int64_t k = 0; k < 8; k++) {
        double even = (m[step][k] + m[2 * step][k]) * of_a;
        double odd = (m[step][k] - m[2 * step][k]) * of_a;
        double more = (m[3 * step][k] + m[4 * step][k]) * of_b;
        double other = (m[3 * step][k] - m[4 * step][k]) * of_b;
        to[0][k] = m[0][k] * (1 / (a * a * b * b)) + even + more;
        to[next][k] = a * odd + b * other;
        to[2 * next][k] = a * a * even + b * b * more + m[5 * step][k];
    }
}

/* Gradients of the kernels (C, 3, 3) of some channels; returns whether one is not finite */
static int tg_gradients_of_points_real(real *gw, const real *totals, int64_t C, int64_t O,
                                       int64_t first, int64_t channels) {
    const int64_t panel = 2 * TG_WIDE / sizeof(real), row = (C + panel - 1) / panel * panel;
    double m[36][8] = {0}, down[18][8], w[9][8], check = 0;
    for (int64_t o = first; o < first + channels; o++) {
        for (int64_t c = 0; c < C; c += 8) {
            int64_t few = TG_MIN(8, C - c);
            for (int64_t p = 0; p < 36; p++)
                for (int64_t k = 0; k < few; k++) m[p][k] = totals[(p * O + o) * row + c + k];
            for (int64_t j = 0; j < 6; j++) tg_kernels_of_points_real(down + j, 6, m + j, 6);
            for (int64_t i = 0; i < 3; i++)
                tg_kernels_of_points_real(w + 3 * i, 1, down + 6 * i, 1);
            for (int64_t k = 0; k < few; k++)
                for (int64_t t = 0; t < 9; t++) {
                    gw[(o * C + c + k) * 9 + t] = w[t][k];
                    check += w[t][k] * 0;
                }
        }
    }
    return check != 0;
}
@SHARED_GRADIENTS@
/* gw (O, C, 3, 3): what 3x3 kernels cover of x (N, C, h, w), times cotangents y (N, O, oh, ow),
   summed over all places. Where a result is not finite, all is computed again without points. The
   memory: totals, data and cotangents of a block, and that of a part; or what the direct form
   needs */
static void tg_winograd_weights_shared_real(real *gw, const real *x, const real *y, int64_t N,
                                            int64_t C, int64_t O, int64_t h, int64_t w, int64_t oh,
                                            int64_t ow, int64_t ph, int64_t pw, int64_t columns,
                                            int64_t strips, int64_t part_size, int64_t rows,
                                            int64_t places, int64_t channels, int64_t kernels,
                                            int64_t direct_part, real *memory, int64_t threads) {
    const int64_t one = TG_WIDE / sizeof(real), vectors = (C + one - 1) / one;
    const int64_t panels = (vectors + 1) / 2;
    tg_strips_real at = {N, C, O, h, w, oh, ow, ph, pw, columns, strips, O};
    tg_lay_out_strips_real(&at);
    at.data_step = panels * 2 * one * at.width + 16, at.sums_step = O * at.pitch + 16;
    real *totals = memory, *data = totals + 36 * panels * 2 * one * O;
    real *cotangents = data + 36 * at.data_step, *rest = cotangents + 36 * at.sums_step;
    const int64_t all = N * at.down * at.across;
    for (int64_t first = 0, n; first < all; first += n) {
        n = TG_MIN(strips, all - first);
        tg_panels_of_block_shared_real(data, x, &at, 0, vectors, first, n, part_size, rest,
                                       threads);
        tg_cotangents_of_block_shared_real(cotangents, y, &at, 0, O, first, n, part_size, rest,
                                           threads);
        tg_products_at_points_shared_real(totals, cotangents, data, &at, n * columns, first, 0, 36,
                                          threads);
    }
    if (tg_gradients_of_points_shared_real(gw, totals, C, O, 0, O, threads))
        tg_convolve_weights_shared_real(gw, x, y, N, 1, C, O, h, w, oh, ow, 3, 3, 1, 1, ph, pw, 1,
                                        1, rows, places, channels, kernels, direct_part, memory,
                                        threads);
}
static void tg_winograd_weights_real(real *gw, const real *x, const real *y, int64_t N, int64_t C,
                                     int64_t O, int64_t h, int64_t w, int64_t oh, int64_t ow,
                                     int64_t ph, int64_t pw, int64_t columns, int64_t strips,
                                     int64_t part_size, int64_t rows, int64_t places,
                                     int64_t channels, int64_t kernels, int64_t direct_part,
                                     real *memory) {
    tg_winograd_weights_shared_real(gw, x, y, N, C, O, h, w, oh, ow, ph, pw, columns, strips,
                                    part_size, rows, places, channels, kernels, direct_part,
                                    memory, 0);
}
"""
for mark, name, over, options in (
    ("COTANGENTS", "tg_cotangents_of_block", "channels", {"channel": "1", "scratch": "part_size"}),
    ("PANELS", "tg_panels_of_block", "vectors", {"vector": "1", "scratch": "part_size"}),
    ("PRODUCTS_AT_POINTS", "tg_products_at_points", "points", {"first": "1"}),
    ("GRADIENTS", "tg_gradients_of_points", "channels", {"first": "1"}),
):
    SOURCE = SOURCE.replace(f"@SHARED_{mark}@", shared(SOURCE, name, over, **options))
