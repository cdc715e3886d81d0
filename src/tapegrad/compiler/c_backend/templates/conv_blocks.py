"""C of a convolution and of the transposed one: blocks of places, made from a tile of the images.

What is transposed is, for each phase of the strides, a convolution with some of the offsets.
"""

from tapegrad.compiler.c_backend.templates.shared import shared

SOURCE = r"""
/* Up to 6 places in a row times a panel of weights, n offsets of both; `places` is a constant
   where it is called: all is in registers */
static inline __attribute__((always_inline)) void tg_few_places_real(
    const int places, real *to, const real *x, const int32_t *offsets, const real *panel,
    int64_t n, int64_t add) {
    const int lanes = TG_WIDE / sizeof(real);
    tg_wide_real c[6][2];
    _Pragma("GCC unroll 6")
    for (int i = 0; i < places; i++) {
        c[i][0] = c[i][1] = (tg_wide_real){0};
        if (add) c[i][0] = *(tg_wide_real *)(to + 2 * i * lanes);
        if (add) c[i][1] = *(tg_wide_real *)(to + (2 * i + 1) * lanes);
    }
    for (int64_t t = 0; t < n; t++, panel += 2 * lanes) {
        const real *from = x + offsets[t];
        tg_wide_real b0 = *(const tg_wide_real *)panel;
        tg_wide_real b1 = *(const tg_wide_real *)(panel + lanes);
        _Pragma("GCC unroll 6")
        for (int i = 0; i < places; i++) {
            c[i][0] += from[i] * b0;
            c[i][1] += from[i] * b1;
        }
    }
    _Pragma("GCC unroll 6")
    for (int i = 0; i < places; i++) {
        *(tg_wide_real *)(to + 2 * i * lanes) = c[i][0];
        *(tg_wide_real *)(to + (2 * i + 1) * lanes) = c[i][1];
    }
}
static void tg_row_of_places_real(real *to, const real *x, const int32_t *offsets,
                                  const real *panel, int64_t n, int64_t columns, int64_t add) {
    const int64_t width = 2 * TG_WIDE / sizeof(real);
    for (int64_t few; columns > 0; columns -= few, x += few, to += few * width) {
        few = tg_next_few_real(columns);
        switch (few) {
            case 6: tg_few_places_real(6, to, x, offsets, panel, n, add); break;
            case 5: tg_few_places_real(5, to, x, offsets, panel, n, add); break;
            case 4: tg_few_places_real(4, to, x, offsets, panel, n, add); break;
            case 3: tg_few_places_real(3, to, x, offsets, panel, n, add); break;
            case 2: tg_few_places_real(2, to, x, offsets, panel, n, add); break;
            default: tg_few_places_real(1, to, x, offsets, panel, n, add);
        }
    }
}

/* Two vectors of places in a row for up to 4 channels, whose weights are n apart */
static inline __attribute__((always_inline)) void tg_few_channels_real(
    const int channels, real *to, const real *x, const int32_t *offsets, const real *w,
    int64_t n) {
    const int lanes = TG_WIDE / sizeof(real);
    tg_wide_real c[4][2];
    _Pragma("GCC unroll 4")
    for (int i = 0; i < channels; i++) c[i][0] = c[i][1] = (tg_wide_real){0};
    for (int64_t t = 0; t < n; t++, w++) {
        tg_wide_real b0 = *(const tg_wide_real *)(x + offsets[t]);
        tg_wide_real b1 = *(const tg_wide_real *)(x + offsets[t] + lanes);
        _Pragma("GCC unroll 4")
        for (int i = 0; i < channels; i++) {
            c[i][0] += w[i * n] * b0;
            c[i][1] += w[i * n] * b1;
        }
    }
    _Pragma("GCC unroll 4")
    for (int i = 0; i < channels; i++) {
        *(tg_wide_real *)(to + 2 * i * lanes) = c[i][0];
        *(tg_wide_real *)(to + (2 * i + 1) * lanes) = c[i][1];
    }
}

/* y = sums + bias, or `low` if that is more, for n places `step` apart; `between`, the distance of
   the sums, is a constant where it is called */
static inline __attribute__((always_inline)) void tg_give_places_real(
    real *restrict y, int64_t step, const real *restrict sums, const int64_t between, real bias,
    real low, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        real value = sums[k * between] + bias; /* nan is no less than anything */
        y[step == 1 ? k : k * step] = value < low ? low : value;
    }
}

/* Blocks of a convolution: `first` and so many more of those of all images, group by group;
   weights: panels of channels, offset by offset, or rows of offsets; the memory: a table of
   offsets, a tile, sums of a block; ends: 1 if there is a bias, and 2 more for ReLU */
static void tg_correlate_blocks_real(real *y, const real *x, const real *weights,
                                     const real *bias, int64_t ends,
                                     const tg_places_real *at, int64_t first, int64_t blocks,
                                     int64_t part_size, real *memory) {
    const int64_t width = 2 * TG_WIDE / sizeof(real);
    int64_t n = at->C * at->kh * at->kw, O = at->O, depth = (n + 191) / 192;
    int32_t *offsets = (int32_t *)memory;
    real *tile = memory + TG_LINES(n), *sums = tile + TG_LINES(at->C * at->plane + width);
    int64_t across = (at->ow + at->columns - 1) / at->columns;
    real low = ends & 2 ? 0 : -INFINITY;
    int64_t of_group = across * ((at->oh + at->rows - 1) / at->rows);
    (void)part_size;
    depth = depth ? (n + depth - 1) / depth : 1; /* a panel of so many offsets is in L1 */
    tg_offsets_real(offsets, at, at->C);
    for (int64_t block = first; block < first + blocks; block++) {
        int64_t of = block / of_group, group = of % at->G, within = block % of_group;
        int64_t i = within / across * at->rows, j = within % across * at->columns;
        int64_t rows = TG_MIN(at->rows, at->oh - i), columns = TG_MIN(at->columns, at->ow - j);
        int64_t down = at->step_h * at->W, right = at->step_w;
        real *out = y + of * O * at->H * at->W + i * down + j * right;
        tg_copy_tile_real(tile, x + of * at->C * at->h * at->w, at, at->C, i, j);
        if (tg_by_places_real(O)) {
            for (int64_t o = 0; o < O; o += 4) {
                const real *w = weights + (group * O + o) * n;
                int64_t few = TG_MIN(4, O - o);
                for (int64_t p = 0; p < rows * columns; p++) {
                    int64_t r = p / columns, q = p % columns;
                    const real *from = tile + r * at->sh * at->line + q;
                    if (few == 4) tg_few_channels_real(4, sums, from, offsets, w, n);
                    else if (few == 3) tg_few_channels_real(3, sums, from, offsets, w, n);
                    else if (few == 2) tg_few_channels_real(2, sums, from, offsets, w, n);
                    else tg_few_channels_real(1, sums, from, offsets, w, n);
                    int64_t count = TG_MIN(width, columns - q);
                    for (int64_t c = 0; c < few; c++)
                        tg_give_places_real(out + (o + c) * at->H * at->W + r * down + q * right,
                                            right, sums + c * width, 1,
                                            ends & 1 ? bias[group * O + o + c] : 0, low, count);
                    p += count - 1;
                }
            }
            continue;
        }
        for (int64_t o = 0; o < O; o += width) {
            const real *panel = weights + (group * ((O + width - 1) / width) * width + o) * n;
            for (int64_t t = 0; t == 0 || t < n; t += depth)
                for (int64_t r = 0; r < rows; r++)
                    tg_row_of_places_real(sums + r * columns * width,
                                          tile + r * at->sh * at->line, offsets + t,
                                          panel + t * width, TG_MIN(depth, n - t), columns,
                                          t > 0);
            for (int64_t c = 0; c < TG_MIN(width, O - o); c++)
                for (int64_t r = 0; r < rows; r++)
                    tg_give_places_real(out + (o + c) * at->H * at->W + r * down, right,
                                        sums + r * columns * width + c, width,
                                        ends & 1 ? bias[group * O + o + c] : 0, low, columns);
        }
    }
}
@SHARED_BLOCKS@
/* Kernels as `tg_correlate_blocks_real` reads them, of elements (g, o, c, i, j) that lie so far
   from each other */
static void tg_pack_kernels_real(real *restrict to, const real *restrict w,
                                 const tg_places_real *at, int64_t g_step, int64_t o_step,
                                 int64_t c_step, int64_t i_step, int64_t j_step) {
    const int64_t O = at->O, width = tg_by_places_real(O) ? 1 : 2 * TG_WIDE / sizeof(real);
    for (int64_t g = 0; g < at->G; g++)
        for (int64_t o = 0; o < O; o += width)
            for (int64_t c = 0; c < at->C; c++)
                for (int64_t i = 0; i < at->kh; i++)
                    for (int64_t j = 0; j < at->kw; j++, to += width) {
                        const real *from = w + g * g_step + o * o_step + c * c_step + i * i_step;
                        from += j * j_step;
                        for (int64_t k = 0; k < width; k++)
                            to[k] = o + k < O ? from[k * o_step] : 0;
                    }
}

static int64_t tg_blocks_real(const tg_places_real *at) {
    int64_t across = (at->ow + at->columns - 1) / at->columns;
    return at->N * at->G * across * ((at->oh + at->rows - 1) / at->rows);
}

/* y (N, G O, oh, ow): kernels w (G O, C, kh, kw) times what they cover of x (N, G C, h, w); the
   memory: kernels, and that of a part of the blocks, which are rows x columns places */
static void tg_convolve_shared_real(real *y, const real *x, const real *w, const real *bias,
                                    int64_t ends, int64_t N, int64_t G,
                                    int64_t C, int64_t O, int64_t h, int64_t width, int64_t oh,
                                    int64_t ow, int64_t kh, int64_t kw, int64_t sh, int64_t sw,
                                    int64_t ph, int64_t pw, int64_t dh, int64_t dw, int64_t rows,
                                    int64_t columns, int64_t kernels, int64_t part_size,
                                    real *memory, int64_t threads) {
    tg_places_real at = {N,  G,  C,  O,  h,  width, oh, ow, kh, kw,   sh,     sw,
                         ph, pw, dh, dw, oh, ow,    1,  1,  rows, columns};
    tg_lay_out_tiles_real(&at);
    tg_pack_kernels_real(memory, w, &at, O * C * kh * kw, C * kh * kw, kh * kw, kw, 1);
    tg_correlate_blocks_shared_real(y, x, memory, bias, ends, &at, 0,
                                    tg_blocks_real(&at), part_size, memory + kernels, threads);
}
static void tg_convolve_real(real *y, const real *x, const real *w, const real *bias,
                             int64_t ends, int64_t N, int64_t G, int64_t C,
                             int64_t O, int64_t h, int64_t width, int64_t oh, int64_t ow,
                             int64_t kh, int64_t kw, int64_t sh, int64_t sw, int64_t ph,
                             int64_t pw, int64_t dh, int64_t dw, int64_t rows, int64_t columns,
                             int64_t kernels, int64_t part_size, real *memory) {
    tg_convolve_shared_real(y, x, w, bias, ends, N, G, C, O, h, width, oh, ow, kh, kw,
                            sh, sw, ph, pw, dh, dw, rows, columns, kernels, part_size, memory, 0);
}

/* The part of an axis of a transposed convolution that begins at `phase` and has every s-th
   element: it is a convolution with every so many-th offset of the kernels, the last one first */
static void tg_phase_real(int64_t phase, int64_t size, int64_t k, int64_t s, int64_t p, int64_t d,
                          int64_t *places, int64_t *last, int64_t *every, int64_t *n,
                          int64_t *padding, int64_t *dilation) {
    int64_t first = 0, step = 1;
    *places = (size - phase + s - 1) / s;
    while (step * d % s) step++;
    while (first < k && (phase + p - first * d) % s) first++;
    *n = first < k && first < step ? (k - 1 - first) / step + 1 : 0;
    *every = step, *dilation = step * d / s, *last = first + (*n - 1) * step;
    *padding = *n ? -((phase + p - *last * d) / s) : 0;
}

/* x (N, G O, H, W): the gradient with respect to the images of a convolution by w
   (G C, O, kh, kw), for cotangents y (N, G C, h, w) */
static void tg_convolve_transposed_shared_real(
    real *x, const real *y, const real *w, const real *bias, int64_t ends, int64_t N,
    int64_t G, int64_t C, int64_t O, int64_t h, int64_t width, int64_t H, int64_t W,
    int64_t kh, int64_t kw, int64_t sh, int64_t sw, int64_t ph, int64_t pw, int64_t dh,
    int64_t dw, int64_t rows, int64_t columns, int64_t kernels, int64_t part_size, real *memory,
    int64_t threads) {
    for (int64_t a = 0; a < TG_MIN(sh, H); a++) {
        for (int64_t b = 0; b < TG_MIN(sw, W); b++) {
            int64_t last, last_j, every, every_j;
            tg_places_real at = {N, G, C, O, h,  width, 0,      0, 0, 0, 1, 1,
                                 0, 0, 0, 0, H,  W,     sh,     sw};
            tg_phase_real(a, H, kh, sh, ph, dh, &at.oh, &last, &every, &at.kh, &at.ph, &at.dh);
            tg_phase_real(b, W, kw, sw, pw, dw, &at.ow, &last_j, &every_j, &at.kw, &at.pw, &at.dw);
            if (!at.kh || !at.kw) at.kh = at.kw = at.dh = at.dw = at.ph = at.pw = 0;
            at.rows = TG_MIN(rows, at.oh), at.columns = TG_MIN(columns, at.ow);
            tg_lay_out_tiles_real(&at);
            tg_pack_kernels_real(memory, w + last * kw + last_j, &at, C * O * kh * kw, kh * kw,
                                 O * kh * kw, -every * kw, -every_j);
            tg_correlate_blocks_shared_real(x + a * W + b, y, memory, bias, ends, &at,
                                            0, tg_blocks_real(&at), part_size,
                                            memory + kernels, threads);
        }
    }
}
static void tg_convolve_transposed_real(
    real *x, const real *y, const real *w, const real *bias, int64_t ends, int64_t N,
    int64_t G, int64_t C, int64_t O, int64_t h, int64_t width, int64_t H, int64_t W,
    int64_t kh, int64_t kw, int64_t sh, int64_t sw, int64_t ph, int64_t pw, int64_t dh,
    int64_t dw, int64_t rows, int64_t columns, int64_t kernels, int64_t part_size, real *memory) {
    tg_convolve_transposed_shared_real(x, y, w, bias, ends, N, G, C, O, h, width, H, W,
                                       kh, kw, sh, sw, ph, pw, dh, dw, rows, columns, kernels,
                                       part_size, memory, 0);
}
"""
SOURCE = SOURCE.replace(
    "@SHARED_BLOCKS@",
    shared(SOURCE, "tg_correlate_blocks", "blocks", first="1", scratch="part_size"),
)
