"""LSTM over whole sequences: `xp.lstm` and `xp.lstm_back`."""

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.sequences import (
    sizes_of,
    variants,
    without_threads,
    work_of,
)
from tapegrad.compiler.c_backend.templates.shared import shared

SOURCE = r"""
/* The rows that threads share at a time: four, if w (4 H, H) is kept as panels, else twelve */
static int64_t tg_lstm_unit_real(int64_t B, int64_t H) {
    int64_t few = B * H <= 16384 || TG_WIDE == 64;
    return few && H % (64 / (int64_t)sizeof(real)) == 0 ? 4 : 12;
}

/* The steps of `rows` of B sequences; `gates` are the products of x yet; w is w_hh^T, as panels
   where the unit is four */
WHOLE static void tg_lstm_steps_real(real *restrict output, real *restrict last_cell,
                               real *restrict before, real *restrict gates, real *restrict cells,
                               const real *restrict h0, const real *restrict c0,
                               const real *restrict w, const real *restrict bias, int64_t T,
                               int64_t rows, int64_t unit, int64_t B, int64_t H,
                               int64_t reverse) {
    const real *h = h0, *c = c0;
    for (int64_t step = 0; step < T; step++) {
        int64_t t = reverse ? T - 1 - step : step;
        real *z = gates + t * B * 4 * H, *C = cells + t * B * H, *O = output + t * B * H;
        memcpy(before + t * B * H, h, rows * H * sizeof(real));
        if (unit == 4)
            tg_panel_product_real(rows, 4 * H, H, h, H, w, 1, z, 4 * H);
        else
            tg_product_real(0, 0, rows, 4 * H, H, 1, h, H, w, 4 * H, 1, z, 4 * H);
        for (int64_t b = 0; b < rows; b++) {
            real *zi = z + b * 4 * H, *zf = zi + H, *zg = zf + H, *zo = zg + H;
            const real *bi = bias, *bf = bi + H, *bg = bf + H, *bo = bg + H, *old = c + b * H;
            real *cell = C + b * H, *out = O + b * H;
            _Pragma("omp simd")
            for (int64_t j = 0; j < H; j++) {
                real i = tg_sigmoid_real(zi[j] + bi[j]), f = tg_sigmoid_real(zf[j] + bf[j]);
                real g = tg_tanh_real(zg[j] + bg[j]), o = tg_sigmoid_real(zo[j] + bo[j]);
                real n = f * old[j] + i * g;
                zi[j] = i;
                zf[j] = f;
                zg[j] = g;
                zo[j] = o;
                cell[j] = n;
                out[j] = o * tg_tanh_real(n);
            }
        }
        h = O;
        c = C;
    }
    memcpy(last_cell, c, rows * H * sizeof(real));
}
@STEPS@
/* x (T, B, F); gates i f g o. Keeps the states before each time, the gates and the cells. `biases`
   is 0 where there are none. scratch: 4 H for the sum of biases, 4 H H for w_hh^T */
static void tg_lstm_shared_real(real *restrict output, real *restrict last_cell,
                                real *restrict before, real *restrict gates, real *restrict cells,
                                const real *restrict x, const real *restrict h0,
                                const real *restrict c0, const real *restrict w_ih,
                                const real *restrict w_hh, const real *restrict b_ih,
                                const real *restrict b_hh, int64_t biases, int64_t T, int64_t B,
                                int64_t F, int64_t H, int64_t reverse, real *restrict scratch,
                                int64_t threads) {
    real *bias = scratch, *w = scratch + 4 * H;
    for (int64_t j = 0; j < 4 * H; j++) bias[j] = biases ? b_ih[j] + b_hh[j] : 0;
    int64_t unit = tg_lstm_unit_real(B, H);
    if (unit == 4)
        tg_panels_real(w, 1, w_hh, H, H, 4 * H);
    else
        tg_transpose_real(w, 4 * H, w_hh, H, 4 * H, H);
    tg_product_shared_real(0, 1, T * B, 4 * H, F, 1, x, F, w_ih, F, 0, gates, 4 * H, threads);
    tg_lstm_steps_shared_real(output, last_cell, before, gates, cells, h0, c0, w, bias, T, B, unit,
                              B, H, reverse, threads);
}
@ALONE@
/* The reverse of the steps of `rows` of B sequences: d is what the arguments of the gates change
   by; w is w_hh, as panels where the unit is four */
WHOLE static void tg_lstm_steps_back_real(real *restrict d, real *restrict dh, real *restrict dc,
                                    const real *restrict g, const real *restrict c0,
                                    const real *restrict w, const real *restrict gates,
                                    const real *restrict cells, int64_t T, int64_t rows,
                                    int64_t unit, int64_t B, int64_t H, int64_t reverse) {
    for (int64_t step = T - 1; step >= 0; step--) {
        int64_t t = reverse ? T - 1 - step : step, previous = reverse ? t + 1 : t - 1;
        const real *c = step ? cells + previous * B * H : c0;
        for (int64_t b = 0; b < rows; b++) {
            const real *zi = gates + (t * B + b) * 4 * H, *zf = zi + H, *zg = zf + H, *zo = zg + H;
            const real *cell = cells + (t * B + b) * H, *old = c + b * H;
            const real *arriving = g + (t * B + b) * H;
            real *di = d + (t * B + b) * 4 * H, *df = di + H, *dg = df + H, *dO = dg + H;
            real *h = dh + b * H, *q = dc + b * H;
            _Pragma("omp simd")
            for (int64_t j = 0; j < H; j++) {
                real e = h[j] + arriving[j], s = tg_tanh_real(cell[j]);
                real change = q[j] + e * zo[j] * (1 - s * s);
                di[j] = change * zg[j] * zi[j] * (1 - zi[j]);
                df[j] = change * old[j] * zf[j] * (1 - zf[j]);
                dg[j] = change * zi[j] * (1 - zg[j] * zg[j]);
                dO[j] = e * s * zo[j] * (1 - zo[j]);
                q[j] = change * zf[j];
            }
        }
        if (unit == 4)
            tg_panel_product_real(rows, H, 4 * H, d + t * B * 4 * H, 4 * H, w, 0, dh, H);
        else
            tg_product_real(0, 0, rows, H, 4 * H, 1, d + t * B * 4 * H, 4 * H, w, H, 0, dh, H);
    }
}
@STEPS_BACK@
/* scratch: T B 4 H for what the arguments of the gates change by, 4 H H for panels of w_hh */
static void tg_lstm_back_real(real *restrict gx, real *restrict dh, real *restrict dc,
                              real *restrict gw_ih, real *restrict gw_hh, real *restrict gb_ih,
                              real *restrict gb_hh, const real *restrict g,
                              const real *restrict g_cell, const real *restrict x,
                              const real *restrict c0, const real *restrict w_ih,
                              const real *restrict w_hh, const real *restrict before,
                              const real *restrict gates, const real *restrict cells,
                              int64_t T, int64_t B, int64_t F, int64_t H, int64_t reverse,
                              real *restrict d, int64_t threads) {
    memset(dh, 0, B * H * sizeof(real));
    memcpy(dc, g_cell, B * H * sizeof(real));
    int64_t unit = tg_lstm_unit_real(B, H);
    real *panels = d + T * B * 4 * H;
    if (unit == 4) tg_panels_real(panels, 0, w_hh, H, 4 * H, H);
    tg_lstm_steps_back_shared_real(d, dh, dc, g, c0, unit == 4 ? panels : w_hh, gates, cells, T, B,
                                   unit, B, H, reverse, threads);
    if (gx)
        tg_product_shared_real(0, 0, T * B, F, 4 * H, 1, d, 4 * H, w_ih, F, 0, gx, F, threads);
    tg_product_shared_real(1, 0, 4 * H, F, T * B, 1, d, 4 * H, x, F, 0, gw_ih, F, threads);
    tg_product_shared_real(1, 0, 4 * H, H, T * B, 1, d, 4 * H, before, H, 0, gw_hh, H, threads);
    if (gb_ih) {
        tg_sum_rows_shared_real(gb_ih, d, T * B, 4 * H, 4 * H, threads);
        memcpy(gb_hh, gb_ih, 4 * H * sizeof(real));
    }
}
@VARIANTS@
"""

