"""C of the gradient of a convolution with respect to its kernels, from tiles of the images."""

from tapegrad.compiler.c_backend.templates.shared import shared

SOURCE = r"""
/* The products of up to 6 offsets, whose first places are x + offsets[i], and a panel of the
   cotangents of rows x columns places, added to `to`; all is in registers */
static inline __attribute__((always_inline)) void tg_few_offsets_real(
    const int few, real *to, const real *x, const int32_t *offsets, const real *panel,
    int64_t rows, int64_t columns, int64_t down) {
    const int lanes = TG_WIDE / sizeof(real);
    const real *from[6];
    tg_wide_real c[6][2];
    _Pragma("GCC unroll 6")
    for (int i = 0; i < few; i++) {
        c[i][0] = c[i][1] = (tg_wide_real){0};
        from[i] = x + offsets[i];
    }
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t k = 0; k < columns; k++, panel += 2 * lanes) {
            tg_wide_real b0 = *(const tg_wide_real *)panel;
            tg_wide_real b1 = *(const tg_wide_real *)(panel + lanes);
            _Pragma("GCC unroll 6")
            for (int i = 0; i < few; i++) {
                c[i][0] += from[i][k] * b0;
                c[i][1] += from[i][k] * b1;
            }
        }
        _Pragma("GCC unroll 6")
        for (int i = 0; i < few; i++) from[i] += down;
    }
    _Pragma("GCC unroll 6")
    for (int i = 0; i < few; i++) {
        *(tg_wide_real *)(to + 2 * i * lanes) += c[i][0];
        *(tg_wide_real *)(to + (2 * i + 1) * lanes) += c[i][1];
    }
}
static void tg_all_offsets_real(real *to, const real *x, const int32_t *offsets, int64_t n,
                                const real *panel, int64_t rows, int64_t columns, int64_t down) {
    const int64_t width = 2 * TG_WIDE / sizeof(real);
    for (int64_t few; n > 0; n -= few, offsets += few, to += few * width) {
        few = tg_next_few_real(n);
        switch (few) {
            case 6: tg_few_offsets_real(6, to, x, offsets, panel, rows, columns, down); break;
            case 5: tg_few_offsets_real(5, to, x, offsets, panel, rows, columns, down); break;
            case 4: tg_few_offsets_real(4, to, x, offsets, panel, rows, columns, down); break;
            case 3: tg_few_offsets_real(3, to, x, offsets, panel, rows, columns, down); break;
            case 2: tg_few_offsets_real(2, to, x, offsets, panel, rows, columns, down); break;
            default: tg_few_offsets_real(1, to, x, offsets, panel, rows, columns, down);
        }
    }
}

/* The same for one channel, lanes are places: up to 5 offsets; rows of y are `next` apart */
static inline __attribute__((always_inline)) void tg_few_dots_real(
    const int few, real *to, const real *x, const int32_t *offsets, const real *y, int64_t next,
    int64_t rows, int64_t columns, int64_t down) {
    const int lanes = TG_WIDE / sizeof(real);
    const real *from[5];
    real rest[5] = {0};
    tg_wide_real c[5][2];
    _Pragma("GCC unroll 5")
    for (int i = 0; i < few; i++) {
        c[i][0] = c[i][1] = (tg_wide_real){0};
        from[i] = x + offsets[i];
    }
    for (int64_t r = 0; r < rows; r++, y += next) {
        int64_t k = 0;
        for (; k + 2 * lanes <= columns; k += 2 * lanes) {
            tg_wide_real b0 = *(const tg_wide_real *)(y + k);
            tg_wide_real b1 = *(const tg_wide_real *)(y + k + lanes);
            _Pragma("GCC unroll 5")
            for (int i = 0; i < few; i++) {
                c[i][0] += *(const tg_wide_real *)(from[i] + k) * b0;
                c[i][1] += *(const tg_wide_real *)(from[i] + k + lanes) * b1;
            }
        }
        for (; k + lanes <= columns; k += lanes) {
            tg_wide_real b = *(const tg_wide_real *)(y + k);
            _Pragma("GCC unroll 5")
            for (int i = 0; i < few; i++) c[i][0] += *(const tg_wide_real *)(from[i] + k) * b;
        }
        for (; k < columns; k++) {
            _Pragma("GCC unroll 5")
            for (int i = 0; i < few; i++) rest[i] += from[i][k] * y[k];
        }
        _Pragma("GCC unroll 5")
        for (int i = 0; i < few; i++) from[i] += down;
    }
    _Pragma("GCC unroll 5")
    for (int i = 0; i < few; i++) {
        tg_wide_real both = c[i][0] + c[i][1];
        for (int k = 0; k < lanes; k++) rest[i] += both[k];
        to[i] += rest[i];
    }
}
static void tg_dots_real(real *to, const real *x, const int32_t *offsets, int64_t n,
                         const real *y, int64_t next, int64_t rows, int64_t columns,
                         int64_t down) {
    for (int64_t few; n > 0; n -= few, offsets += few, to += few) {
        few = TG_MIN(n, 5);
        if (few == 5) tg_few_dots_real(5, to, x, offsets, y, next, rows, columns, down);
        else if (few == 4) tg_few_dots_real(4, to, x, offsets, y, next, rows, columns, down);
        else if (few == 3) tg_few_dots_real(3, to, x, offsets, y, next, rows, columns, down);
        else if (few == 2) tg_few_dots_real(2, to, x, offsets, y, next, rows, columns, down);
        else tg_few_dots_real(1, to, x, offsets, y, next, rows, columns, down);
    }
}

/* A row of n places of so many channels, which are `step` apart, as n parts of a panel: zeros are
   behind the channels */
static void tg_turn_row_real(real *restrict to, const real *restrict y, int64_t channels,
                             int64_t n, int64_t step) {
    const int64_t width = 2 * TG_WIDE / sizeof(real);
    for (int64_t c = 0; c < width; c++) {
        if (c < channels)
            for (int64_t k = 0; k < n; k++) to[k * width + c] = y[c * step + k];
        else
            for (int64_t k = 0; k < n; k++) to[k * width + c] = 0;
    }
}

/* Gradients of kernels, as panels in `totals`: pieces are, from `first` on, panels of channels of
   y (N, G O, oh, ow), with `some` channels of x after the others and group by group */
static void tg_correlate_kernels_real(real *totals, const real *x, const real *y,
                                      const tg_places_real *at, int64_t some, int64_t first,
                                      int64_t pieces, int64_t part_size, real *memory) {
    const int64_t by_places = tg_by_places_real(at->O);
    const int64_t width = by_places ? 1 : 2 * TG_WIDE / sizeof(real);
    int64_t offsets_of = at->kh * at->kw, n = at->C * offsets_of, O = at->O;
    int64_t panels = (O + width - 1) / width, places = at->oh * at->ow, turns;
    int64_t cuts = (at->C + some - 1) / some;
    int32_t *offsets = (int32_t *)memory;
    real *tile = memory + TG_LINES(some * offsets_of);
    real *turned = tile + TG_LINES(some * at->plane + 32);
    (void)part_size;
    tg_offsets_real(offsets, at, some);
    for (int64_t piece = first; piece < first + pieces; piece += turns) {
        int64_t group = piece / panels / cuts, c = piece / panels % cuts * some;
        int64_t panel = piece % panels, channels = TG_MIN(some, at->C - c);
        turns = TG_MIN(panels - panel, first + pieces - piece);
        for (int64_t k = panel; k < panel + turns; k++)
            memset(totals + ((group * panels + k) * n + c * offsets_of) * width, 0,
                   channels * offsets_of * width * sizeof(real));
        for (int64_t image = 0; image < at->N; image++) {
            const real *from = x + ((image * at->G + group) * at->C + c) * at->h * at->w;
            for (int64_t i = 0; i < at->oh; i += at->rows) {
                for (int64_t j = 0; j < at->ow; j += at->columns) {
                    int64_t rows = TG_MIN(at->rows, at->oh - i);
                    int64_t columns = TG_MIN(at->columns, at->ow - j);
                    tg_copy_tile_real(tile, from, at, channels, i, j);
                    for (int64_t k = panel; k < panel + turns; k++) {
                        real *to = totals + ((group * panels + k) * n + c * offsets_of) * width;
                        const real *g = y + i * at->ow + j;
                        g += ((image * at->G + group) * O + k * width) * places;
                        if (by_places) {
                            tg_dots_real(to, tile, offsets, channels * offsets_of, g, at->ow, rows,
                                         columns, at->sh * at->line);
                            continue;
                        }
                        int64_t lanes = TG_MIN(width, O - k * width);
                        for (int64_t r = 0; r < rows; r++)
                            tg_turn_row_real(turned + r * columns * width, g + r * at->ow,
                                             lanes, columns, places);
                        tg_all_offsets_real(to, tile, offsets, channels * offsets_of, turned, rows,
                                            columns, at->sh * at->line);
                    }
                }
            }
        }
    }
}
@SHARED_KERNELS@
/* dw (G O, C, kh, kw): what offsets of kernels cover of x, times cotangents y, summed over all
   places; the memory: totals, and that of a part */
static void tg_convolve_weights_shared_real(real *restrict gw, const real *x, const real *y,
                                            int64_t N, int64_t G, int64_t C, int64_t O, int64_t h,
                                            int64_t w, int64_t oh, int64_t ow, int64_t kh,
                                            int64_t kw, int64_t sh, int64_t sw, int64_t ph,
                                            int64_t pw, int64_t dh, int64_t dw, int64_t rows,
                                            int64_t columns, int64_t some, int64_t kernels,
                                            int64_t part_size, real *memory, int64_t threads) {
    tg_places_real at = {N,  G,  C,  O,  h,  w,  oh, ow, kh, kw,   sh,     sw,
                         ph, pw, dh, dw, oh, ow, 1,  1,  rows, columns};
    const int64_t width = tg_by_places_real(O) ? 1 : 2 * TG_WIDE / sizeof(real);
    int64_t panels = (O + width - 1) / width, n = C * kh * kw;
    tg_lay_out_tiles_real(&at);
    tg_correlate_kernels_shared_real(memory, x, y, &at, some, 0,
                                     G * ((C + some - 1) / some) * panels, part_size,
                                     memory + kernels, threads);
    for (int64_t g = 0; g < G; g++)
        for (int64_t o = 0; o < O; o++, gw += n) {
            const real *from = memory + (g * panels + o / width) * n * width + o % width;
            for (int64_t t = 0; t < n; t++) gw[t] = from[t * width];
        }
}
static void tg_convolve_weights_real(real *gw, const real *x, const real *y, int64_t N, int64_t G,
                                     int64_t C, int64_t O, int64_t h, int64_t w, int64_t oh,
                                     int64_t ow, int64_t kh, int64_t kw, int64_t sh, int64_t sw,
                                     int64_t ph, int64_t pw, int64_t dh, int64_t dw, int64_t rows,
                                     int64_t columns, int64_t some, int64_t kernels,
                                     int64_t part_size, real *memory) {
    tg_convolve_weights_shared_real(gw, x, y, N, G, C, O, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh,
                                    dw, rows, columns, some, kernels, part_size, memory, 0);
}
"""
SOURCE = SOURCE.replace(
    "@SHARED_KERNELS@",
    shared(SOURCE, "tg_correlate_kernels", "pieces", first="1", scratch="part_size"),
)
