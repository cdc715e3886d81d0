"""Attention: `xp.attend` and `xp.attend_back`, head by head, some queries at a time."""

from math import prod

import numpy as np

from tapegrad.compiler.c_backend.templates.call import Call, Instance, Strided, require, template
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

_FEW_KEYS = 256  # up to so many a head is small
_SCORES = 1 << 15  # scores that are held at once: they stay in the second cache

SOURCE = r"""
/* Adds a mask (rows of `step`, elements of `item`) to scores: 1 is of bool, 2 of numbers */
static void tg_mask_scores_real(real *restrict s, int64_t rows, int64_t keys, const void *mask,
                                int64_t kind, int64_t step, int64_t item) {
    for (int64_t i = 0; i < rows; i++) {
        real *row = s + i * keys;
        if (kind == 1) {
            const uint8_t *m = (const uint8_t *)mask + i * step;
            for (int64_t j = 0; j < keys; j++) row[j] = m[j * item] ? row[j] : -INFINITY;
        } else {
            const real *m = (const real *)mask + i * step;
            for (int64_t j = 0; j < keys; j++) row[j] += m[j * item];
        }
    }
}

/* Softmax of a row in place, zeros from `seen` to `n`; returns log(sum(exp(x))), infinity where
   there is nothing */
static real tg_softmax_row_real(real *restrict row, int64_t seen, int64_t n) {
    real top = tg_largest_real(row, seen);
    top = top == -INFINITY ? 0 : top;
    double sum = 0;
    for (int64_t first = 0; first < seen; first += 4096) {
        int64_t last = TG_MIN(seen, first + 4096);
        real part = 0;
        _Pragma("omp simd reduction(+ : part)")
        for (int64_t j = first; j < last; j++) {
            row[j] = tg_exp_down_real(row[j] - top);
            part += row[j];
        }
        sum += part;
    }
    real r = sum == 0 ? 0 : (real)(1 / sum);
    _Pragma("omp simd")
    for (int64_t j = 0; j < seen; j++) row[j] *= r;
    for (int64_t j = seen; j < n; j++) row[j] = 0;
    return sum == 0 ? INFINITY : top + tg_log_real((real)sum);
}

/* One small head of `tg_attend_real`, TG_FEW queries at a time; scratch: (E + 8) ld, ld is S
   rounded up to whole vectors */
static void tg_attend_small_real(real *restrict y, real *restrict total, const real *q,
                                 const real *k, const real *v, const void *mask, int64_t kind,
                                 int64_t L, int64_t S, int64_t E, int64_t D, int64_t ql,
                                 int64_t kl, int64_t vl, int64_t ml, int64_t ms, int64_t causal,
                                 real scale, real *restrict scratch) {
    int64_t ld = (S + 15) / 16 * 16, item = kind == 1 ? 1 : (int64_t)sizeof(real);
    real *turned = scratch, *s = scratch + E * ld;
    if (ld > S)
        for (int64_t e = 0; e < E; e++) memset(turned + e * ld + S, 0, (ld - S) * sizeof(real));
    tg_transpose_real(turned, ld, k, kl, S, E);
    for (int64_t first = 0; first < L; first += TG_FEW) {
        int64_t rows = TG_MIN(TG_FEW, L - first), keys = causal ? TG_MIN(S, first + rows) : S;
        tg_few_rows_real(rows, (keys + 15) / 16 * 16, E, scale, q + first * ql, ql, 1, turned, ld,
                          0, s, ld);
        for (int64_t i = 0; i < rows; i++) {
            int64_t seen = causal ? TG_MIN(keys, first + i + 1) : keys;
            const char *m = (const char *)mask + (first + i) * ml * item;
            if (kind) tg_mask_scores_real(s + i * ld, 1, seen, m, kind, ml, ms);
            /* to whole vectors: what is beyond counts nothing */
            int64_t whole = (seen + 7) / 8 * 8;
            for (int64_t j = seen; j < whole; j++) s[i * ld + j] = -INFINITY;
            total[first + i] = tg_softmax_row_real(s + i * ld, whole, keys);
        }
        tg_few_rows_real(rows, D, keys, 1, s, ld, 1, v, vl, 0, y + first * D, D);
    }
}

/* One small head of `tg_attend_back_real`; scratch: (2 L + E + D) ld */
static void tg_attend_small_back_real(real *restrict gq, real *restrict gk, real *restrict gv,
                                      const real *g, const real *q, const real *k, const real *v,
                                      const real *restrict y, const real *restrict total,
                                      const void *mask, int64_t kind, int64_t L, int64_t S,
                                      int64_t E, int64_t D, int64_t gl, int64_t ql, int64_t kl,
                                      int64_t vl, int64_t ml, int64_t ms, int64_t causal,
                                      real scale, real *restrict scratch) {
    int64_t ld = (S + 15) / 16 * 16, item = kind == 1 ? 1 : (int64_t)sizeof(real);
    real *s = scratch, *c = s + L * ld, *k_turned = c + L * ld, *v_turned = k_turned + E * ld;
    memset(k_turned, 0, (E + D) * ld * sizeof(real));
    tg_transpose_real(k_turned, ld, k, kl, S, E);
    tg_transpose_real(v_turned, ld, v, vl, S, D);
    for (int64_t first = 0; first < L; first += TG_FEW) {
        int64_t rows = TG_MIN(TG_FEW, L - first), keys = causal ? TG_MIN(S, first + rows) : S;
        int64_t wide = (keys + 15) / 16 * 16;
        tg_few_rows_real(rows, wide, E, scale, q + first * ql, ql, 1, k_turned, ld, 0,
                          s + first * ld, ld);
        tg_few_rows_real(rows, wide, D, 1, g + first * gl, gl, 1, v_turned, ld, 0, c + first * ld,
                          ld);
        for (int64_t i = first; i < first + rows; i++) {
            int64_t seen = causal ? TG_MIN(keys, i + 1) : keys;
            int64_t whole = (seen + 7) / 8 * 8;
            real *row = s + i * ld, *change = c + i * ld, slope = 0, t = total[i];
            const char *m = (const char *)mask + i * ml * item;
            if (kind) tg_mask_scores_real(row, 1, seen, m, kind, ml, ms);
            for (int64_t j = seen; j < whole; j++) row[j] = -INFINITY;
            _Pragma("omp simd reduction(+ : slope)")
            for (int64_t j = 0; j < D; j++) slope += g[i * gl + j] * y[i * D + j];
            _Pragma("omp simd")
            for (int64_t j = 0; j < whole; j++) {
                row[j] = tg_exp_down_real(row[j] - t);
                change[j] = (change[j] - slope) * row[j];
            }
            for (int64_t j = seen; j < TG_MIN(S, first + TG_FEW); j++) row[j] = change[j] = 0;
        }
        tg_few_rows_real(rows, E, keys, scale, c + first * ld, ld, 1, k, kl, 0, gq + first * E,
                          E);
    }
    for (int64_t j = 0; j < S; j += TG_FEW) { /* key j is seen by the queries from j on */
        int64_t rows = TG_MIN(TG_FEW, S - j), from = causal ? TG_MIN(j, L) : 0;
        tg_few_rows_real(rows, D, L - from, 1, s + from * ld + j, 1, ld, g + from * gl, gl, 0,
                          gv + j * D, D);
        tg_few_rows_real(rows, E, L - from, scale, c + from * ld + j, 1, ld, q + from * ql, ql, 0,
                          gk + j * E, E);
    }
}

/* y = softmax(q k^T scale + mask) v and log(sum(exp(...))) of each row, for `heads` of (B, H) from
   number `first` on; a row that sees nothing gives 0 and infinity. q, k, v, mask: strides of b, h
   and row; `block` rows at a time, 0: small heads */
static void tg_attend_real(real *restrict y, real *restrict total, const real *q, const real *k,
                           const real *v, const void *mask, int64_t kind, int64_t first,
                           int64_t heads, int64_t H, int64_t L, int64_t S, int64_t E, int64_t D,
                           int64_t qb, int64_t qh, int64_t ql, int64_t kb, int64_t kh, int64_t kl,
                           int64_t vb, int64_t vh, int64_t vl, int64_t mb, int64_t mh, int64_t ml,
                           int64_t ms, int64_t causal, double scale, int64_t block,
                           real *restrict scratch) {
    int64_t item = kind == 1 ? 1 : (int64_t)sizeof(real);
    for (int64_t i = first; i < first + heads; i++, y += L * D, total += L) {
        int64_t b = i / H, h = i % H;
        const real *Q = q + b * qb + h * qh, *K = k + b * kb + h * kh, *V = v + b * vb + h * vh;
        const char *mask_here = (const char *)mask + (b * mb + h * mh) * item;
        if (!block) {
            tg_attend_small_real(y, total, Q, K, V, mask_here, kind, L, S, E, D, ql, kl, vl, ml, ms,
                                 causal, (real)scale, scratch);
            continue;
        }
        for (int64_t start = 0; start < L; start += block) {
            int64_t rows = TG_MIN(block, L - start), keys = causal ? TG_MIN(S, start + rows) : S;
            real *s = scratch;
            tg_product_real(0, 1, rows, keys, E, (real)scale, Q + start * ql, ql, K, kl, 0, s,
                            keys);
            if (kind)
                tg_mask_scores_real(s, rows, keys, mask_here + start * ml * item, kind, ml, ms);
            for (int64_t r = 0; r < rows; r++) {
                int64_t seen = causal ? TG_MIN(keys, start + r + 1) : keys;
                total[start + r] = tg_softmax_row_real(s + r * keys, seen, keys);
            }
            tg_product_real(0, 0, rows, D, keys, 1, s, keys, V, vl, 0, y + start * D, D);
        }
    }
}

static void tg_attend_back_real(real *restrict gq, real *restrict gk, real *restrict gv,
                                const real *g, const real *q, const real *k, const real *v,
                                const real *restrict y, const real *restrict total,
                                const void *mask, int64_t kind, int64_t first, int64_t heads,
                                int64_t H, int64_t L, int64_t S, int64_t E, int64_t D, int64_t gb,
                                int64_t gh, int64_t gl, int64_t qb, int64_t qh, int64_t ql,
                                int64_t kb, int64_t kh, int64_t kl, int64_t vb, int64_t vh,
                                int64_t vl, int64_t mb, int64_t mh, int64_t ml, int64_t ms,
                                int64_t causal, double scale, int64_t block,
                                real *restrict scratch) {
    int64_t item = kind == 1 ? 1 : (int64_t)sizeof(real);
    for (int64_t number = first; number < first + heads; number++) {
        int64_t b = number / H, h = number % H;
        const real *G = g + b * gb + h * gh, *Q = q + b * qb + h * qh;
        const real *K = k + b * kb + h * kh, *V = v + b * vb + h * vh;
        if (!block) {
            const char *m = (const char *)mask + (b * mb + h * mh) * item;
            tg_attend_small_back_real(gq, gk, gv, G, Q, K, V, y, total, m, kind, L, S, E, D, gl,
                                      ql, kl, vl, ml, ms, causal, (real)scale, scratch);
            gq += L * E, gk += S * E, gv += S * D, y += L * D, total += L;
            continue;
        }
        if (block < L) {
            memset(gk, 0, S * E * sizeof(real));
            memset(gv, 0, S * D * sizeof(real));
        }
        real beta = block < L ? 1 : 0; /* one block has all keys */
        for (int64_t start = 0; start < L; start += block) {
            int64_t rows = TG_MIN(block, L - start);
            int64_t keys = causal && block < L ? TG_MIN(S, start + rows) : S;
            real *s = scratch, *c = scratch + block * S;
            tg_product_real(0, 1, rows, keys, E, (real)scale, Q + start * ql, ql, K, kl, 0, s,
                            keys);
            tg_product_real(0, 1, rows, keys, D, 1, G + start * gl, gl, V, vl, 0, c, keys);
            if (kind) {
                const char *m = (const char *)mask + (b * mb + h * mh + start * ml) * item;
                tg_mask_scores_real(s, rows, keys, m, kind, ml, ms);
            }
            for (int64_t i = 0; i < rows; i++) {
                real *row = s + i * keys, *change = c + i * keys;
                const real *gi = G + (start + i) * gl, *yi = y + (start + i) * D;
                int64_t seen = causal ? TG_MIN(keys, start + i + 1) : keys;
                real slope = 0, t = total[start + i];
                _Pragma("omp simd reduction(+ : slope)")
                for (int64_t j = 0; j < D; j++) slope += gi[j] * yi[j];
                _Pragma("omp simd")
                for (int64_t j = 0; j < seen; j++) {
                    row[j] = tg_exp_down_real(row[j] - t);
                    change[j] = (change[j] - slope) * row[j];
                }
                for (int64_t j = seen; j < keys; j++) row[j] = change[j] = 0;
            }
            tg_product_real(1, 0, keys, D, rows, 1, s, keys, G + start * gl, gl, beta, gv, D);
            tg_product_real(0, 0, rows, E, keys, (real)scale, c, keys, K, kl, 0,
                            gq + start * E, E);
            tg_product_real(1, 0, keys, E, rows, (real)scale, c, keys, Q + start * ql, ql,
                            beta, gk, E);
        }
        gq += L * E, gk += S * E, gv += S * D, y += L * D, total += L;
    }
}
"""
SOURCE += shared(
    SOURCE, "tg_attend", "heads", first="1", y="L * D", total="L", products="block > 0",
    scratch="block ? block * S : (E + 8) * ((S + 15) / 16 * 16)",
)  # fmt: skip
SOURCE += shared(
    SOURCE, "tg_attend_back", "heads", first="1", gq="L * E", gk="S * E", gv="S * D", y="L * D",
    total="L", products="block > 0",
    scratch="block ? 2 * block * S : (2 * L + E + D) * ((S + 15) / 16 * 16)",
)  # fmt: skip


