"""Steps of Adam and SGD on whole vectors, for optimizers that are not compiled.

They have no instruction: a compiled step is loops of its own. Each number takes the same operations
as in `optim/adam.py` and `optim/sgd.py`, in one pass over memory.
"""

from tapegrad.compiler.c_backend.templates.shared import shared

_ADAM = r"""
/* d = sign g + penalty x, after x shrinks; m, v and the step size m / (sqrt(v) + eps) */
static void tg_adam_real(real *restrict x, real *restrict m, real *restrict v,@PEAK@
                         const real *restrict g, int64_t n, double sign, double penalty,
                         double shrink, double part1, double beta2, double part2, double size,
                         double eps) {
    const real s = (real)sign, l2 = (real)penalty, keep = (real)shrink, p1 = (real)part1;
    const real b2 = (real)beta2, p2 = (real)part2, step = (real)size, e = (real)eps;
    _Pragma("omp simd")
    for (int64_t i = 0; i < n; i++) {
        real old = x[i] * keep, d = s * g[i] + l2 * old;
        m[i] += (d - m[i]) * p1;
        real w = v[i] * b2 + d * d * p2;
        v[i] = w;@LARGEST@
        x[i] = old - m[i] * step / (tg_sqrt_real(w) + e);
    }
}
"""
_PEAK = " real *restrict peak,"
_LARGEST = r"""
        w = peak[i] >= w || peak[i] != peak[i] ? peak[i] : w;
        peak[i] = w;"""

_SGD = r"""
/* d = sign g + penalty x;@WHAT@ */
static void tg_sgd@NAME@_real(real *restrict x,@BUFFER@ const real *restrict g, int64_t n,
                              double sign, double penalty,@NUMBERS@ double lr) {
    const real s = (real)sign, l2 = (real)penalty, step = (real)lr;@CONSTANTS@
    _Pragma("omp simd")
    for (int64_t i = 0; i < n; i++) {
        real d = s * g[i] + l2 * x[i];@CHANGE@
        x[i] -= d * step;
    }
}
"""
_WITHOUT = dict.fromkeys("WHAT NAME BUFFER NUMBERS CONSTANTS CHANGE".split(), "")
_MOMENTUM = {
    "WHAT": " a running sum of it",
    "NAME": "_momentum",
    "BUFFER": " real *restrict sum,",
    "NUMBERS": " double momentum, double part,",
    "CONSTANTS": "\n    const real keep = (real)momentum, p = (real)part;",
    "CHANGE": "\n        d = sum[i] = sum[i] * keep + p * d;",
}
_NESTEROV = _MOMENTUM | {
    "WHAT": " and that sum ahead of it",
    "NAME": "_nesterov",
    "CHANGE": "\n        sum[i] = sum[i] * keep + p * d;\n        d += keep * sum[i];",
}


def _filled(text: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


SOURCE = _filled(_ADAM, {"PEAK": "", "LARGEST": ""})
SOURCE += _filled(_ADAM, {"PEAK": _PEAK, "LARGEST": _LARGEST}).replace("tg_adam", "tg_amsgrad")
SOURCE += "".join(_filled(_SGD, parts) for parts in (_WITHOUT, _MOMENTUM, _NESTEROV))
for _name, _arrays in {
    "tg_adam": "x m v g",
    "tg_amsgrad": "x m v peak g",
    "tg_sgd": "x g",
    "tg_sgd_momentum": "x sum g",
    "tg_sgd_nesterov": "x sum g",
}.items():
    SOURCE += shared(SOURCE, _name, "n", unit=4096, **dict.fromkeys(_arrays.split(), "1"))
