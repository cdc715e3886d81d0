"""Arrays side by side: `xp.concat` and `xp.stack` of up to eight. Threads share the rows."""

from math import prod

from tapegrad.compiler.c_backend.templates.call import Call, Instance, require, template
from tapegrad.compiler.c_backend.templates.shared import shared

_MOST = 8


def _function(k: int) -> str:
    """Rows of `k` arrays one after the other; w0, w1, ... are their lengths in bytes."""
    arrays = ", ".join(f"const void *x{i}" for i in range(k))
    sizes = ", ".join(f"int64_t w{i}" for i in range(k))
    copies = "".join(
        f"        memcpy(to, (const char *)x{i} + i * w{i}, w{i}), to += w{i};\n" for i in range(k)
    )
    text = (
        f"static void tg_concat{k}_real(void *y, {arrays}, int64_t rows,\n    {sizes}) {{\n"
        "    char *to = (char *)y;\n    for (int64_t i = 0; i < rows; i++) {\n"
        f"{copies}    }}\n}}\n"
    )
    moves = {f"x{i}": f"w{i}" for i in range(k)}
    moves["y"] = " + ".join(moves.values())
    return (text + shared(text, f"tg_concat{k}", "rows", **moves)).replace("_real", "")


UNTYPED = "".join(_function(k) for k in range(1, _MOST + 1))


def _call(at: Instance, arrays: tuple, axis: int) -> Call:
    dtypes = {at.dtype(x) for x in arrays}
    require(1 <= len(arrays) <= _MOST and len(dtypes) == 1)
    itemsize = dtypes.pop().itemsize
    rows = prod(at.shape(arrays[0])[:axis])
    widths = [prod(at.shape(x)[axis:]) * itemsize for x in arrays]
    work = rows * sum(widths) // itemsize
    return at.call(f"tg_concat{len(arrays)}", [*arrays, rows, *widths], work=work)


@template("xp.concat")
def concat(at: Instance) -> Call:
    arrays, axis = at.args[0], at.argument(1, "axis", 0)
    require(type(axis) is int and at.shape(arrays[0]))
    return _call(at, arrays, axis % len(at.shape(arrays[0])))


@template("xp.stack")
def stack(at: Instance) -> Call:
    arrays, axis = at.args[0], at.kwargs.get("axis", 0)
    return _call(at, arrays, axis % (len(at.shape(arrays[0])) + 1))
