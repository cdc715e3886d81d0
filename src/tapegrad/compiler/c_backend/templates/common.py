"""C that several families use: products, sums of rows and columns, the largest of a row."""

from tapegrad.compiler.c_backend.templates.shared import SHARING, shared

UNTYPED = r"""
#define TG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TG_MAX(a, b) ((a) > (b) ? (a) : (b))
"""
UNTYPED += SHARING

SOURCE = r"""
/* CBLAS: row-major order is 101, 111 a matrix as it is, 112 its transpose */
typedef void (*tg_gemm_type_real)(int, int, int, int64_t, int64_t, int64_t, real, const real *,
                                  int64_t, const real *, int64_t, real, real *, int64_t);
tg_gemm_type_real gemm_real;

/* C (m, n) = alpha A (m, k) B (k, n) + beta C; a or b: that matrix is read transposed */
static void tg_product_real(int a, int b, int64_t m, int64_t n, int64_t k, real alpha,
                            const real *A, int64_t lda, const real *B, int64_t ldb, real beta,
                            real *C, int64_t ldc) {
    if (m && n && k) {
        gemm_real(101, a ? 112 : 111, b ? 112 : 111, m, n, k, alpha, A, TG_MAX(lda, 1), B,
                  TG_MAX(ldb, 1), beta, C, TG_MAX(ldc, 1));
    } else if (beta == 0) {
        for (int64_t i = 0; i < m; i++) memset(C + i * ldc, 0, n * sizeof(real));
    }
}

/* Into how many runs of rows threads cut a product: BLAS copies its second matrix for each */
static inline int64_t tg_product_parts_real(int64_t m, int64_t n, int64_t k, int64_t threads) {
    return TG_MIN((m * n * k) >> 21, TG_MAX(threads, TG_MIN(2 * threads, m / 512)));
}
@SHARED_PRODUCT@
/* Products from number `first` on, of many: `inner` of them lie A1, B1, C1 apart, the next such A0,
   B0, C0 */
static void tg_products_real(int64_t first, int64_t count, int64_t inner, int64_t A0, int64_t A1,
                             int64_t B0, int64_t B1, int64_t C0, int64_t C1, int a, int b,
                             int64_t m, int64_t n, int64_t k, const real *A, int64_t lda,
                             const real *B, int64_t ldb, real *C, int64_t ldc) {
    for (int64_t i = first; i < first + count; i++) {
        int64_t o = i / inner, j = i % inner;
        tg_product_real(a, b, m, n, k, 1, A + o * A0 + j * A1, lda, B + o * B0 + j * B1, ldb, 0,
                        C + o * C0 + j * C1, ldc);
    }
}
@SHARED_PRODUCTS@
/* The sum of a vector: blocks of 4,096, four running sums in each, totals in double precision */
static double tg_sum_real(const real *restrict x, int64_t n) {
    double total = 0;
    for (; n > 0; x += 4096, n -= 4096) {
        int64_t size = TG_MIN(n, 4096), q = size / 4;
        real a = 0, b = 0, c = 0, d = 0;
        _Pragma("omp simd reduction(+ : a, b, c, d)")
        for (int64_t i = 0; i < q; i++) {
            a += x[i];
            b += x[q + i];
            c += x[2 * q + i];
            d += x[3 * q + i];
        }
        for (int64_t i = 4 * q; i < size; i++) a += x[i];
        total += (double)((a + b) + (c + d));
    }
    return total;
}

/* The sum of (x - shift) (y - other) */
static double tg_product_sum_real(const real *restrict x, real shift, const real *restrict y,
                                  real other, int64_t n) {
    double total = 0;
    for (; n > 0; x += 4096, y += 4096, n -= 4096) {
        int64_t size = TG_MIN(n, 4096), q = size / 4;
        real a = 0, b = 0, c = 0, d = 0;
        _Pragma("omp simd reduction(+ : a, b, c, d)")
        for (int64_t i = 0; i < q; i++) {
            a += (x[i] - shift) * (y[i] - other);
            b += (x[q + i] - shift) * (y[q + i] - other);
            c += (x[2 * q + i] - shift) * (y[2 * q + i] - other);
            d += (x[3 * q + i] - shift) * (y[3 * q + i] - other);
        }
        for (int64_t i = 4 * q; i < size; i++) a += (x[i] - shift) * (y[i] - other);
        total += (double)((a + b) + (c + d));
    }
    return total;
}

/* The largest element, by 32 lanes; nan may be lost */
static real tg_largest_real(const real *restrict x, int64_t n) {
    real lanes[32], m = -INFINITY;
    int64_t i = 0;
    if (n >= 32) {
        memcpy(lanes, x, sizeof lanes);
        for (i = 32; i + 32 <= n; i += 32) {
            _Pragma("omp simd")
            for (int k = 0; k < 32; k++) lanes[k] = x[i + k] > lanes[k] ? x[i + k] : lanes[k];
        }
        for (int k = 0; k < 32; k++) m = lanes[k] > m ? lanes[k] : m;
    }
    for (; i < n; i++) m = x[i] > m ? x[i] : m;
    return m;
}

/* Sums of up to 64 columns of rows that are `step` apart: blocks of 256 rows */
static inline void tg_sum_columns_real(real *restrict y, const real *restrict x, int64_t rows,
                                       int64_t step, int64_t width) {
    real total[64] = {0};
    for (int64_t first = 0; first < rows; first += 256) {
        int64_t last = TG_MIN(rows, first + 256);
        real part[64] = {0};
        for (int64_t i = first; i < last; i++) {
            const real *row = x + i * step;
            _Pragma("omp simd")
            for (int64_t k = 0; k < width; k++) part[k] += row[k];
        }
        for (int64_t k = 0; k < width; k++) total[k] += part[k];
    }
    memcpy(y, total, width * sizeof(real));
}

/* y (n) = the sum of rows (rows, n), `step` apart */
static void tg_sum_rows_real(real *restrict y, const real *restrict x, int64_t rows, int64_t n,
                             int64_t step) {
    int64_t j = 0;
    for (; j + 64 <= n; j += 64) tg_sum_columns_real(y + j, x + j, rows, step, 64);
    if (j < n) tg_sum_columns_real(y + j, x + j, rows, step, n - j);
}
"""
SOURCE += shared(SOURCE, "tg_sum_rows", "n", unit=64, y="1", x="1")

# A BLAS computes twelve rows as it does when there are more, but for less than a million
# multiplications may have another way: so threads leave the bits as they are
SOURCE = SOURCE.replace(
    "@SHARED_PRODUCT@",
    shared(
        SOURCE,
        "tg_product",
        "m",
        unit=12,
        rest="joined",
        products="1",
        parts="tg_product_parts_real(m, n, k, threads)",
        A="a ? 1 : lda",
        C="ldc",
    ),
).replace("@SHARED_PRODUCTS@", shared(SOURCE, "tg_products", "count", products="1", first="1"))
