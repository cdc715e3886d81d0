"""Products of matrices so small that a BLAS spends its time on copying them."""

from tapegrad.compiler.c_backend.templates.product_tile import tile

SOURCE = (
    r"""
/* 32 bytes of numbers, anywhere in memory */
typedef real tg_lanes_real __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));
"""
    + tile("tg_half_tile", "tg_lanes")
    + r"""
static inline __attribute__((always_inline)) void tg_tiles_real(
    const int rows, int64_t n, int64_t k, real alpha, const real *A, int64_t row, int64_t step,
    const real *B, int64_t ldb, real beta, real *C, int64_t ldc) {
    const int lanes = TG_WIDE / sizeof(real), half = 32 / sizeof(real);
    int64_t j = 0;
    for (; j + 2 * lanes <= n; j += 2 * lanes)
        tg_tile_real(rows, 2, k, alpha, A, row, step, B + j, ldb, beta, C + j, ldc);
    for (; j + lanes <= n; j += lanes)
        tg_tile_real(rows, 1, k, alpha, A, row, step, B + j, ldb, beta, C + j, ldc);
    for (; lanes > half && j + half <= n; j += half)
        tg_half_tile_real(rows, 1, k, alpha, A, row, step, B + j, ldb, beta, C + j, ldc);
    for (; j < n; j++) {
        for (int i = 0; i < rows; i++) {
            real sum = 0;
            for (int64_t p = 0; p < k; p++) sum += A[i * row + p * step] * B[p * ldb + j];
            C[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * C[i * ldc + j]);
        }
    }
}

/* C (rows, n) = alpha A (rows, k) B (k, n) + beta C for up to TG_FEW rows; A has any steps */
static void tg_few_rows_real(int64_t rows, int64_t n, int64_t k, real alpha, const real *A,
                             int64_t row, int64_t step, const real *B, int64_t ldb, real beta,
                             real *C, int64_t ldc) {
    if (TG_FEW == 8 && rows == 8) {
        tg_tiles_real(8, n, k, alpha, A, row, step, B, ldb, beta, C, ldc);
        return;
    }
    for (int64_t few; rows > 0; rows -= few, A += few * row, C += few * ldc) {
        few = TG_MIN(4, rows);
        if (few == 4)
            tg_tiles_real(4, n, k, alpha, A, row, step, B, ldb, beta, C, ldc);
        else if (few == 3)
            tg_tiles_real(3, n, k, alpha, A, row, step, B, ldb, beta, C, ldc);
        else if (few == 2)
            tg_tiles_real(2, n, k, alpha, A, row, step, B, ldb, beta, C, ldc);
        else
            tg_tiles_real(1, n, k, alpha, A, row, step, B, ldb, beta, C, ldc);
    }
}

/* The transpose (n, m) of w (m, n), rows `ldw` and `ldy` apart, by squares of vectors */
static void tg_transpose_real(real *restrict y, int64_t ldy, const real *restrict w, int64_t ldw,
                              int64_t m, int64_t n) {
    const int64_t lanes = TG_WIDE / sizeof(real);
    for (int64_t i = 0; i < m; i += lanes) {
        for (int64_t j = 0; j < n; j += lanes) {
            if (i + lanes <= m && j + lanes <= n) {
                tg_turn_real(y + j * ldy + i, ldy, w + i * ldw + j, ldw);
                continue;
            }
            for (int64_t b = j; b < TG_MIN(n, j + lanes); b++)
                for (int64_t a = i; a < TG_MIN(m, i + lanes); a++) y[b * ldy + a] = w[a * ldw + b];
        }
    }
}

/* W (k, n), or its transpose, as panels of two vectors; n is a multiple of one, which the last
   panel may be */
static void tg_panels_real(real *restrict panels, int w, const real *restrict W, int64_t ldw,
                           int64_t k, int64_t n) {
    const int64_t lanes = TG_WIDE / sizeof(real);
    for (int64_t j = 0, width; j < n; j += width, panels += width * k) {
        width = TG_MIN(2 * lanes, n - j);
        tg_panel_real(panels, w, w ? W + j * ldw : W + j, ldw, k, width, width / lanes);
    }
}

/* C (m, n) = A (m, k) W + beta C for the panels of W: for few rows quicker than a BLAS, which
   copies W each time */
static void tg_panel_product_real(int64_t m, int64_t n, int64_t k, const real *A, int64_t lda,
                                  const real *panels, real beta, real *C, int64_t ldc) {
    const int64_t lanes = TG_WIDE / sizeof(real);
    for (int64_t j = 0, width; j < n; j += width, panels += width * k) {
        width = TG_MIN(2 * lanes, n - j);
        tg_times_panel_real(m, width, k, 1, A, lda, 1, 0, panels, beta, C + j, ldc);
    }
}
"""
)
