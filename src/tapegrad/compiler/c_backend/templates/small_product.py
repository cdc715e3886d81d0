"""Products of matrices so small that a BLAS spends its time on copying them."""

SOURCE = r"""
/* 32 bytes of numbers, anywhere in memory: a vector type of GCC and Clang, of any processor */
typedef real tg_lanes_real __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));

/* `rows` (1 to 4) and `vectors` (1 or 2) are constants where it is called: all is in registers */
static inline __attribute__((always_inline)) void tg_tile_real(
    const int rows, const int vectors, int64_t k, real alpha, const real *A, int64_t row_step,
    int64_t step, const real *B, int64_t ldb, real beta, real *C, int64_t ldc) {
    const int lanes = 32 / sizeof(real);
    tg_lanes_real zero = {0}, c00 = zero, c01 = zero, c10 = zero, c11 = zero, c20 = zero,
                  c21 = zero, c30 = zero, c31 = zero;
    for (int64_t p = 0; p < k; p++, A += step, B += ldb) {
        tg_lanes_real b0 = *(const tg_lanes_real *)B, b1 = zero;
        if (vectors > 1) b1 = *(const tg_lanes_real *)(B + lanes);
        __asm__("" ::: "memory"); /* else GCC loads b0 and b1 again for each row */
        c00 += A[0] * b0;
        if (vectors > 1) c01 += A[0] * b1;
        if (rows > 1) c10 += A[row_step] * b0;
        if (rows > 1 && vectors > 1) c11 += A[row_step] * b1;
        if (rows > 2) c20 += A[2 * row_step] * b0;
        if (rows > 2 && vectors > 1) c21 += A[2 * row_step] * b1;
        if (rows > 3) c30 += A[3 * row_step] * b0;
        if (rows > 3 && vectors > 1) c31 += A[3 * row_step] * b1;
    }
    for (int i = 0; i < rows; i++, C += ldc) {
        tg_lanes_real a = i == 0 ? c00 : i == 1 ? c10 : i == 2 ? c20 : c30;
        tg_lanes_real b = i == 0 ? c01 : i == 1 ? c11 : i == 2 ? c21 : c31;
        tg_lanes_real *to = (tg_lanes_real *)C;
        *to = beta == 0 ? alpha * a : alpha * a + beta * *to;
        to = (tg_lanes_real *)(C + lanes);
        if (vectors > 1) *to = beta == 0 ? alpha * b : alpha * b + beta * *to;
    }
}
static inline __attribute__((always_inline)) void tg_tiles_real(
    const int rows, int64_t n, int64_t k, real alpha, const real *A, int64_t row_step,
    int64_t step, const real *B, int64_t ldb, real beta, real *C, int64_t ldc) {
    const int lanes = 32 / sizeof(real);
    int64_t j = 0;
    for (; j + 2 * lanes <= n; j += 2 * lanes)
        tg_tile_real(rows, 2, k, alpha, A, row_step, step, B + j, ldb, beta, C + j, ldc);
    for (; j + lanes <= n; j += lanes)
        tg_tile_real(rows, 1, k, alpha, A, row_step, step, B + j, ldb, beta, C + j, ldc);
    for (; j < n; j++) {
        for (int i = 0; i < rows; i++) {
            real sum = 0;
            for (int64_t p = 0; p < k; p++) sum += A[i * row_step + p * step] * B[p * ldb + j];
            C[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * C[i * ldc + j]);
        }
    }
}

/* C (rows, n) = alpha A (rows, k) B (k, n) + beta C for up to 4 rows; A has any steps */
static void tg_four_rows_real(int64_t rows, int64_t n, int64_t k, real alpha, const real *A,
                              int64_t row_step, int64_t step, const real *B, int64_t ldb,
                              real beta, real *C, int64_t ldc) {
    if (rows == 4)
        tg_tiles_real(4, n, k, alpha, A, row_step, step, B, ldb, beta, C, ldc);
    else if (rows == 3)
        tg_tiles_real(3, n, k, alpha, A, row_step, step, B, ldb, beta, C, ldc);
    else if (rows == 2)
        tg_tiles_real(2, n, k, alpha, A, row_step, step, B, ldb, beta, C, ldc);
    else
        tg_tiles_real(1, n, k, alpha, A, row_step, step, B, ldb, beta, C, ldc);
}

/* The transpose (n, m) of w (m, n), rows `ldw` and `ldy` apart, by squares of 16 */
static void tg_transpose_real(real *restrict y, int64_t ldy, const real *restrict w, int64_t ldw,
                              int64_t m, int64_t n) {
    for (int64_t i = 0; i < m; i += 16) {
        for (int64_t j = 0; j < n; j += 16) {
            for (int64_t b = j; b < TG_MIN(n, j + 16); b++) {
                for (int64_t a = i; a < TG_MIN(m, i + 16); a++) y[b * ldy + a] = w[a * ldw + b];
            }
        }
    }
}

/* W (k, n), which has any steps, as panels: k rows of 64 bytes for each so many columns; n is a
   multiple of them */
static void tg_panels_real(real *restrict panels, const real *restrict W, int64_t k, int64_t n,
                           int64_t row_step, int64_t step) {
    const int64_t width = 64 / sizeof(real);
    for (int64_t j = 0; j < n; j += width)
        for (int64_t p = 0; p < k; p++)
            for (int64_t c = 0; c < width; c++)
                *panels++ = W[p * row_step + (j + c) * step];
}

/* `rows` (1 to 6) is a constant where it is called: all is in registers */
static inline __attribute__((always_inline)) void tg_panel_tile_real(
    const int rows, int64_t k, const real *A, int64_t lda, const real *panel, real beta, real *C,
    int64_t ldc) {
    const int lanes = 32 / sizeof(real);
    tg_lanes_real c[6][2];
    _Pragma("GCC unroll 6")
    for (int i = 0; i < rows; i++) c[i][0] = c[i][1] = (tg_lanes_real){0};
    for (int64_t p = 0; p < k; p++, panel += 2 * lanes) {
        tg_lanes_real b0 = *(const tg_lanes_real *)panel;
        tg_lanes_real b1 = *(const tg_lanes_real *)(panel + lanes);
        _Pragma("GCC unroll 6")
        for (int i = 0; i < rows; i++) {
            c[i][0] += A[i * lda + p] * b0;
            c[i][1] += A[i * lda + p] * b1;
        }
    }
    _Pragma("GCC unroll 6")
    for (int i = 0; i < rows; i++) {
        tg_lanes_real *first = (tg_lanes_real *)(C + i * ldc);
        tg_lanes_real *second = (tg_lanes_real *)(C + i * ldc + lanes);
        if (beta != 0) c[i][0] += beta * *first, c[i][1] += beta * *second;
        *first = c[i][0];
        *second = c[i][1];
    }
}

/* C (m, n) = A (m, k) W + beta C for the panels of W: for few rows quicker than a BLAS, which
   copies W each time; each row is computed as if it was alone */
static void tg_panel_product_real(int64_t m, int64_t n, int64_t k, const real *A, int64_t lda,
                                  const real *panels, real beta, real *C, int64_t ldc) {
    const int64_t width = 64 / sizeof(real);
    for (int64_t j = 0; j < n; j += width, panels += width * k, C += width) {
        int64_t i = 0;
        for (; i + 6 <= m; i += 6)
            tg_panel_tile_real(6, k, A + i * lda, lda, panels, beta, C + i * ldc, ldc);
        if (m - i >= 4) {
            tg_panel_tile_real(4, k, A + i * lda, lda, panels, beta, C + i * ldc, ldc);
            i += 4;
        }
        for (; i < m; i++)
            tg_panel_tile_real(1, k, A + i * lda, lda, panels, beta, C + i * ldc, ldc);
    }
}
"""
