"""Rows of a table: `xp.take`, `xp.spread_rows`, and `xp.read_at`, `xp.add_at` at an index."""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

SOURCE = r"""
/* y[o, i] = x[o, index[i]] for rows of n numbers; a negative index counts from the end */
static int tg_take_rows_real(real *restrict y, const real *restrict x,
                             const int64_t *restrict index, int64_t outer, int64_t rows,
                             int64_t picked, int64_t n) {
    for (int64_t i = 0; i < picked; i++)
        if (index[i] < -rows || index[i] >= rows) return 1;
    for (int64_t o = 0; o < outer; o++, x += rows * n, y += picked * n) {
        for (int64_t i = 0; i < picked; i++) {
            const real *from = x + (index[i] < 0 ? index[i] + rows : index[i]) * n;
            real *to = y + i * n;
            if (n == 1)
                *to = *from;
            else
                memcpy(to, from, n * sizeof(real));
        }
    }
    return 0;
}

/* y[i] = x[index[i]] */
static int tg_take_table_real(real *restrict y, const real *restrict x,
                              const int64_t *restrict index, int64_t rows, int64_t picked,
                              int64_t n) {
    return tg_take_rows_real(y, x, index, 1, rows, picked, n);
}

/* y[o, index[i]] += g[o, i] */
static int tg_add_rows_real(real *restrict y, const real *restrict g,
                            const int64_t *restrict index, int64_t outer, int64_t rows,
                            int64_t picked, int64_t n) {
    for (int64_t i = 0; i < picked; i++)
        if (index[i] < -rows || index[i] >= rows) return 1;
    for (int64_t o = 0; o < outer; o++, y += rows * n, g += picked * n) {
        for (int64_t i = 0; i < picked; i++) {
            real *to = y + (index[i] < 0 ? index[i] + rows : index[i]) * n;
            const real *from = g + i * n;
            _Pragma("omp simd")
            for (int64_t j = 0; j < n; j++) to[j] += from[j];
        }
    }
    return 0;
}

/* Which row of an array of d0 x d1 x d2 rows (1 where it has fewer axes) column i of an index
   (axes, picked) names; -1 is outside */
static inline int64_t tg_row_named_real(const int64_t *restrict index, int64_t picked, int64_t i,
                                        int64_t axes, int64_t d0, int64_t d1, int64_t d2) {
    const int64_t sizes[3] = {d0, d1, d2};
    int64_t row = 0;
    for (int64_t a = 0; a < axes; a++) {
        int64_t p = index[a * picked + i], n = sizes[a];
        if (p < -n || p >= n) return -1;
        row = row * n + (p < 0 ? p + n : p);
    }
    return row;
}
/* y[i] = x[index[0, i], index[1, i], ...], rows of n numbers */
static int tg_take_points_real(real *restrict y, const real *restrict x,
                               const int64_t *restrict index, int64_t picked, int64_t axes,
                               int64_t d0, int64_t d1, int64_t d2, int64_t n) {
    for (int64_t i = 0; i < picked; i++) {
        int64_t row = tg_row_named_real(index, picked, i, axes, d0, d1, d2);
        if (row < 0) return 1;
        for (int64_t j = 0; j < n; j++) y[i * n + j] = x[row * n + j];
    }
    return 0;
}
/* the reverse: zeros with g added up there */
static int tg_add_points_real(real *restrict y, const real *restrict g,
                              const int64_t *restrict index, int64_t picked, int64_t axes,
                              int64_t d0, int64_t d1, int64_t d2, int64_t n) {
    memset(y, 0, d0 * d1 * d2 * n * sizeof(real));
    for (int64_t i = 0; i < picked; i++) {
        int64_t row = tg_row_named_real(index, picked, i, axes, d0, d1, d2);
        if (row < 0) return 1;
        for (int64_t j = 0; j < n; j++) y[row * n + j] += g[i * n + j];
    }
    return 0;
}

/* zeros with rows added up where they were looked up */
static int tg_spread_rows_real(real *restrict y, const real *restrict g,
                               const int64_t *restrict index, int64_t outer, int64_t rows,
                               int64_t picked, int64_t n) {
    memset(y, 0, outer * rows * n * sizeof(real));
    return tg_add_rows_real(y, g, index, outer, rows, picked, n);
}

/* The same of the rows from number `first` on, of `all`, but for what is looked up at `padding`;
   divided by how often each is looked up where `by_frequency` */
static int tg_spread_embedding_real(real *restrict y, const real *restrict g,
                                    const int64_t *restrict index, int64_t first, int64_t rows,
                                    int64_t all, int64_t picked, int64_t n, int64_t padding,
                                    int64_t by_frequency, int64_t *restrict count) {
    memset(y, 0, rows * n * sizeof(real));
    memset(count, 0, (by_frequency ? rows : 0) * sizeof(int64_t));
    for (int64_t i = 0; i < picked; i++) {
        int64_t row = index[i] - first;
        if (index[i] < 0 || index[i] >= all) return 1;
        if (row < 0 || row >= rows || index[i] == padding) continue;
        if (by_frequency) count[row]++;
        real *to = y + row * n;
        const real *from = g + i * n;
        _Pragma("omp simd")
        for (int64_t j = 0; j < n; j++) to[j] += from[j];
    }
    for (int64_t i = 0; by_frequency && i < rows; i++) {
        for (int64_t j = 0; count[i] > 1 && j < n; j++) y[i * n + j] /= (real)count[i];
    }
    return 0;
}
"""
SOURCE += shared(SOURCE, "tg_take_table", "picked", y="n", index="1")
SOURCE += shared(
    SOURCE, "tg_spread_embedding", "rows", y="n", first="1", parts="threads",
    scratch="by_frequency ? all : 1",
)  # fmt: skip


