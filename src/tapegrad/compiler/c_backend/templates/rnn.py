"""Recurrent layers with tanh or relu over whole sequences: `xp.rnn` and `xp.rnn_back`."""

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.sequences import (
    sizes_of,
    variants,
    without_threads,
    work_of,
)
from tapegrad.compiler.c_backend.templates.shared import shared

SOURCE = r"""
/* The steps of `rows` of B sequences; `output` are the products of x yet */
static void tg_rnn_steps_real(real *restrict output, const real *restrict h0,
                              const real *restrict w, const real *restrict b_ih,
                              const real *restrict b_hh, int64_t biases, int64_t relu, int64_t T,
                              int64_t rows, int64_t B, int64_t H, int64_t reverse) {
    const real *h = h0;
    for (int64_t step = 0; step < T; step++) {
        real *O = output + (reverse ? T - 1 - step : step) * B * H;
        tg_product_real(0, 0, rows, H, H, 1, h, H, w, H, 1, O, H);
        for (int64_t b = 0; b < rows; b++) {
            real *out = O + b * H;
            if (biases) {
                _Pragma("omp simd")
                for (int64_t j = 0; j < H; j++) out[j] += b_ih[j] + b_hh[j];
            }
            if (relu) {
                _Pragma("omp simd")
                for (int64_t j = 0; j < H; j++) out[j] = out[j] < 0 ? 0 : out[j];
            } else {
                _Pragma("omp simd")
                for (int64_t j = 0; j < H; j++) out[j] = tg_tanh_real(out[j]);
            }
        }
        h = O;
    }
}
@STEPS@
/* h = tanh (or relu) of w_ih x + b_ih + b_hh + w_hh h before it, of x (T, B, F), and a copy of all;
   scratch: H H for w_hh^T */
static void tg_rnn_shared_real(real *restrict output, real *restrict copy, const real *restrict x,
                               const real *restrict h0, const real *restrict w_ih,
                               const real *restrict w_hh, const real *restrict b_ih,
                               const real *restrict b_hh, int64_t biases, int64_t relu, int64_t T,
                               int64_t B, int64_t F, int64_t H, int64_t reverse, real *restrict w,
                               int64_t threads) {
    tg_transpose_real(w, H, w_hh, H, H, H);
    tg_product_shared_real(0, 1, T * B, H, F, 1, x, F, w_ih, F, 0, output, H, threads);
    tg_rnn_steps_shared_real(output, h0, w, b_ih, b_hh, biases, relu, T, B, B, H, reverse,
                             threads);
    memcpy(copy, output, T * B * H * sizeof(real));
}
@ALONE@
/* The reverse of the steps of `rows` of B sequences: d is what the arguments of tanh or relu change
   by */
static void tg_rnn_steps_back_real(real *restrict d, real *restrict dh, const real *restrict g,
                                   const real *restrict w_hh, const real *restrict states,
                                   int64_t relu, int64_t T, int64_t rows, int64_t B, int64_t H,
                                   int64_t reverse) {
    for (int64_t step = T - 1; step >= 0; step--) {
        int64_t t = reverse ? T - 1 - step : step, from = t * B * H;
        const real *s = states + from, *arriving = g + from;
        real *change = d + from;
        _Pragma("omp simd")
        for (int64_t j = 0; j < rows * H; j++) {
            real slope = relu ? (s[j] > 0 ? (real)1 : (real)0) : 1 - s[j] * s[j];
            change[j] = slope * (dh[j] + arriving[j]);
        }
        tg_product_real(0, 0, rows, H, H, 1, change, H, w_hh, H, 0, dh, H);
    }
}
@STEPS_BACK@
/* scratch: T B H for what the arguments of tanh or relu change by */
static void tg_rnn_back_real(real *restrict gx, real *restrict dh, real *restrict gw_ih,
                             real *restrict gw_hh, real *restrict gb_ih, real *restrict gb_hh,
                             const real *restrict g, const real *restrict x,
                             const real *restrict h0, const real *restrict w_ih,
                             const real *restrict w_hh, const real *restrict states, int64_t relu,
                             int64_t T, int64_t B, int64_t F, int64_t H, int64_t reverse,
                             real *restrict d, int64_t threads) {
    memset(dh, 0, B * H * sizeof(real));
    tg_rnn_steps_back_shared_real(d, dh, g, w_hh, states, relu, T, B, B, H, reverse, threads);
    if (gx)
        tg_product_shared_real(0, 0, T * B, F, H, 1, d, H, w_ih, F, 0, gx, F, threads);
    tg_product_shared_real(1, 0, H, F, T * B, 1, d, H, x, F, 0, gw_ih, F, threads);
    /* the states before each time are those one time earlier, and h0 */
    int64_t first = reverse ? (T - 1) * B * H : 0, rest = (T - 1) * B;
    tg_product_shared_real(1, 0, H, H, B, 1, d + first, H, h0, H, 0, gw_hh, H, threads);
    if (rest)
        tg_product_shared_real(1, 0, H, H, rest, 1, d + (reverse ? 0 : B * H), H,
                               states + (reverse ? B * H : 0), H, 1, gw_hh, H, threads);
    if (gb_ih) {
        tg_sum_rows_shared_real(gb_ih, d, T * B, H, H, threads);
        memcpy(gb_hh, gb_ih, H * sizeof(real));
    }
}
@VARIANTS@
"""

