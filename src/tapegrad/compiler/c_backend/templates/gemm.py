"""Products of matrices without a BLAS, by panels and tiles: `tg_gemm_real` is called as CBLAS is.

With AVX-512 it is quicker than OpenBLAS, above all where there are few rows; elsewhere it is as
quick. `blas.found` says where it takes its place.

Source: K. Goto and R. van de Geijn, "Anatomy of high-performance matrix multiplication" (2008); A
is copied only where it is transposed.
"""

UNTYPED = r"""
/* Products that are summed at once: a panel of so many rows is in the first cache */
#define TG_DEEP 256
/* Bytes of rows of A that stay in the second cache */
#define TG_TALL (9 << 15)
"""

SOURCE = r"""
/* Rows of A^T as tiles read them: TG_ROWS side by side, `next` from one tile to the one after */
static void tg_turned_rows_real(real *restrict to, const real *restrict A, int64_t lda, int64_t k,
                                int64_t m, int64_t next) {
    for (int64_t p = 0; p < k; p++, A += lda, to += TG_ROWS) {
        int64_t i = 0, at = 0;
        for (; i + TG_ROWS <= m; i += TG_ROWS, at += next)
            memcpy(to + at, A + i, TG_ROWS * sizeof(real));
        memcpy(to + at, A + i, (m - i) * sizeof(real));
    }
}

/* C (m, n) = alpha A B + beta C for a panel of k rows and at most two vectors, n columns of which
   count; rows of A are `row` apart, its columns `step`, and whole tiles `next` if that is not 0 */
static void tg_times_panel_real(int64_t m, int64_t n, int64_t k, real alpha, const real *A,
                                int64_t row, int64_t step, int64_t next, const real *panel,
                                real beta, real *C, int64_t ldc) {
    const int64_t lanes = TG_WIDE / sizeof(real), width = n > lanes ? 2 * lanes : lanes;
    for (int64_t rows; m > 0; m -= rows, C += rows * ldc) {
        real edge[TG_ROWS * 2 * TG_WIDE / sizeof(real)], *to = n < width ? edge : C;
        int64_t ld = n < width ? width : ldc;
        real scale = n < width ? 1 : alpha, rest = n < width ? 0 : beta;
        rows = tg_next_rows_real(m);
        if (width > lanes)
            tg_rows_2_real(rows, k, scale, A, row, step, panel, width, rest, to, ld);
        else
            tg_rows_1_real(rows, k, scale, A, row, step, panel, width, rest, to, ld);
        if (n < width) {
            for (int64_t i = 0; i < rows; i++) {
                for (int64_t j = 0; j < n; j++) {
                    real sum = alpha * edge[i * width + j], *at = C + i * ldc + j;
                    *at = beta == 0 ? sum : sum + beta * *at;
                }
            }
        }
        A += next && rows == TG_ROWS ? next : rows * row;
    }
}

/* As CBLAS: C (m, n) = alpha A (m, k) B (k, n) + beta C, of rows one after the other; a or b are
   112 where a matrix is read transposed */
static void tg_gemm_real(int order, int a, int b, int64_t m, int64_t n, int64_t k, real alpha,
                         const real *A, int64_t lda, const real *B, int64_t ldb, real beta,
                         real *C, int64_t ldc) {
    static __thread __attribute__((aligned(64))) real panel[TG_DEEP * 2 * TG_WIDE / sizeof(real)];
    static __thread __attribute__((aligned(64))) real tall[TG_TALL / sizeof(real)];
    const int64_t width = 2 * TG_WIDE / sizeof(real);
    int64_t deep = (k + TG_DEEP - 1) / TG_DEEP, blocks, high;
    deep = ((k + deep - 1) / deep + 15) / 16 * 16;
    int64_t next = deep * TG_ROWS + 64 / sizeof(real); /* lines of tiles lie in other sets */
    high = (TG_TALL / (int64_t)sizeof(real) / next - 1) * TG_ROWS; /* one may be begun */
    blocks = (m + high - 1) / high;
    high = ((m + blocks - 1) / blocks + TG_ROWS - 1) / TG_ROWS * TG_ROWS;
    int copies = a == 112 && n > width && lda * sizeof(real) >= 512;
    (void)order;
    for (int64_t p = 0; p < k; p += deep, beta = 1) {
        int64_t K = TG_MIN(deep, k - p);
        for (int64_t i = 0; i < m; i += high) {
            int64_t M = TG_MIN(high, m - i);
            const real *x = a == 112 ? A + p * lda + i : A + i * lda + p;
            if (copies) tg_turned_rows_real(tall, x, lda, K, M, next);
            for (int64_t j = 0; j < n; j += width) {
                int64_t N = TG_MIN(width, n - j), vectors = 2 * N > width ? 2 : 1;
                tg_panel_real(panel, b == 112, b == 112 ? B + j * ldb + p : B + p * ldb + j, ldb,
                              K, N, vectors);
                if (copies)
                    tg_times_panel_real(M, N, K, alpha, tall, 1, TG_ROWS, next, panel, beta,
                                        C + i * ldc + j, ldc);
                else
                    tg_times_panel_real(M, N, K, alpha, x, a == 112 ? 1 : lda,
                                        a == 112 ? lda : 1, 0, panel, beta, C + i * ldc + j, ldc);
            }
        }
    }
}
"""