_PARAMETERS = (
    "const real *g, const real *g_cell, const real *x, const real *c0, const real *w_ih,\n"
    "    const real *w_hh, const real *before, const real *gates, const real *cells, int64_t T,\n"
    "    int64_t B, int64_t F, int64_t H, int64_t reverse, real *scratch"
)
_STEPS = shared(
    SOURCE, "tg_lstm_steps", "rows", unit="unit", products="1", parts="threads", output="H",
    last_cell="H", before="H", gates="4 * H", cells="H", h0="H", c0="H",
)  # fmt: skip
_STEPS_BACK = shared(
    SOURCE, "tg_lstm_steps_back", "rows", unit="unit", products="1", parts="threads", d="4 * H",
    dh="H", dc="H", g="H", c0="H", gates="4 * H", cells="H",
)  # fmt: skip
SOURCE = SOURCE.replace("@STEPS@", _STEPS).replace("@STEPS_BACK@", _STEPS_BACK)
SOURCE = SOURCE.replace("@ALONE@", without_threads(SOURCE, "tg_lstm"))
SOURCE = SOURCE.replace("@VARIANTS@", variants("tg_lstm_back", "dh dc", _PARAMETERS))


@template("xp.lstm")
def lstm(at: Instance) -> Call:
    inputs, has_bias, sizes, reverse = at.args
    require(len(inputs) % 2 == 1)  # no projection
    t = at.real(*inputs)
    x, h0, c0, w_ih, w_hh, *biases = inputs
    numbers = sizes_of(at, x, sizes, h0)
    hidden = numbers[-1]
    arguments = [x, h0, c0, w_ih, w_hh, *(biases or (w_ih, w_ih)), int(has_bias), *numbers]
    scratch = (4 * hidden + 4 * hidden * hidden) * at.dtype(x).itemsize
    return at.call(
        f"tg_lstm_{t}", [*arguments, int(reverse)], scratch=scratch, work=work_of(numbers)
    )


@template("xp.lstm_back")
def lstm_back(at: Instance) -> Call:
    inputs, g, g_cell, before, gates, cells, has_bias, sizes, reverse, wants_input = at.args
    require(len(inputs) % 2 == 1)
    t = at.real(*inputs, g, g_cell, before, gates, cells)
    x, h0, c0, w_ih, w_hh, *_ = inputs
    numbers = sizes_of(at, x, sizes, h0)
    t_steps, batch, _, hidden = numbers
    name = f"tg_lstm_back_{int(bool(wants_input))}{int(bool(has_bias))}_{t}"
    arguments = [g, g_cell, x, c0, w_ih, w_hh, before, gates, cells, *numbers, int(reverse)]
    scratch = 4 * hidden * (t_steps * batch + hidden) * at.dtype(x).itemsize
    return at.call(name, arguments, scratch=scratch, work=work_of(numbers))
