"""An index for each element along an axis: `xp.gather_along`, `xp.scatter_along`, ..."""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

UNTYPED = r"""
/* Whether any of `count` indices is no place in an axis of n, counted from its start or end */
static int tg_is_outside(const int64_t *restrict index, int64_t count, int64_t n) {
    int64_t outside = 0;
    _Pragma("omp simd reduction(| : outside)")
    for (int64_t i = 0; i < count; i++) outside |= (index[i] + n) | (n - 1 - index[i]);
    return outside < 0;
}
"""

SOURCE = r"""
/* y[o, i, k] = x[o, index[o, i, k], k]; a negative index counts from the end */
static int tg_gather_real(real *restrict y, const real *restrict x, const int64_t *restrict index,
                          int64_t outer, int64_t n, int64_t m, int64_t inner) {
    if (tg_is_outside(index, outer * m * inner, n)) return 1;
    if (inner == 1) {
        for (int64_t o = 0; o < outer; o++, x += n, index += m, y += m) {
            for (int64_t i = 0; i < m; i++) y[i] = x[index[i] + (n & (index[i] >> 63))];
        }
        return 0;
    }
    for (int64_t o = 0; o < outer; o++, x += n * inner) {
        for (int64_t i = 0; i < m; i++, index += inner, y += inner) {
            for (int64_t k = 0; k < inner; k++)
                y[k] = x[(index[k] + (n & (index[k] >> 63))) * inner + k];
        }
    }
    return 0;
}

/* y[o, index[o, i, k], k] = g[o, i, k], or added to it; g_step 0: g is one number */
static int tg_scatter_into_real(real *restrict y, const real *restrict g,
                                const int64_t *restrict index, int64_t outer, int64_t n,
                                int64_t m, int64_t inner, int64_t add, int64_t g_step) {
    if (tg_is_outside(index, outer * m * inner, n)) return 1;
    for (int64_t o = 0; o < outer; o++, y += n * inner) {
        for (int64_t i = 0; i < m; i++, index += inner) {
            if (add) {
                for (int64_t k = 0; k < inner; k++, g += g_step)
                    y[(index[k] + (n & (index[k] >> 63))) * inner + k] += *g;
            } else {
                for (int64_t k = 0; k < inner; k++, g += g_step)
                    y[(index[k] + (n & (index[k] >> 63))) * inner + k] = *g;
            }
        }
    }
    return 0;
}
static int tg_scatter_real(real *restrict y, const real *restrict x, const real *restrict g,
                           const int64_t *restrict index, int64_t outer, int64_t n, int64_t m,
                           int64_t inner, int64_t add, int64_t g_step) {
    memcpy(y, x, outer * n * inner * sizeof(real));
    return tg_scatter_into_real(y, g, index, outer, n, m, inner, add, g_step);
}
static int tg_scatter_zeros_real(real *restrict y, const real *restrict g,
                                 const int64_t *restrict index, int64_t outer, int64_t n,
                                 int64_t m, int64_t inner, int64_t add, int64_t g_step) {
    memset(y, 0, outer * n * inner * sizeof(real));
    return tg_scatter_into_real(y, g, index, outer, n, m, inner, add, g_step);
}

/* x with rows added at an index, or written there */
static int tg_write_rows_real(real *restrict y, const real *restrict x, const real *restrict g,
                              const int64_t *restrict index, int64_t outer, int64_t rows,
                              int64_t picked, int64_t n, int64_t add) {
    memcpy(y, x, outer * rows * n * sizeof(real));
    if (add) return tg_add_rows_real(y, g, index, outer, rows, picked, n);
    for (int64_t o = 0; o < outer; o++, y += rows * n, g += picked * n) {
        for (int64_t i = 0; i < picked; i++) {
            int64_t p = index[i] + (index[i] < 0 ? rows : 0);
            if (p < 0 || p >= rows) return 1;
            memcpy(y + p * n, g + i * n, n * sizeof(real));
        }
    }
    return 0;
}
"""
SOURCE += shared(SOURCE, "tg_gather", "outer", y="m * inner", x="n * inner", index="m * inner")
SOURCE += shared(
    SOURCE, "tg_scatter", "outer", y="n * inner", x="n * inner", g="m * inner * g_step",
    index="m * inner",
)  # fmt: skip
SOURCE += shared(
    SOURCE, "tg_scatter_zeros", "outer", y="n * inner", g="m * inner * g_step", index="m * inner"
)


def _sizes(at: Instance, shape: tuple[int, ...], index: Any, axis: int) -> list[int]:
    """Sizes before an axis, of it, of the index, and behind; all others are alike."""
    at.index(index)
    have = at.shape(index)
    require(shape and len(have) == len(shape) and type(axis) is int)
    axis %= len(shape)
    require(shape[:axis] == have[:axis] and shape[axis + 1 :] == have[axis + 1 :])
    return [prod(shape[:axis]), shape[axis], have[axis], prod(shape[axis + 1 :])]


@template("xp.gather_along")
def gather_along(at: Instance) -> Call:
    x, index, axis = at.args
    sizes = _sizes(at, at.shape(x), index, axis)
    work = prod(sizes) // sizes[1]
    return at.call(f"tg_gather_{at.real(x)}", [x, index, *sizes], status=True, work=work)


@template("xp.take_along_axis")
def take_along_axis(at: Instance) -> Call:
    x, index = at.args
    sizes = _sizes(at, at.shape(x), index, at.kwargs.get("axis", -1))
    work = prod(sizes) // sizes[1]
    return at.call(f"tg_gather_{at.real(x)}", [x, index, *sizes], status=True, work=work)


@template("xp.scatter_along")
def scatter_along(at: Instance) -> Call:
    x, index, values, axis, how = at.args
    require(how in ("write", "add"))
    t = at.real(x, values)
    sizes = _sizes(at, at.shape(x), index, axis)
    have = at.shape(values)
    require(have in ((), at.shape(index)))
    arguments = [x, values, index, *sizes, int(how == "add"), int(have != ())]
    work = prod(at.shape(x)) + prod(at.shape(index))
    return at.call(f"tg_scatter_{t}", arguments, status=True, work=work)


@template("xp.add_along")
def add_along(at: Instance) -> Call:
    g, shape, index, axis = at.args
    return _into_zeros(at, g, shape, index, axis, add=1)


@template("xp.put_along")
def put_along(at: Instance) -> Call:
    x, index, shape, axis = at.args
    return _into_zeros(at, x, shape, index, axis, add=0)


def _into_zeros(at: Instance, x: Any, shape: Any, index: Any, axis: int, add: int) -> Call:
    sizes = _sizes(at, tuple(shape), index, axis)
    require(at.shape(x) == at.shape(index))
    arguments, work = [x, index, *sizes, add, 1], prod(shape) + prod(at.shape(x))
    return at.call(f"tg_scatter_zeros_{at.real(x)}", arguments, status=True, work=work)


@template("xp.write_at")
def write_at(at: Instance) -> Call:
    x, values, index, axes, add = at.args
    t = at.real(x, values)
    at.index(index)
    require(len(axes) == 1)
    axis, shape, picked = axes[0], at.shape(x), prod(at.shape(index))
    require(at.shape(values) == (*shape[:axis], *at.shape(index), *shape[axis + 1 :]))
    sizes = [prod(shape[:axis]), shape[axis], picked, prod(shape[axis + 1 :])]
    return at.call(f"tg_write_rows_{t}", [x, values, index, *sizes, int(add)], status=True)
