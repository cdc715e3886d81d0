"""A tile of a product of matrices, whose sums are in registers, and panels, copies it reads.

All that multiplies matrices without a BLAS is made of it. Each sum goes over the same products in
the same order whatever tile it is in: the bits of a row do not depend on the rows beside it.
"""

ROWS = (8, 6, 4, 3, 2, 1)
"""Of a tile: sums of eight rows, by two vectors, fill the registers of AVX-512."""

UNTYPED = r"""
/* Rows of a tile at most: with 16 registers, six */
#define TG_ROWS (TG_WIDE == 64 ? 8 : 6)
/* Rows that are multiplied at once where columns are few */
#define TG_FEW (TG_WIDE == 64 ? 8 : 4)
#define TG_SIZE_f32 4
#define TG_SIZE_f64 8
#define TG_INTEGER_f32 int32_t
#define TG_INTEGER_f64 int64_t
"""

_TILE = """
/* C (rows, vectors) = alpha A B + beta C, sums over k: rows of A are `row` apart, its columns
   `step`; rows and vectors are constants where it is called */
static inline __attribute__((always_inline)) void NAME_real(
    const int rows, const int vectors, int64_t k, real alpha, const real *A, int64_t row,
    int64_t step, const real *B, int64_t ldb, real beta, real *C, int64_t ldc) {
    const int lanes = sizeof(VECTOR_real) / sizeof(real);
    real scales[2] = {alpha, beta};
    if (TG_ROWS < 8) __asm__("" : "+m"(scales)); /* in no register, which the sums need */
@ZEROS@
    for (int64_t p = 0; p < k; p++, A += step, B += ldb) {
        VECTOR_real b0 = *(const VECTOR_real *)B, b1 = b0;
        if (vectors > 1) b1 = *(const VECTOR_real *)(B + lanes);
        if (TG_ROWS < 8) __asm__("" ::: "memory"); /* else GCC loads b0 and b1 for each row */
@SUMS@
    }
    alpha = scales[0], beta = scales[1];
@GIVES@
}
"""


def tile(name: str, vector: str) -> str:
    """The C of a tile of vectors of some type."""

    def each(text: str) -> str:
        return "\n".join(text.format(i=i) for i in range(ROWS[0]))

    zeros = "    VECTOR_real x{i} = {{0}}, y{i} = {{0}};"
    sums = (
        "        if (rows > {i}) x{i} += A[{i} * row] * b0;\n"
        "        if (rows > {i} && vectors > 1) y{i} += A[{i} * row] * b1;"
    )
    gives = (
        "    if (rows > {i}) TG_GIVE(x{i}, C + {i} * ldc);\n"
        "    if (rows > {i} && vectors > 1) TG_GIVE(y{i}, C + {i} * ldc + lanes);"
    )
    give = (
        "    #define TG_GIVE(sum, to) *(VECTOR_real *)(to) = \\\n"
        "        beta == 0 ? alpha * sum : alpha * sum + beta * *(VECTOR_real *)(to)\n"
    )
    text = _TILE.replace("@ZEROS@", each(zeros)).replace("@SUMS@", each(sums))
    text = text.replace("@GIVES@", give + each(gives) + "\n    #undef TG_GIVE")
    return text.replace("NAME", name).replace("VECTOR", vector)


def _rows(vectors: int) -> str:
    """The C that chooses a tile of so many rows and vectors."""
    rest = f"{vectors}, k, alpha, A, row, step, B, ldb, beta, C, ldc"
    choices = " else ".join(
        f"if ({f'TG_ROWS >= {n} && ' * (n > 6)}rows == {n}) {{\n"
        f"        tg_tile_real({n}, {rest});\n    }}"
        for n in ROWS
    )
    return f"""\
static TILES void tg_rows_{vectors}_real(
    int64_t rows, int64_t k, real alpha, const real *A, int64_t row, int64_t step, const real *B,
    int64_t ldb, real beta, real *C, int64_t ldc) {{
    {choices}
}}"""


