"""GRU over whole sequences: `xp.gru` and `xp.gru_back`."""

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.sequences import (
    sizes_of,
    variants,
    without_threads,
    work_of,
)
from tapegrad.compiler.c_backend.templates.shared import shared

SOURCE = r"""
/* The steps of `rows` of B sequences; `gates` are the products of x yet; inner: 3 H a row */
static void tg_gru_steps_real(real *restrict output, real *restrict before, real *restrict gates,
                              real *restrict inner, const real *restrict h0,
                              const real *restrict w, const real *restrict b_ih,
                              const real *restrict b_hh, int64_t biases, int64_t T, int64_t rows,
                              int64_t B, int64_t H, int64_t reverse) {
    const real *h = h0;
    for (int64_t step = 0; step < T; step++) {
        int64_t t = reverse ? T - 1 - step : step;
        real *O = output + t * B * H;
        memcpy(before + t * B * H, h, rows * H * sizeof(real));
        tg_product_real(0, 0, rows, 3 * H, H, 1, h, H, w, 3 * H, 0, inner, 3 * H);
        for (int64_t b = 0; b < rows; b++) {
            real *zn = gates + (t * B + b) * 4 * H, *zr = zn + H, *zz = zr + H, *za = zz + H;
            const real *ar = inner + b * 3 * H, *az = ar + H, *an = az + H, *old = h + b * H;
            const real *ir = b_ih, *iz = ir + H, *in = iz + H;
            const real *hr = b_hh, *hz = hr + H, *hn = hz + H;
            real *out = O + b * H;
            if (biases) {
                _Pragma("omp simd")
                for (int64_t j = 0; j < H; j++) {
                    real a = an[j] + hn[j];
                    real r = tg_sigmoid_real((zr[j] + ir[j]) + (ar[j] + hr[j]));
                    real z = tg_sigmoid_real((zz[j] + iz[j]) + (az[j] + hz[j]));
                    real n = tg_tanh_real((zn[j] + in[j]) + r * a);
                    zn[j] = n;
                    zr[j] = r;
                    zz[j] = z;
                    za[j] = a;
                    out[j] = (old[j] - n) * z + n;
                }
            } else {
                _Pragma("omp simd")
                for (int64_t j = 0; j < H; j++) {
                    real a = an[j];
                    real r = tg_sigmoid_real(zr[j] + ar[j]), z = tg_sigmoid_real(zz[j] + az[j]);
                    real n = tg_tanh_real(zn[j] + r * a);
                    zn[j] = n;
                    zr[j] = r;
                    zz[j] = z;
                    za[j] = a;
                    out[j] = (old[j] - n) * z + n;
                }
            }
        }
        h = O;
    }
}
@STEPS@
/* x (T, B, F); weights have the blocks r z n. Keeps the states before each time, and n, r, z and
   w_hn h + b_hn. `biases` is 0 where there are none. scratch: B 3 H, and 3 H H for w_hh^T */
static void tg_gru_shared_real(real *restrict output, real *restrict before, real *restrict gates,
                               const real *restrict x, const real *restrict h0,
                               const real *restrict w_ih, const real *restrict w_hh,
                               const real *restrict b_ih, const real *restrict b_hh,
                               int64_t biases, int64_t T, int64_t B, int64_t F, int64_t H,
                               int64_t reverse, real *restrict scratch, int64_t threads) {
    real *inner = scratch, *w = scratch + B * 3 * H;
    tg_transpose_real(w, 3 * H, w_hh, H, 3 * H, H);
    tg_product_shared_real(0, 1, T * B, H, F, 1, x, F, w_ih + 2 * H * F, F, 0, gates, 4 * H,
                           threads);
    tg_product_shared_real(0, 1, T * B, 2 * H, F, 1, x, F, w_ih, F, 0, gates + H, 4 * H, threads);
    tg_gru_steps_shared_real(output, before, gates, inner, h0, w, b_ih, b_hh, biases, T, B, B, H,
                             reverse, threads);
}
@ALONE@
/* The reverse of the steps of `rows` of B sequences: d is what the arguments of the gates (and
   w_hn h + b_hn) change by */
static void tg_gru_steps_back_real(real *restrict d, real *restrict dh, const real *restrict g,
                                   const real *restrict w_hh, const real *restrict before,
                                   const real *restrict gates, int64_t T, int64_t rows, int64_t B,
                                   int64_t H, int64_t reverse) {
    for (int64_t step = T - 1; step >= 0; step--) {
        int64_t t = reverse ? T - 1 - step : step;
        for (int64_t b = 0; b < rows; b++) {
            const real *zn = gates + (t * B + b) * 4 * H, *zr = zn + H, *zz = zr + H, *za = zz + H;
            const real *old = before + (t * B + b) * H, *arriving = g + (t * B + b) * H;
            real *dn = d + (t * B + b) * 4 * H, *dr = dn + H, *dz = dr + H, *da = dz + H;
            real *h = dh + b * H;
            _Pragma("omp simd")
            for (int64_t j = 0; j < H; j++) {
                real e = h[j] + arriving[j], n = zn[j], r = zr[j], z = zz[j];
                real change = e * (1 - z) * (1 - n * n);
                dn[j] = change;
                dr[j] = change * za[j] * r * (1 - r);
                dz[j] = e * (old[j] - n) * z * (1 - z);
                da[j] = change * r;
                h[j] = e * z;
            }
        }
        tg_product_real(0, 0, rows, H, 3 * H, 1, d + t * B * 4 * H + H, 4 * H, w_hh, H, 1, dh,
                        H);
    }
}
@STEPS_BACK@
/* scratch: (T B + 1) 4 H for what the arguments of the gates change by, and its sums */
static void tg_gru_back_real(real *restrict gx, real *restrict dh, real *restrict gw_ih,
                             real *restrict gw_hh, real *restrict gb_ih, real *restrict gb_hh,
                             const real *restrict g, const real *restrict x,
                             const real *restrict w_ih, const real *restrict w_hh,
                             const real *restrict before, const real *restrict gates, int64_t T,
                             int64_t B, int64_t F, int64_t H, int64_t reverse,
                             real *restrict d, int64_t threads) {
    memset(dh, 0, B * H * sizeof(real));
    tg_gru_steps_back_shared_real(d, dh, g, w_hh, before, gates, T, B, B, H, reverse, threads);
    if (gx) {
        tg_product_shared_real(0, 0, T * B, F, H, 1, d, 4 * H, w_ih + 2 * H * F, F, 0, gx, F,
                               threads);
        tg_product_shared_real(0, 0, T * B, F, 2 * H, 1, d + H, 4 * H, w_ih, F, 1, gx, F, threads);
    }
    tg_product_shared_real(1, 0, 2 * H, F, T * B, 1, d + H, 4 * H, x, F, 0, gw_ih, F, threads);
    tg_product_shared_real(1, 0, H, F, T * B, 1, d, 4 * H, x, F, 0, gw_ih + 2 * H * F, F,
                           threads);
    tg_product_shared_real(1, 0, 3 * H, H, T * B, 1, d + H, 4 * H, before, H, 0, gw_hh, H,
                           threads);
    if (gb_ih) {
        real *sums = d + T * B * 4 * H;
        tg_sum_rows_shared_real(sums, d, T * B, 4 * H, 4 * H, threads);
        memcpy(gb_ih, sums + H, 2 * H * sizeof(real));
        memcpy(gb_ih + 2 * H, sums, H * sizeof(real));
        memcpy(gb_hh, sums + H, 3 * H * sizeof(real));
    }
}
@VARIANTS@
"""

