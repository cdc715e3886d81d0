"""C of the transforms of a Winograd convolution, F(4x4, 3x3), with tiles as the lanes of vectors.

Four places of a row are a polynomial product, of five numbers at six points: 0, a, -a, b, -b and
infinity, with a = 3/4 and b = 3/2 here. All coefficients of the data and of the places are exact in
single precision. With 64 channels the largest error is 1.5e-6 of the largest result, where the
usual points 0, 1, -1, 2, -2 give 5.3e-6, and the direct sum 0.5e-6.

Source: A. Lavin and S. Gray, "Fast algorithms for convolutional neural networks" (2015), whose
matrices B, G and A are those of the data, the kernels and the places.
"""

SOURCE = r"""
/* Images (N, C, h, w), with ph rows and pw columns of zeros before them, and places (N, O, oh, ow).
   A tile is 4 x 4 places and the 6 x 6 elements below them. `columns` tiles side by side are a
   strip: `down` strips below each other are a part of an image, `across` parts an image. A block
   are some strips, in memory `width` tiles, panels of two vectors; `lanes` is `columns` in whole
   vectors. Its data are 36 matrices (C, pitch), those of sums (some, width): of so many channels */
typedef struct {
    int64_t N, C, O, h, w, oh, ow, ph, pw, columns, strips, some;
    int64_t down, across, width, pitch, lanes, data_step, sums_step;
} tg_strips_real;

static void tg_lay_out_strips_real(tg_strips_real *at) {
    const int64_t one = TG_WIDE / sizeof(real), panel = 2 * one;
    at->down = (at->oh + 3) / 4;
    at->across = ((at->ow + 3) / 4 + at->columns - 1) / at->columns;
    at->width = (at->strips * at->columns + panel - 1) / panel * panel;
    at->lanes = (at->columns + one - 1) / one * one;
    at->pitch = at->width + (at->lanes > at->columns ? one : 0);
    at->data_step = at->C * at->pitch + 16; /* a power of two would meet itself in the cache */
    at->sums_step = at->some * at->width + 16;
}

/* Where a strip is: an image, the first row and the first column of its places */
static inline void tg_place_strip_real(const tg_strips_real *at, int64_t strip, int64_t *image,
                                       int64_t *i, int64_t *j) {
    *i = strip % at->down * 4;
    *j = strip / at->down % at->across * at->columns * 4;
    *image = strip / at->down / at->across;
}

/* Rows of an image from row i and column j on, n numbers of each; what is around the image is
   left as it is */
static inline void tg_copy_rows_real(real *restrict to, const real *restrict x, int64_t i,
                                     int64_t j, int64_t rows, int64_t n,
                                     const tg_strips_real *at) {
    int64_t low = TG_MAX(0, -j), high = TG_MIN(n, at->w - j);
    int64_t last = TG_MIN(i + rows, at->h);
    for (int64_t r = TG_MAX(0, i); r < last; r++) {
        real *row = to + (r - i) * n;
        const real *from = x + r * at->w + j;
        _Pragma("omp simd")
        for (int64_t k = low; k < high; k++) row[k] = from[k];
    }
}

/* Rows of n = 4 lanes + 4 numbers as the elements 0, 1, 2 and 3 of each tile: 4 and 5 are the first
   two of the tile that follows */
static inline void tg_split_rows_real(real *restrict to, const real *restrict from, int64_t rows,
                                      int64_t lanes) {
    for (int64_t r = 0; r < rows; r++, from += 4 * lanes + 4, to += 4 * lanes + 4) {
        real *one = to + lanes + 1, *two = one + lanes + 1, *three = two + lanes + 1;
        _Pragma("omp simd")
        for (int64_t t = 0; t < lanes; t++) {
            to[t] = from[4 * t];
            one[t] = from[4 * t + 1];
            two[t] = from[4 * t + 2];
            three[t] = from[4 * t + 3];
        }
        to[lanes] = from[4 * lanes], one[lanes] = from[4 * lanes + 1];
    }
}

/* B' d: six elements as values at the six points */
static inline __attribute__((always_inline)) void tg_data_at_points_real(tg_wide_real *to,
                                                                         const tg_wide_real *d) {
    const real a = 0.75, b = 1.5;
    tg_wide_real even = d[4] - b * b * d[2], odd = d[3] - b * b * d[1];
    to[0] = a * a * b * b * d[0] - (a * a + b * b) * d[2] + d[4];
    to[1] = even + a * odd, to[2] = even - a * odd;
    even = d[4] - a * a * d[2], odd = d[3] - a * a * d[1];
    to[3] = even + b * odd, to[4] = even - b * odd;
    to[5] = a * a * b * b * d[1] - (a * a + b * b) * d[3] + d[5];
}

/* The data of a strip at 36 points, B' d B, which are `step` apart; rows: six of them, split */
static inline void tg_strip_at_points_real(real *to, int64_t step, const real *rows,
                                           int64_t lanes) {
    const int64_t one = TG_WIDE / sizeof(real), next = lanes + 1, row = 4 * next;
    const int64_t element[6] = {0, next, 2 * next, 3 * next, 1, next + 1};
    tg_wide_real d[6], v[6], down[6][6];
    for (int64_t t = 0; t < lanes; t += one) {
        for (int64_t j = 0; j < 6; j++) {
            const real *from = rows + element[j] + t;
            _Pragma("GCC unroll 6")
            for (int i = 0; i < 6; i++) d[i] = *(const tg_wide_real *)(from + i * row);
            tg_data_at_points_real(v, d);
            _Pragma("GCC unroll 6")
            for (int i = 0; i < 6; i++) down[i][j] = v[i];
        }
        for (int64_t i = 0; i < 6; i++) {
            _Pragma("GCC unroll 6")
            for (int j = 0; j < 6; j++) d[j] = down[i][j];
            tg_data_at_points_real(v, d);
            _Pragma("GCC unroll 6")
            for (int j = 0; j < 6; j++)
                *(tg_wide_real *)(to + (6 * i + j) * step + t) = v[j];
        }
    }
}

/* The data of some channels of a block of strips; the memory: twice the rows below strips */
static void tg_data_of_block_real(real *data, const real *x, const tg_strips_real *at,
                                  int64_t channel, int64_t channels, int64_t first,
                                  int64_t strips, int64_t part_size, real *memory) {
    const int64_t n = 4 * at->lanes + 4, most = 4 * at->strips + 2;
    real *split = memory + most * n;
    (void)part_size;
    for (int64_t s = 0, below; s < strips; s += below) {
        int64_t image, i, j;
        tg_place_strip_real(at, first + s, &image, &i, &j);
        below = TG_MIN(strips - s, at->down - i / 4);
        int64_t rows = 4 * below + 2;
        memset(memory, 0, rows * n * sizeof(real)); /* zeros around all channels are the same */
        for (int64_t c = channel; c < channel + channels; c++) {
            const real *from = x + (image * at->C + c) * at->h * at->w;
            tg_copy_rows_real(memory, from, i - at->ph, j - at->pw, rows, n, at);
            tg_split_rows_real(split, memory, rows, at->lanes);
            for (int64_t k = 0; k < below; k++)
                tg_strip_at_points_real(data + c * at->pitch + (s + k) * at->columns,
                                        at->data_step, split + 4 * k * n, at->lanes);
        }
    }
}

/* A' m: four places of values at the six points */
static inline __attribute__((always_inline)) void tg_places_of_points_real(tg_wide_real *to,
                                                                           const tg_wide_real *m) {
    const real a = 0.75, b = 1.5;
    tg_wide_real even = m[1] + m[2], odd = m[1] - m[2];
    tg_wide_real more = m[3] + m[4], other = m[3] - m[4];
    to[0] = m[0] + (even + more);
    to[1] = a * odd + b * other;
    to[2] = a * a * even + b * b * more;
    to[3] = a * a * a * odd + b * b * b * other + m[5];
}

/* The places of a strip, A' m A: four rows of `lanes` tiles, place by place */
static inline void tg_strip_of_points_real(real *restrict to, const real *restrict sums,
                                           int64_t step, int64_t lanes) {
    const int64_t one = TG_WIDE / sizeof(real);
    tg_wide_real m[6], y[4], down[4][6];
    for (int64_t t = 0; t < lanes; t += one) {
        for (int64_t j = 0; j < 6; j++) {
            _Pragma("GCC unroll 6")
            for (int i = 0; i < 6; i++)
                m[i] = *(const tg_wide_real *)(sums + (6 * i + j) * step + t);
            tg_places_of_points_real(y, m);
            _Pragma("GCC unroll 4")
            for (int i = 0; i < 4; i++) down[i][j] = y[i];
        }
        for (int64_t i = 0; i < 4; i++) {
            tg_places_of_points_real(y, down[i]);
            _Pragma("GCC unroll 4")
            for (int j = 0; j < 4; j++) *(tg_wide_real *)(to + (4 * i + j) * lanes + t) = y[j];
        }
    }
}

/* y = n places of a row of tiles, and the bias, or `low` if that is more; returns 0, or nan where
   one is not finite */
static inline real tg_give_row_real(real *restrict y, const real *restrict places, int64_t lanes,
                                    int64_t n, real bias, real low) {
    real line[4 * TG_STRIP], check = 0;
    _Pragma("omp simd")
    for (int64_t t = 0; t < lanes; t++) {
        line[4 * t] = places[t];
        line[4 * t + 1] = places[t + lanes];
        line[4 * t + 2] = places[t + 2 * lanes];
        line[4 * t + 3] = places[t + 3 * lanes];
    }
    _Pragma("omp simd reduction(+ : check)")
    for (int64_t k = 0; k < n; k++) {
        real value = line[k] + bias;
        y[k] = value < low ? low : value;
        check += line[k] * 0;
    }
    return check;
}

/* The places of some channels of a block of strips; returns whether one of them is not finite */
static int tg_places_of_block_real(real *y, const real *sums, const real *bias, int64_t ends,
                                   const tg_strips_real *at, int64_t channel, int64_t channels,
                                   int64_t first, int64_t strips) {
    real places[16 * TG_STRIP + 64], check = 0, low = ends & 2 ? 0 : -INFINITY;
    for (int64_t o = channel; o < channel + channels; o++, sums += at->width) {
        for (int64_t s = 0; s < strips; s++) {
            int64_t image, i, j;
            tg_place_strip_real(at, first + s, &image, &i, &j);
            real *to = y + ((image * at->O + o) * at->oh + i) * at->ow + j;
            int64_t n = TG_MIN(4 * at->columns, at->ow - j), rows = TG_MIN(4, at->oh - i);
            tg_strip_of_points_real(places, sums + s * at->columns, at->sums_step, at->lanes);
            for (int64_t k = 0; k < rows; k++)
                check += tg_give_row_real(to + k * at->ow, places + 4 * k * at->lanes, at->lanes,
                                          n, ends & 1 ? bias[o] : 0, low);
        }
    }
    return check != 0;
}
"""