def rows_of(shape: tuple[int, ...], axis: int, picked: int) -> list[int]:
    """Sizes before an axis and of it, how many are picked, and the size behind."""
    return [prod(shape[:axis]), shape[axis], picked, prod(shape[axis + 1 :])]


def _index(at: Instance, index: Any, axes: tuple[int, ...]) -> int:
    at.index(index)
    require(len(axes) == 1)
    return prod(at.shape(index))


def _points(at: Instance, shape: tuple, index: Any, axes: tuple[int, ...]) -> list[int]:
    """How many points an index of the first two or three axes names, those, and what is behind."""
    at.index(index)
    k = len(axes)
    require(axes == tuple(range(k)) and k <= 3 and at.shape(index)[0] == k)
    return [prod(at.shape(index)[1:]), k, *shape[:k], *[1] * (3 - k), prod(shape[k:])]


@template("xp.take")
def take(at: Instance) -> Call:
    x, index = at.args[:2]
    axis = at.argument(2, "axis")
    require(len(at.args) <= 3 and not at.kwargs.keys() - {"axis"})
    require(type(axis) is int and at.shape(x) and -len(at.shape(x)) <= axis < len(at.shape(x)))
    axis %= len(at.shape(x))
    return _take(at, x, index, rows_of(at.shape(x), axis, _index(at, index, (0,))))


@template("xp.read_at")
def read_at(at: Instance) -> Call:
    x, index, axes = at.args
    if len(axes) > 1:
        numbers = _points(at, at.shape(x), index, axes)
        return at.call(f"tg_take_points_{at.real(x)}", [x, index, *numbers], status=True)
    return _take(at, x, index, rows_of(at.shape(x), axes[0], _index(at, index, axes)))


def _take(at: Instance, x: Any, index: Any, sizes: list[int]) -> Call:
    outer, _, picked, n = sizes
    if outer != 1:
        return at.call(f"tg_take_rows_{at.real(x)}", [x, index, *sizes], status=True)
    arguments = [x, index, *sizes[1:]]
    return at.call(f"tg_take_table_{at.real(x)}", arguments, status=True, work=picked * n)


@template("xp.add_at")
def add_at(at: Instance) -> Call:
    g, shape, index, axes = at.args
    if len(axes) > 1:
        numbers = _points(at, shape, index, axes)
        require(prod(at.shape(g)) == numbers[0] * numbers[-1])
        return at.call(f"tg_add_points_{at.real(g)}", [g, index, *numbers], status=True)
    picked = _index(at, index, axes)
    axis = axes[0]
    whole = (*shape[:axis], *at.shape(index), *shape[axis + 1 :])
    require(at.shape(g) == whole)
    numbers = rows_of(shape, axis, picked)
    return at.call(f"tg_spread_rows_{at.real(g)}", [g, index, *numbers], status=True)


@template("xp.spread_rows")
def spread_rows(at: Instance) -> Call:
    g, index, n, padding, by_frequency = at.args
    picked = _index(at, index, (0,))
    width = at.shape(g)[-1]
    require(prod(at.shape(g)) == picked * width)
    arguments = [g, index, 0, n, n, picked, width, padding, int(by_frequency)]
    return at.call(
        f"tg_spread_embedding_{at.real(g)}",
        arguments,
        part_scratch=8 * (n if by_frequency else 1),
        status=True,
        work=picked * width + n * width // 4,
    )
