"""C that convolutions have in common: places, and tiles, copies of the images below them."""

UNTYPED = r"""
/* Numbers in whole lines of the cache */
#define TG_LINES(n) (((n) + 15) / 16 * 16)
"""

SOURCE = r"""
/* Images (N, G C, h, w) and places (oh, ow), as a convolution has them: place i of an axis sees
   offset k of a kernel at i s + k d - p. y is the result (N, G O, H, W), of which every step_h-th
   row and every step_w-th column are places. `rows` x `columns` places are one block, the images
   below it a tile of C planes, whose lines hold every sw-th column side by side */
typedef struct {
    int64_t N, G, C, O, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw;
    int64_t H, W, step_h, step_w, rows, columns, height, length, phases, line, plane;
} tg_places_real;

static void tg_lay_out_tiles_real(tg_places_real *at) {
    at->height = (at->rows - 1) * at->sh + (at->kh - 1) * at->dh + 1;
    at->length = at->columns + (at->kw - 1) * at->dw / at->sw;
    at->phases = TG_MIN(at->sw, (at->kw - 1) * at->dw + 1);
    at->line = at->phases * at->length;
    at->plane = at->height * at->line;
}

/* The tile of C channels below places from row i and column j on; zeros are around the images */
static void tg_copy_tile_real(real *restrict tile, const real *restrict x,
                              const tg_places_real *at, int64_t C, int64_t i, int64_t j) {
    int64_t top = i * at->sh - at->ph, left = j * at->sw - at->pw, n = at->length;
    int64_t low = TG_MIN(n, TG_MAX(0, -left)), high = TG_MIN(n, TG_MAX(low, at->w - left));
    for (int64_t c = 0; c < C; c++, x += at->h * at->w) {
        for (int64_t r = top; r < top + at->height; r++, tile += at->line) {
            const real *from = x + r * at->w + left;
            if (r < 0 || r >= at->h) {
                for (int64_t k = 0; k < at->line; k++) tile[k] = 0;
            } else if (at->sw == 1) {
                for (int64_t k = 0; k < low; k++) tile[k] = 0;
                _Pragma("omp simd")
                for (int64_t k = low; k < high; k++) tile[k] = from[k];
                for (int64_t k = high; k < n; k++) tile[k] = 0;
            } else {
                for (int64_t phase = 0; phase < at->phases; phase++) {
                    int64_t first = left + phase, last = at->w - 1 - first;
                    int64_t a = first < 0 ? TG_MIN(n, (at->sw - 1 - first) / at->sw) : 0;
                    int64_t b = last < 0 ? a : TG_MAX(a, TG_MIN(n, last / at->sw + 1));
                    real *to = tile + phase * n;
                    for (int64_t k = 0; k < a; k++) to[k] = 0;
                    for (int64_t k = a; k < b; k++) to[k] = from[phase + k * at->sw];
                    for (int64_t k = b; k < n; k++) to[k] = 0;
                }
            }
        }
    }
    memset(tile, 0, 2 * TG_WIDE); /* what whole vectors read behind it */
}

/* Where in a tile the first place sees each offset of the kernels of C channels */
static void tg_offsets_real(int32_t *restrict offsets, const tg_places_real *at, int64_t C) {
    for (int64_t c = 0; c < C; c++) {
        for (int64_t i = 0; i < at->kh; i++) {
            for (int64_t j = 0; j < at->kw; j++) {
                int64_t right = j * at->dw, in_line = right % at->sw * at->length + right / at->sw;
                *offsets++ = (int32_t)(c * at->plane + i * at->dh * at->line + in_line);
            }
        }
    }
}

/* So many of the n that are left are computed at once: 4 to 6 wherever that is possible */
static inline int64_t tg_next_few_real(int64_t n) {
    return n <= 6 ? n : n <= 8 ? 4 : n == 9 || n == 13 ? 5 : 6;
}

/* Whether the lanes of a vector are places, as the channels of a group would fill half a panel */
static inline int tg_by_places_real(int64_t O) {
    return O * 2 * (int64_t)sizeof(real) <= TG_WIDE;
}
"""