_PARAMETERS = (
    "const real *g, const real *x, const real *w_ih, const real *w_hh,\n"
    "    const real *before, const real *gates, int64_t T, int64_t B, int64_t F, int64_t H,\n"
    "    int64_t reverse, real *scratch"
)
_STEPS = shared(
    SOURCE, "tg_gru_steps", "rows", unit=12, products="1", parts="threads", output="H",
    before="H", gates="4 * H", inner="3 * H", h0="H",
)  # fmt: skip
_STEPS_BACK = shared(
    SOURCE, "tg_gru_steps_back", "rows", unit=12, products="1", parts="threads", d="4 * H",
    dh="H", g="H", before="H", gates="4 * H",
)  # fmt: skip
SOURCE = SOURCE.replace("@STEPS@", _STEPS).replace("@STEPS_BACK@", _STEPS_BACK)
SOURCE = SOURCE.replace("@ALONE@", without_threads(SOURCE, "tg_gru"))
SOURCE = SOURCE.replace("@VARIANTS@", variants("tg_gru_back", "dh", _PARAMETERS))


@template("xp.gru")
def gru(at: Instance) -> Call:
    inputs, sizes, reverse = at.args
    require(len(inputs) in (4, 6))
    t = at.real(*inputs)
    x, h0, w_ih, w_hh, *biases = inputs
    numbers = sizes_of(at, x, sizes, h0)
    _, batch, _, hidden = numbers
    arguments = [x, h0, w_ih, w_hh, *(biases or (w_ih, w_ih)), int(bool(biases)), *numbers]
    scratch = (3 * batch * hidden + 3 * hidden * hidden) * at.dtype(x).itemsize
    return at.call(
        f"tg_gru_{t}", [*arguments, int(reverse)], scratch=scratch, work=work_of(numbers)
    )


@template("xp.gru_back")
def gru_back(at: Instance) -> Call:
    inputs, g, before, gates, sizes, reverse, wants_input = at.args
    require(len(inputs) in (4, 6))
    t = at.real(*inputs, g, before, gates)
    x, h0, w_ih, w_hh, *biases = inputs
    numbers = sizes_of(at, x, sizes, h0)
    t_steps, batch, _, hidden = numbers
    name = f"tg_gru_back_{int(bool(wants_input))}{int(bool(biases))}_{t}"
    arguments = [g, x, w_ih, w_hh, before, gates, *numbers, int(reverse)]
    scratch = 4 * (t_steps * batch + 1) * hidden * at.dtype(x).itemsize
    return at.call(name, arguments, scratch=scratch, work=work_of(numbers))
