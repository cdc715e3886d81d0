"""Class numbers: `xp.pick` reads one entry of the class axis, `xp.unpick` puts it back."""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared

SOURCE = r"""
/* x[i, target[i, k], k] of x (outer, n, inner) */
static int tg_pick_real(real *restrict y, const real *restrict x, const int64_t *restrict target,
                        int64_t outer, int64_t n, int64_t inner) {
    for (int64_t i = 0; i < outer; i++) {
        for (int64_t k = 0; k < inner; k++) {
            int64_t c = target[i * inner + k];
            if (c < 0 || c >= n) return 1;
            y[i * inner + k] = x[(i * n + c) * inner + k];
        }
    }
    return 0;
}

/* the reverse: zeros but for g at the picked places; g_step 0: it is one number */
static int tg_unpick_real(real *restrict y, const real *restrict g, const int64_t *restrict target,
                          int64_t outer, int64_t n, int64_t inner, int64_t g_step) {
    memset(y, 0, outer * n * inner * sizeof(real));
    for (int64_t i = 0; i < outer; i++) {
        for (int64_t k = 0; k < inner; k++) {
            int64_t c = target[i * inner + k];
            if (c < 0 || c >= n) return 1;
            y[(i * n + c) * inner + k] = g[(i * inner + k) * g_step];
        }
    }
    return 0;
}
"""
SOURCE += shared(SOURCE, "tg_pick", "outer", y="inner", x="n * inner", target="inner")
SOURCE += shared(SOURCE, "tg_unpick", "outer", y="n * inner", g="inner * g_step", target="inner")


@template("xp.pick")
def pick(at: Instance) -> Call:
    x, target = at.args
    t = at.real(x)
    at.index(target)
    shape = at.shape(x)
    require(len(shape) > 1 and prod(shape[2:]) * shape[0] == prod(at.shape(target)))
    sizes = [shape[0], shape[1], prod(shape[2:])]
    return at.call(f"tg_pick_{t}", [x, target, *sizes], status=True, work=sizes[0] * sizes[2])


@template("xp.unpick")
def unpick(at: Instance) -> Call:
    g, target, shape = at.args
    t = at.real(g)
    at.index(target)
    require(len(shape) > 1 and at.shape(g) == at.shape(target))
    sizes = [shape[0], shape[1], prod(shape[2:])]
    is_one = prod(at.shape(g)) and not any(at.strides(g))  # a mean loss has one number for all
    arguments = [at.strided(g) if is_one else g, target, *sizes, int(not is_one)]
    return at.call(f"tg_unpick_{t}", arguments, status=True, work=prod(sizes))