def _rounded(n_keys: int) -> int:
    return (n_keys + 15) // 16 * 16


def _is_small(length: int, n_keys: int, e: int, d: int) -> bool:
    """Whether a head is worked on by four queries at a time: a BLAS is no quicker."""
    return length * n_keys <= _SCORES and n_keys <= _FEW_KEYS and max(e, d) <= _FEW_KEYS


def _heads(at: Instance, x: Any, lead: tuple[int, ...]) -> tuple[Any, list[int]]:
    """`x` (..., n, m) as an argument, and its strides over (b, h, n)."""
    shape = at.shape(x)
    require(shape[:-2] == lead)
    *outer, row, one = at.strides(x)
    n, m = shape[-2:]
    whole = all(s % at.dtype(x).itemsize == 0 for s in at.of(x).strides)
    if len(lead) <= 2 and whole and one == 1 and (row >= max(m, 1)) and min(outer, default=0) >= 0:
        return Strided(x), [*[0] * (2 - len(lead)), *outer, row]
    heads = lead[-1] if lead else 1
    return x, [heads * n * m, n * m, m]


def _mask(at: Instance, masks: tuple, t: str, lead: tuple, n: int, m: int) -> tuple[list, list]:
    """A mask and its kind; its strides over (b, h, n, m)."""
    if not masks:
        return [], [0, 0, 0, 0]
    mask = masks[0]
    dtype = at.dtype(mask)
    require(dtype.kind == "b" or at.real(mask) == t)
    shape, strides = at.shape(mask), at.strides(mask)
    whole = (*(lead if len(lead) == 2 else (1,) * (2 - len(lead)) + lead), n, m)
    require(len(whole) == 4 and len(shape) <= 4)
    missing = 4 - len(shape)
    steps = [0] * missing
    for size, want, step in zip(shape, whole[missing:], strides, strict=True):
        require(size in (want, 1))
        steps.append(0 if size == 1 else step)
    return [Strided(mask), 1 if dtype.kind == "b" else 2], steps


