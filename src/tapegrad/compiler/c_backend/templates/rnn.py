"""Recurrent layers with tanh or relu over whole sequences: `xp.rnn` and `xp.rnn_back`."""

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.sequences import sizes_of, variants

SOURCE = r"""
/* h = tanh (or relu) of w_ih x + b_ih + b_hh + w_hh h before it, of x (T, B, F), and a copy of all;
   scratch: H H for w_hh^T */
static void tg_rnn_real(real *restrict output, real *restrict copy, const real *restrict x,
                        const real *restrict h0, const real *restrict w_ih,
                        const real *restrict w_hh, const real *restrict b_ih,
                        const real *restrict b_hh, int64_t biases, int64_t relu, int64_t T,
                        int64_t B, int64_t F, int64_t H, int64_t reverse, real *restrict w) {
    tg_transpose_real(w, H, w_hh, H, H, H);
    tg_product_real(0, 1, T * B, H, F, 1, x, F, w_ih, F, 0, output, H);
    const real *h = h0;
    for (int64_t step = 0; step < T; step++) {
        real *O = output + (reverse ? T - 1 - step : step) * B * H;
        tg_product_real(0, 0, B, H, H, 1, h, H, w, H, 1, O, H);
        for (int64_t b = 0; b < B; b++) {
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
    memcpy(copy, output, T * B * H * sizeof(real));
}

/* scratch: T B H for what the arguments of tanh or relu change by */
static void tg_rnn_back_real(real *restrict gx, real *restrict dh, real *restrict gw_ih,
                             real *restrict gw_hh, real *restrict gb_ih, real *restrict gb_hh,
                             const real *restrict g, const real *restrict x,
                             const real *restrict h0, const real *restrict w_ih,
                             const real *restrict w_hh, const real *restrict states, int64_t relu,
                             int64_t T, int64_t B, int64_t F, int64_t H, int64_t reverse,
                             real *restrict d) {
    memset(dh, 0, B * H * sizeof(real));
    for (int64_t step = T - 1; step >= 0; step--) {
        int64_t t = reverse ? T - 1 - step : step, from = t * B * H;
        const real *s = states + from, *arriving = g + from;
        real *change = d + from;
        _Pragma("omp simd")
        for (int64_t j = 0; j < B * H; j++) {
            real slope = relu ? (s[j] > 0 ? (real)1 : (real)0) : 1 - s[j] * s[j];
            change[j] = slope * (dh[j] + arriving[j]);
        }
        tg_product_real(0, 0, B, H, H, 1, change, H, w_hh, H, 0, dh, H);
    }
    if (gx) tg_product_real(0, 0, T * B, F, H, 1, d, H, w_ih, F, 0, gx, F);
    tg_product_real(1, 0, H, F, T * B, 1, d, H, x, F, 0, gw_ih, F);
    /* the states before each time are those one time earlier, and h0 */
    int64_t first = reverse ? (T - 1) * B * H : 0, rest = (T - 1) * B;
    tg_product_real(1, 0, H, H, B, 1, d + first, H, h0, H, 0, gw_hh, H);
    if (rest)
        tg_product_real(1, 0, H, H, rest, 1, d + (reverse ? 0 : B * H), H,
                        states + (reverse ? B * H : 0), H, 1, gw_hh, H);
    if (gb_ih) {
        tg_sum_rows_real(gb_ih, d, T * B, H, H);
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
    return at.call(f"tg_rnn_{t}", arguments, scratch=numbers[-1] ** 2 * at.dtype(x).itemsize)


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
    return at.call(name, arguments, scratch=scratch)
