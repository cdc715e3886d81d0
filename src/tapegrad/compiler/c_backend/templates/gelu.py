"""GELU over a whole array: `xp.gelu`, `xp.gelu_back`.

Programs compute it among other elementwise functions; this is for who calls it alone.
"""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared

_NAMES = ("gelu", "gelu_tanh")

SOURCE = "".join(
    rf"""
WHOLE static void tg_{name}_array_real(real *restrict y, const real *restrict x, int64_t n) {{
    _Pragma("omp simd")
    for (int64_t i = 0; i < n; i++) y[i] = tg_{name}_real(x[i]);
}}

WHOLE static void tg_{name}_back_array_real(real *restrict dx, const real *restrict g,
                                      const real *restrict x, int64_t n) {{
    _Pragma("omp simd")
    for (int64_t i = 0; i < n; i++) dx[i] = tg_{name}_back_real(g[i], x[i]);
}}
"""
    for name in _NAMES
)
for _name in _NAMES:
    SOURCE += shared(SOURCE, f"tg_{_name}_array", "n", unit=4096, y="1", x="1")
    SOURCE += shared(SOURCE, f"tg_{_name}_back_array", "n", unit=4096, dx="1", g="1", x="1")


def _call(at: Instance, arrays: list, approximate: str, back: str = "") -> Call:
    require(approximate in ("none", "tanh") and len({at.shape(x) for x in arrays}) == 1)
    name = f"tg_gelu{'_tanh' * (approximate == 'tanh')}{back}_array_{at.real(*arrays)}"
    size = prod(at.shape(arrays[0]))
    return at.call(name, [*arrays, size], work=4 * size)


@template("xp.gelu")
def gelu(at: Instance) -> Call:
    x, approximate = at.args
    return _call(at, [x], approximate)


@template("xp.gelu_back")
def gelu_back(at: Instance) -> Call:
    g, x, approximate = at.args
    return _call(at, [g, x], approximate, "_back")