class _Attention:
    """What forward and backward are called with besides their results."""

    def __init__(self, at: Instance, inputs: Any, others: Any = ()):
        q, k, v, *masks = inputs
        self.real = at.real(*others, q, k, v)
        lead, (length, e) = at.shape(q)[:-2], at.shape(q)[-2:]
        n_keys, d = at.shape(v)[-2:]
        require(n_keys and e and d)
        heads = lead[-1] if lead else 1
        self.lead = lead
        self.sizes = [0, prod(lead), heads, length, n_keys, e, d]
        self.work = 0 if prod(lead) < 2 else prod(lead) * length * n_keys * (e + d) // 8
        self.mask, self.mask_steps = _mask(at, tuple(masks), self.real, lead, length, n_keys)
        self.mask = self.mask or [Strided(q), 0]  # any array, which is not read
        small = _is_small(length, n_keys, e, d)
        self.block = 0 if small else max(1, min(length, _SCORES // n_keys))
        self.itemsize = np.dtype(at.dtype(q)).itemsize

    def operands(self, at: Instance, *arrays: Any) -> tuple[list, list[int]]:
        """Arrays as they are passed, and their steps."""
        pairs = [_heads(at, x, self.lead) for x in arrays]
        return [x for x, _ in pairs], [step for _, steps in pairs for step in steps]

    def rest(self, steps: list[int], scale: float, causal: bool) -> list:
        """The arguments behind the arrays."""
        settings = [int(causal), float(scale), self.block]
        return [*self.mask, *self.sizes, *steps, *self.mask_steps, *settings]


@template("xp.attend")
def attend(at: Instance) -> Call:
    inputs, scale, causal = at.args
    x = _Attention(at, inputs)
    operands, steps = x.operands(at, *inputs[:3])
    *_, n_keys, e, _ = x.sizes
    return at.call(
        f"tg_attend_{x.real}",
        [*operands, *x.rest(steps, scale, causal)],
        part_scratch=(x.block * n_keys or (e + 8) * _rounded(n_keys)) * x.itemsize,
        work=x.work,
    )


@template("xp.attend_back")
def attend_back(at: Instance) -> Call:
    g, inputs, y, total, scale, causal = at.args
    require(at.shape(g) == at.shape(y))
    x = _Attention(at, inputs, (g, y, total))
    operands, steps = x.operands(at, g, *inputs[:3])
    *_, length, n_keys, e, d = x.sizes
    return at.call(
        f"tg_attend_back_{x.real}",
        [*operands, y, total, *x.rest(steps, scale, causal)],
        part_scratch=(2 * x.block * n_keys or (2 * length + e + d) * _rounded(n_keys)) * x.itemsize,
        work=2 * x.work,
    )
