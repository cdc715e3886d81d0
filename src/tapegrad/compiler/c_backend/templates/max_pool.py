"""Max pooling: `xp.window_maximum`, and places again: `xp.take_places`, `xp.put_places`."""

from math import prod

import numpy as np

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

SOURCE = r"""
/* The largest of eight windows side by side, all columns of which are inside; `from` is the first
   element of the first one, whose place is `here`; rows and columns `down` and `right` apart */
static inline void tg_eight_windows_real(real *restrict y, int64_t *restrict place,
                                         const real *restrict from, int64_t here, int64_t rows,
                                         int64_t columns, int64_t down, int64_t right,
                                         const int64_t stride) {
    real best[8];
    int32_t won[8];
    for (int k = 0; k < 8; k++) {
        best[k] = from[k * stride];
        won[k] = (int32_t)(here + k * stride);
    }
    for (int64_t a = 0; a < rows; a++) {
        for (int64_t b = 0; b < columns; b++) {
            const real *at = from + a * down + b * right;
            int32_t number = (int32_t)(here + a * down + b * right);
            _Pragma("omp simd")
            for (int k = 0; k < 8; k++) {
                real v = at[k * stride];
                int better = (v > best[k]) | (v != v);
                won[k] = better ? number + k * (int32_t)stride : won[k];
                best[k] = better ? v : best[k];
            }
        }
    }
    for (int k = 0; k < 8; k++) {
        y[k] = best[k];
        place[k] = won[k];
    }
}

/* The same for all windows of 2 x 2 elements side by side in images (h, w) */
static void tg_pairs_maximum_real(real *restrict y, int64_t *restrict place,
                                  const real *restrict x, int64_t images, int64_t h, int64_t w,
                                  int64_t oh, int64_t ow) {
    for (int64_t image = 0; image < images; image++, x += h * w) {
        for (int64_t i = 0; i < oh; i++, y += ow, place += ow) {
            const real *row = x + 2 * i * w, *next = row + w;
            _Pragma("omp simd")
            for (int32_t j = 0; j < (int32_t)ow; j++) {
                real best = row[2 * j], v = row[2 * j + 1];
                int32_t won = 0, better = (v > best) | (v != v);
                best = better ? v : best, won = better ? 1 : won;
                v = next[2 * j], better = (v > best) | (v != v);
                best = better ? v : best, won = better ? (int32_t)w : won;
                v = next[2 * j + 1], better = (v > best) | (v != v);
                best = better ? v : best, won = better ? (int32_t)w + 1 : won;
                y[j] = best;
                place[j] = won + (int32_t)(2 * i * w) + 2 * j;
            }
        }
    }
}

/* The largest of each window of images (h, w), and its place; of equal ones the first, nan wins and
   the last one counts. A window has kh x kw elements, sh, sw apart from the next, dh, dw between
   elements, the first one begins ph, pw before the image */
static void tg_window_maximum_real(real *restrict y, int64_t *restrict place,
                                   const real *restrict x, int64_t images, int64_t h, int64_t w,
                                   int64_t oh, int64_t ow, int64_t kh, int64_t kw, int64_t sh,
                                   int64_t sw, int64_t ph, int64_t pw, int64_t dh, int64_t dw) {
    if (kh == 2 && kw == 2 && sh == 2 && sw == 2 && dh == 1 && dw == 1 && !ph && !pw &&
        2 * oh <= h && 2 * ow <= w) {
        tg_pairs_maximum_real(y, place, x, images, h, w, oh, ow);
        return;
    }
    int64_t low = TG_MIN((pw + sw - 1) / sw, ow), room = w - 1 + pw - (kw - 1) * dw;
    int64_t high = room < 0 ? 0 : TG_MIN(room / sw + 1, ow); /* low to high: inside */
    int64_t tiles = high - low >= 8 ? (high - low + 7) / 8 : 0;
    for (int64_t image = 0; image < images; image++, x += h * w) {
        for (int64_t i = 0; i < oh; i++, y += ow, place += ow) {
            int64_t top = i * sh - ph, skipped = top < 0 ? (dh - 1 - top) / dh : 0, rows = kh;
            while (rows > 0 && top + (rows - 1) * dh >= h) rows--;
            top += skipped * dh;
            rows -= skipped;
            for (int64_t tile = 0; tile < tiles; tile++) { /* the last may overlap */
                int64_t j = TG_MIN(low + tile * 8, high - 8), here = top * w + j * sw - pw;
                if (sw == 1)
                    tg_eight_windows_real(y + j, place + j, x + here, here, rows, kw, dh * w, dw,
                                          1);
                else if (sw == 2)
                    tg_eight_windows_real(y + j, place + j, x + here, here, rows, kw, dh * w, dw,
                                          2);
                else
                    tg_eight_windows_real(y + j, place + j, x + here, here, rows, kw, dh * w, dw,
                                          sw);
            }
            for (int64_t j = 0; j < ow; j++) {
                if (tiles && j == low) j = high;
                if (j >= ow) break;
                int64_t left = j * sw - pw, outside = left < 0 ? (dw - 1 - left) / dw : 0;
                int64_t won = top * w + left + outside * dw;
                real best = x[won];
                for (int64_t a = 0; a < rows; a++) {
                    for (int64_t b = outside; b < kw && left + b * dw < w; b++) {
                        int64_t number = (top + a * dh) * w + left + b * dw;
                        real v = x[number];
                        int better = (v > best) | (v != v);
                        won = better ? number : won;
                        best = better ? v : best;
                    }
                }
                y[j] = best;
                place[j] = won;
            }
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
SOURCE += shared(SOURCE, "tg_window_maximum", "images", y="oh * ow", place="oh * ow", x="h * w")
SOURCE += shared(SOURCE, "tg_take_places", "images", y="m", x="n", place="m")
SOURCE += shared(SOURCE, "tg_put_places", "images", y="n", x="m", place="m")


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
    work = images * prod(pairs[:4])
    return at.call(f"tg_window_maximum_{t}", [x, images, h, w, *pairs], work=work)


@template("xp.take_places")
def take_places(at: Instance) -> Call:
    x, index, n_axes = at.args
    at.index(index)
    shape, places = at.shape(x), at.shape(index)
    lead = len(shape) - n_axes
    require(shape[:lead] == places[: len(places) - n_axes])
    sizes = [prod(shape[:lead]), prod(shape[lead:]), prod(places[len(places) - n_axes :])]
    work = prod(places)
    return at.call(f"tg_take_places_{at.real(x)}", [x, index, *sizes], status=True, work=work)


@template("xp.put_places")
def put_places(at: Instance) -> Call:
    x, index, sizes, add = at.args
    at.index(index)
    shape = at.shape(x)
    require(at.shape(index) == shape)
    lead = len(shape) - len(sizes)
    numbers = [prod(shape[:lead]), prod(sizes), prod(shape[lead:])]
    arguments, work = [x, index, *numbers, int(add)], numbers[0] * numbers[1]
    return at.call(f"tg_put_places_{at.real(x)}", arguments, status=True, work=work)