def _zipped(lanes: int) -> str:
    """The C that has vectors `first` and `second` take turns, in a low and a high half."""
    order = [x for i in range(lanes) for x in (i, lanes + i)]
    low, high = (", ".join(map(str, half)) for half in (order[:lanes], order[lanes:]))
    return f"""\
    #if TG_WIDE / TG_SIZE_real == {lanes}
    *low = TG_MIX(first, second, {low});
    *high = TG_MIX(first, second, {high});
    #endif"""


_NEXT = "\n".join(
    f"    if ({f'TG_ROWS >= {n} && ' * (n > 6)}rows >= {n}) return {n};" for n in ROWS[:-1]
)

SOURCE = f"""
/* A vector, anywhere in memory: a type of GCC and Clang, for any processor */
typedef real tg_wide_real __attribute__((vector_size(TG_WIDE), aligned(sizeof(real)), may_alias));

typedef TG_INTEGER_real tg_order_real __attribute__((vector_size(TG_WIDE)));
{tile("tg_tile", "tg_wide")}

/* Rows of the next tile, of so many that are left */
static inline int64_t tg_next_rows_real(int64_t rows) {{
{_NEXT}
    return rows;
}}
{_rows(1)}
{_rows(2)}

static inline void tg_zip_real(tg_wide_real first, tg_wide_real second, tg_wide_real *low,
                               tg_wide_real *high) {{
    #ifdef __clang__
    #define TG_MIX(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
    #else
    #define TG_MIX(x, y, ...) __builtin_shuffle(x, y, (tg_order_real){{__VA_ARGS__}})
    #endif
{chr(10).join(map(_zipped, (16, 8, 4, 2)))}
    #undef TG_MIX
}}

/* The transpose of a square of a vector each way: as often as it takes, vectors are zipped with
   those half of them further */
static void tg_turn_real(real *restrict to, int64_t next, const real *restrict from, int64_t ld) {{
    const int lanes = TG_WIDE / sizeof(real);
    tg_wide_real x[16], y[16];
    _Pragma("GCC unroll 16")
    for (int i = 0; i < lanes; i++) x[i] = *(const tg_wide_real *)(from + i * ld);
    _Pragma("GCC unroll 4")
    for (int n = 1; n < lanes; n *= 2) {{
        _Pragma("GCC unroll 16")
        for (int i = 0; i < lanes / 2; i++)
            tg_zip_real(x[i], x[i + lanes / 2], y + 2 * i, y + 2 * i + 1);
        _Pragma("GCC unroll 16")
        for (int i = 0; i < lanes; i++) x[i] = y[i];
    }}
    _Pragma("GCC unroll 16")
    for (int i = 0; i < lanes; i++) *(tg_wide_real *)(to + i * next) = x[i];
}}

/* A panel: k rows of one or two vectors, the columns of B (k, n), or of its transpose, and zeros */
static void tg_panel_real(real *restrict to, int b, const real *restrict B, int64_t ldb, int64_t k,
                          int64_t n, int64_t vectors) {{
    const int64_t lanes = TG_WIDE / sizeof(real), width = vectors * lanes;
    if (n < width) memset(to, 0, k * width * sizeof(real));
    if (!b) {{
        if (n == 2 * lanes) {{
            for (int64_t p = 0; p < k; p++, to += width, B += ldb) {{
                tg_wide_real first = *(const tg_wide_real *)B;
                *(tg_wide_real *)(to + lanes) = *(const tg_wide_real *)(B + lanes);
                *(tg_wide_real *)to = first;
            }}
        }} else {{
            for (int64_t p = 0; p < k; p++) memcpy(to + p * width, B + p * ldb, n * sizeof(real));
        }}
        return;
    }}
    const int64_t columns = n / lanes * lanes, rows = k / lanes * lanes;
    for (int64_t p = 0; p < rows; p += lanes)
        for (int64_t j = 0; j < columns; j += lanes)
            tg_turn_real(to + p * width + j, width, B + j * ldb + p, ldb);
    for (int64_t j = 0; j < n; j++) /* what is no square of whole vectors */
        for (int64_t p = j < columns ? rows : 0; p < k; p++) to[p * width + j] = B[j * ldb + p];
}}
"""
