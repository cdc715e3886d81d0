"""Max pooling: `xp.window_maximum`, and places again: `xp.take_places`, `xp.put_places`."""

from math import prod

import numpy as np

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.core.annotations import Any

SOURCE = r"""
/* One element of each of a row's windows: those from low to high, `stride` apart from `from` on */
static inline void tg_larger_real(real *restrict y, int32_t *restrict won,
                                  const real *restrict from, int32_t here, int64_t low,
                                  int64_t high, const int64_t stride) {
    _Pragma("omp simd")
    for (int64_t j = low; j < high; j++) {
        real v = from[j * stride];
        int better = (v > y[j]) | (v != v);
        won[j] = better ? here + (int32_t)(j * stride) : won[j];
        y[j] = better ? v : y[j];
    }
}
static inline void tg_first_real(real *restrict y, int32_t *restrict won,
                                 const real *restrict from, int32_t here, int64_t low,
                                 int64_t high, const int64_t stride) {
    _Pragma("omp simd")
    for (int64_t j = low; j < high; j++) {
        won[j] = here + (int32_t)(j * stride);
        y[j] = from[j * stride];
    }
}

/* The largest of each window of images (h, w), and its place; of equal ones the first, nan wins and
   the last one counts. A window has kh x kw elements, sh, sw apart from the next, dh, dw between
   elements, the first one begins ph, pw before the image. scratch: 2 kw + ow numbers of 64 bits */
static void tg_window_maximum_real(real *restrict y, int64_t *restrict place,
                                   const real *restrict x, int64_t images, int64_t h, int64_t w,
                                   int64_t oh, int64_t ow, int64_t kh, int64_t kw, int64_t sh,
                                   int64_t sw, int64_t ph, int64_t pw, int64_t dh, int64_t dw,
                                   int64_t *restrict low) {
    int64_t *high = low + kw;
    int32_t *won = (int32_t *)(high + kw);
    for (int64_t b = 0; b < kw; b++) { /* columns j * sw + b * dw - pw inside 0 ... w - 1 */
        int64_t shift = b * dw - pw;
        low[b] = shift < 0 ? (sw - 1 - shift) / sw : 0;
        high[b] = w - shift <= 0 ? 0 : TG_MIN((w - 1 - shift) / sw + 1, ow);
    }
    for (int64_t image = 0; image < images; image++, x += h * w) {
        for (int64_t i = 0; i < oh; i++, y += ow, place += ow) {
            int is_first = 1;
            for (int64_t a = 0; a < kh; a++) {
                int64_t row = i * sh - ph + a * dh, b = 0;
                if (row < 0 || row >= h) continue;
                const real *from = x + row * w - pw;
                int32_t here = (int32_t)(row * w - pw);
                if (is_first) {
                    if (sw == 2)
                        tg_first_real(y, won, from, here, low[0], high[0], 2);
                    else
                        tg_first_real(y, won, from, here, low[0], high[0], sw);
                    for (int64_t j = 0; j < low[0]; j++) { /* which begin before the row */
                        y[j] = -INFINITY;
                        won[j] = here + (int32_t)(j * sw + (pw - j * sw + dw - 1) / dw * dw);
                    }
                    is_first = 0;
                    b = 1;
                }
                for (; b < kw; b++) {
                    int32_t to = here + (int32_t)(b * dw);
                    if (sw == 1)
                        tg_larger_real(y, won, from + b * dw, to, low[b], high[b], 1);
                    else if (sw == 2)
                        tg_larger_real(y, won, from + b * dw, to, low[b], high[b], 2);
                    else
                        tg_larger_real(y, won, from + b * dw, to, low[b], high[b], sw);
                }
            }
            _Pragma("omp simd")
            for (int64_t j = 0; j < ow; j++) place[j] = won[j];
        }
    }
}

/* The elements of images of n at places */
static int tg_take_places_real(real *restrict y, const real *restrict x,
                               const int64_t *restrict place, int64_t images, int64_t n,
                               int64_t m) {
    for (int64_t i = 0; i < images; i++, x += n, y += m, place += m) {
        for (int64_t j = 0; j < m; j++) {
            if (place[j] < 0 || place[j] >= n) return 1;
            y[j] = x[place[j]];
        }
    }
    return 0;
}

/* Images of n zeros, but for elements at places: added, or the last one of a place */
static int tg_put_places_real(real *restrict y, const real *restrict x,
                              const int64_t *restrict place, int64_t images, int64_t n, int64_t m,
                              int64_t add) {
    memset(y, 0, images * n * sizeof(real));
    for (int64_t i = 0; i < images; i++, x += m, y += n, place += m) {
        for (int64_t j = 0; j < m; j++) {
            if (place[j] < 0 || place[j] >= n) return 1;
            y[place[j]] = add ? y[place[j]] + x[j] : x[j];
        }
    }
    return 0;
}
"""


def _regular(window: Any) -> list[int]:
    """Number of windows, of elements in one, and stride, padding and dilation of like windows."""
    start, n = window.start, window.n_out
    require(n > 0 and len(start) == n)
    stride = int(start[1] - start[0]) if n > 1 else 1
    dilation, size = window.dilation, window.n_lanes
    require(stride > 0 and (start == start[0] + stride * np.arange(n)).all() and start[0] <= 0)
    extent = (size - 1) * dilation + 1
    # what a window has: start, start + dilation, ... below its end, which is cut at the image's
    last = window.begin + (window.counts - 1) * dilation
    whole = start + extent - 1
    inside = np.where(whole < window.n_in, whole, last)
    require((window.counts > 0).all() and (last == inside).all())
    require(((whole < window.n_in) | (last + dilation >= window.n_in)).all())
    return [n, size, stride, -int(start[0]), dilation]


@template("xp.window_maximum")
def window_maximum(at: Instance) -> Call:
    x, windows = at.args
    t = at.real(x)
    found = [_regular(at.of(each)) for each in windows]
    require(1 <= len(found) <= 2)
    if len(found) == 1:
        found.insert(0, [1, 1, 1, 0, 1])
    shape = at.shape(x)
    sizes = list(shape[-len(windows) :])
    h, w = [1] * (2 - len(sizes)) + sizes
    require(prod(shape) and h * w < 2**31)
    pairs = [each[i] for i in range(5) for each in found]
    images = prod(shape) // (h * w)
    scratch = 8 * (2 * found[1][1] + found[1][0])
    return at.call(f"tg_window_maximum_{t}", [x, images, h, w, *pairs], scratch=scratch)


@template("xp.take_places")
def take_places(at: Instance) -> Call:
    x, index, n_axes = at.args
    at.index(index)
    shape, places = at.shape(x), at.shape(index)
    lead = len(shape) - n_axes
    require(shape[:lead] == places[: len(places) - n_axes])
    sizes = [prod(shape[:lead]), prod(shape[lead:]), prod(places[len(places) - n_axes :])]
    return at.call(f"tg_take_places_{at.real(x)}", [x, index, *sizes], status=True)


@template("xp.put_places")
def put_places(at: Instance) -> Call:
    x, index, sizes, add = at.args
    at.index(index)
    shape = at.shape(x)
    require(at.shape(index) == shape)
    lead = len(shape) - len(sizes)
    numbers = [prod(shape[:lead]), prod(sizes), prod(shape[lead:])]
    return at.call(f"tg_put_places_{at.real(x)}", [x, index, *numbers, int(add)], status=True)