_PARAMETERS = (
    "const real *g, const real *x, const real *h0, const real *w_ih,\n"
    "    const real *w_hh, const real *states, int64_t relu, int64_t T, int64_t B, int64_t F,\n"
    "    int64_t H, int64_t reverse, real *scratch"
)
_STEPS = shared(
    SOURCE, "tg_rnn_steps", "rows", unit=12, products="1", parts="threads", output="H", h0="H"
)
_STEPS_BACK = shared(
    SOURCE, "tg_rnn_steps_back", "rows", unit=12, products="1", parts="threads", d="H", dh="H",
    g="H", states="H",
)  # fmt: skip
SOURCE = SOURCE.replace("@STEPS@", _STEPS).replace("@STEPS_BACK@", _STEPS_BACK)
SOURCE = SOURCE.replace("@ALONE@", without_threads(SOURCE, "tg_rnn"))
SOURCE = SOURCE.replace("@VARIANTS@", variants("tg_rnn_back", "dh", _PARAMETERS))


@template("xp.rnn")
def rnn(at: Instance) -> Call:
    inputs, activation, sizes, reverse = at.args
    require(len(inputs) in (4, 6) and activation in ("tanh", "relu"))
    t = at.real(*inputs)
    x, h0, w_ih, w_hh, *biases = inputs
    numbers = sizes_of(at, x, sizes, h0)
    flags = [int(bool(biases)), int(activation == "relu")]
    arguments = [x, h0, w_ih, w_hh, *(biases or (w_ih, w_ih)), *flags, *numbers, int(reverse)]
    scratch = numbers[-1] ** 2 * at.dtype(x).itemsize
    return at.call(f"tg_rnn_{t}", arguments, scratch=scratch, work=work_of(numbers))


@template("xp.rnn_back")
def rnn_back(at: Instance) -> Call:
    inputs, g, states, activation, sizes, reverse, wants_input = at.args
    require(len(inputs) in (4, 6) and activation in ("tanh", "relu"))
    t = at.real(*inputs, g, states)
    x, h0, w_ih, w_hh, *biases = inputs
    numbers = sizes_of(at, x, sizes, h0)
    name = f"tg_rnn_back_{int(bool(wants_input))}{int(bool(biases))}_{t}"
    relu = int(activation == "relu")
    arguments = [g, x, h0, w_ih, w_hh, states, relu, *numbers, int(reverse)]
    t_steps, batch, _, hidden = numbers
    scratch = t_steps * batch * hidden * at.dtype(x).itemsize
    return at.call(name, arguments, scratch=scratch, work=work_of(numbers))
