"""How Python calls a C function of the templates: by a tuple of arrays and a table of numbers.

Arguments of such a function are pointers, whole numbers and doubles. Numbers stand in a table that
is made once for all calls with arrays of the same shapes; so do the places that pointers have in
the tuple. What is compiled depends on the function alone, on no size.
"""

import ctypes
import re
from typing import NamedTuple

from tapegrad.compiler.c_backend import blas, c_library, pool, templates
from tapegrad.compiler.c_backend.addresses import address, offsets
from tapegrad.core.annotations import Any, Callable

UNALIGNED = 2
"""What an entry returns for arrays that do not begin where C wants numbers of their type."""

_SIZES = {"float": 4, "double": 8, "int32_t": 4, "int64_t": 8}


class Entry(NamedTuple):
    """The C text of a library with one entry, and what is bound to it when it is loaded."""

    source: str
    products: list[str]
    shares: bool


def entry(function: str) -> Entry:
    """The library of a function of the templates."""
    returns, parameters = _declared(function)
    lines, given, aligned = [], [], []
    for k, parameter in enumerate(parameters):
        if parameter == "int64_t threads":
            given.append("threads")
        elif "*" in parameter:
            lines.append(f"    char *const a{k} = AT(numbers[{k}].whole);")
            given.append(f"(void *)a{k}")
            size = _SIZES.get(re.sub(r"\bconst\b", "", parameter).split()[0], 1)
            if size > 1:
                aligned.append(f"(uintptr_t)a{k} % {size}")
        else:
            given.append(f"numbers[{k}].{'real' if parameter[:6] == 'double' else 'whole'}")
    lines.append(f"    if ({' || '.join(aligned) or '0'}) return {UNALIGNED};")
    call = f"{function}({', '.join(given)});"
    lines += [f"    return {call}"] if returns == "int" else [f"    {call}", "    return 0;"]
    code = "\n".join([_HEAD.format(at=_at()), *lines, "}", ""])
    helpers = c_library.used_by(code)
    products = [x for x in ("f32", "f64") if f" gemm_{x};" in helpers]
    shares = " tg_share;" in helpers and pool.IS_THERE
    parts = [c_library.HEADER, helpers]
    if products:
        parts.append(blas.binding(products, blas.found().convention))
    if shares:
        parts.append(pool.BINDING)
    return Entry("\n".join([*parts, code]), products, shares)


def bound(found: Entry, library: Any) -> Callable[[int, Any, int], int]:
    """`enter(numbers, arrays, threads)` of a compiled library.

    `numbers` is the address of the table, `arrays` what `handed` makes of the tuple. It returns 0,
    or something else where it has not computed anything that is of use.
    """
    if found.products:
        blas.bind(library, found.products)
    if found.shares:
        pool.bind(library)
    enter = library.enter
    enter.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    enter.restype = ctypes.c_int
    return enter


def _addresses(arrays: tuple) -> Any:
    return (ctypes.c_void_p * len(arrays))(*map(address, arrays))


handed: Callable[[tuple], Any] = id if offsets() is not None else _addresses
"""What an entry is given for a tuple of arrays: where it lies, or a table of addresses."""

_HEAD = """\
typedef union {{
    int64_t whole;
    double real;
}} number;

{at}
int enter(const number *numbers, const char *arrays, int64_t threads) {{
    (void)threads;"""


def _at() -> str:
    """The address of an array by its place in the tuple; 0 for the place -1."""
    found = offsets()
    if found is None:
        return "#define AT(i) ((i) < 0 ? (char *)0 : ((char *const *)arrays)[i])\n"
    item = f"((char *const *)(arrays + {found.items}))[i]"
    return f"#define AT(i) ((i) < 0 ? (char *)0 : *(char *const *)({item} + {found.array}))\n"


def _declared(function: str) -> tuple[str, list[str]]:
    """What a function returns, and its parameters."""
    text = templates.library().definitions[function].text
    found = re.search(rf"static (?:inline )?(void|int) {function}\(([^)]*)\)", text)
    assert found is not None, function
    return found[1], [" ".join(x.split()) for x in found[2].split(",")]
