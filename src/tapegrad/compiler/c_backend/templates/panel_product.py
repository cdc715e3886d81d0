"""Products of a few rows by the same matrix, again and again: a BLAS would copy it each time."""

SOURCE = r"""
/* The columns of a panel where a product is made by panels, else 0: a large one is shared among
   the threads of the BLAS */
static int64_t tg_panel_real(int64_t m, int64_t n, int64_t k) {
    int64_t width = 64 / sizeof(real);
    return m >= 8 && m <= 64 && m * n * k <= 1 << 22 && n % width == 0 ? width : 0;
}

/* C (rows, a panel) = A (rows, k) B (k, a panel) + beta C; `rows` is a constant where it is
   called: all is in registers */
static inline __attribute__((always_inline)) void tg_panel_tile_real(
    const int rows, int64_t k, const real *A, int64_t lda, const real *B, real beta, real *C,
    int64_t ldc) {
    const int lanes = 32 / sizeof(real);
    tg_lanes_real left[6] = {{0}}, right[6] = {{0}};
    for (int64_t p = 0; p < k; p++, A++, B += 2 * lanes) {
        tg_lanes_real b0 = *(const tg_lanes_real *)B, b1 = *(const tg_lanes_real *)(B + lanes);
        _Pragma("GCC unroll 6")
        for (int i = 0; i < rows; i++) {
            left[i] += A[i * lda] * b0;
            right[i] += A[i * lda] * b1;
        }
    }
    _Pragma("GCC unroll 6")
    for (int i = 0; i < rows; i++, C += ldc) {
        tg_lanes_real *a = (tg_lanes_real *)C, *b = (tg_lanes_real *)(C + lanes);
        if (beta != 0) {
            left[i] += beta * *a;
            right[i] += beta * *b;
        }
        *a = left[i];
        *b = right[i];
    }
}

/* C (m, n) = A (m, k) w + beta C, where w (k, n) lies in panels, one after another, of `width`
   columns; as it is for 0 */
static void tg_panel_product_real(int64_t width, int64_t m, int64_t n, int64_t k, const real *A,
                                  int64_t lda, const real *w, real beta, real *C, int64_t ldc) {
    if (!width) {
        tg_product_real(0, 0, m, n, k, 1, A, lda, w, n, beta, C, ldc);
        return;
    }
    for (int64_t j = 0; j < n; j += width, w += width * k) {
        for (int64_t i = 0, rows, tiles = (m + 5) / 6; tiles > 0; i += rows, tiles--) {
            const real *a = A + i * lda;
            real *c = C + i * ldc + j;
            rows = (m - i + tiles - 1) / tiles; /* 4 to 6 */
            if (rows == 6)
                tg_panel_tile_real(6, k, a, lda, w, beta, c, ldc);
            else if (rows == 5)
                tg_panel_tile_real(5, k, a, lda, w, beta, c, ldc);
            else
                tg_panel_tile_real(4, k, a, lda, w, beta, c, ldc);
        }
    }
}
"""
