"""Separable linear maps of images, `xp.resample`: averages, interpolation, and their transposes."""

from math import prod

import numpy as np

from tapegrad.arrays.numpy.interpolate import Separable, Taps, indices_of
from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

SOURCE = r"""
/* Images (h, w) through a map of rows and one of columns, which name for each element of the result
   a range of entries: from where, and times what. All is divided by `number`, or by `divisor` of
   the size of the result (how 2); how 1, 3: what is mapped is divided instead. scratch: w + h w */
static void tg_resample_real(real *restrict y, const real *restrict x,
                             const real *restrict divisor, const int64_t *restrict row_begin,
                             const int64_t *restrict row_from, const real *restrict row_weight,
                             const int64_t *restrict begin, const int64_t *restrict from,
                             const real *restrict weight, int64_t how, double number,
                             int64_t images, int64_t h, int64_t w, int64_t oh, int64_t ow,
                             real *restrict scratch) {
    real *row = scratch, *divided = scratch + w, by = (real)number;
    int is_single = 1; /* one entry for each column: what spreads out */
    for (int64_t j = 0; j <= ow; j++) is_single &= begin[j] == j;
    for (int64_t image = 0; image < images; image++, x += h * w) {
        const real *in = x;
        if (how == 1 || how == 3) {
            for (int64_t j = 0; j < h * w; j++) divided[j] = x[j] / (how == 3 ? divisor[j] : by);
            in = divided;
        }
        for (int64_t i = 0; i < oh; i++, y += ow) {
            memset(row, 0, w * sizeof(real));
            for (int64_t e = row_begin[i]; e < row_begin[i + 1]; e++) {
                const real *source = in + row_from[e] * w;
                real f = row_weight[e];
                _Pragma("omp simd")
                for (int64_t j = 0; j < w; j++) row[j] += source[j] * f;
            }
            for (int64_t j = 0; is_single && j < ow; j++) y[j] = row[from[j]] * weight[j];
            for (int64_t j = 0; !is_single && j < ow; j++) {
                real s = 0;
                for (int64_t e = begin[j]; e < begin[j + 1]; e++) s += row[from[e]] * weight[e];
                y[j] = s;
            }
            if (how == 0) {
                for (int64_t j = 0; j < ow; j++) y[j] /= by;
            } else if (how == 2) {
                for (int64_t j = 0; j < ow; j++) y[j] /= divisor[i * ow + j];
            }
        }
    }
}
"""
SOURCE += shared(SOURCE, "tg_resample", "images", y="oh * ow", x="h * w", scratch="w + h * w")


def _entries(taps: Taps, dtype: Any) -> list[np.ndarray]:
    """Where the entries of each element of the result begin, from where each is, its weight."""
    to, source, weight = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for i, run in enumerate(taps.runs or ()):
        many, one = indices_of(run), np.full(len(indices_of(run)), i)
        to.append(many if taps.spread else one)
        source.append(one if taps.spread else many)
        weight.append(np.ones(len(many)))
    for lane in taps.lanes if taps.runs is None else ():
        to.append(lane.tos)
        source.append(lane.sources)
        weight.append(np.ones(len(lane.tos)) if lane.weight is None else lane.weight)
    places = np.concatenate(to)
    order = np.argsort(places, kind="stable")
    begin = np.searchsorted(places[order], np.arange(taps.n_out + 1))
    values = np.concatenate(weight)[order].astype(dtype)
    return [begin.astype(np.int64), np.concatenate(source)[order].astype(np.int64), values]


_ONE = np.arange(2), np.zeros(1, np.int64), np.ones(1)


@template("xp.resample")
def resample(at: Instance) -> Call:
    x, through = at.args[0], at.of(at.args[1])
    require(isinstance(through, Separable) and len(through.axes) <= 2)
    t, dtype = at.real(x), at.dtype(x)
    tables = [_entries(taps, dtype) for taps in through.axes]
    sizes = [(taps.n_in, taps.n_out) for taps in through.axes]
    if len(tables) == 1:
        tables.insert(0, [each.astype(dtype if each is _ONE[2] else np.int64) for each in _ONE])
        sizes.insert(0, (1, 1))
    (h, oh), (w, ow) = sizes
    require(h * w * oh * ow and at.shape(x)[-len(through.axes) :] == (h, w)[-len(through.axes) :])
    divisor, number = np.ones(1, dtype), 1.0
    how = int(through.divide_first)
    if isinstance(through.divisor, np.ndarray):
        divisor, how = np.ascontiguousarray(through.divisor.astype(dtype)), how + 2
    elif through.divisor is not None:
        number = float(through.divisor)
    given = [at.table(each) for each in (divisor, *tables[0], *tables[1])]
    numbers = [prod(at.shape(x)) // (h * w), h, w, oh, ow]
    arguments = [x, *given, how, number, *numbers]
    scratch, work = (w + h * w) * dtype.itemsize, prod(at.shape(x)) * 2
    return at.call(f"tg_resample_{t}", arguments, part_scratch=scratch, work=work)
