"""A program as one C file with a `main`: it needs a C compiler and its mathematical library.

`main` gives the program memory with numbers in it, runs it some times, and prints how long that
took and how each result begins.
"""

import ctypes

import numpy as np

from tapegrad.arrays.traced.program import Program, Value
from tapegrad.compiler.c_backend import c_types
from tapegrad.compiler.c_backend.addresses import address
from tapegrad.compiler.c_backend.ir import Access, Buffer, Unsupported
from tapegrad.compiler.c_backend.lowered import Compiled
from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.errors import runtime_error

_HEAD = """\
/* A program that tapegrad has compiled. To build and run it:
     cc -std=gnu11 -O3 -march=native -fopenmp-simd -fno-math-errno -fno-trapping-math step.c -lm
     ./a.out 100
   With -DTG_CBLAS and a library of BLAS, such as -lopenblas, that one makes the products. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
"""
_MEMORY = """\
/* Memory in which 64 bytes begin at a multiple of 64 */
static char *memory(int64_t size) {
    char *const found = calloc(size + 128, 1);
    if (!found) {
        fprintf(stderr, "no memory\\n");
        exit(1);
    }
    return found + 64 - (uintptr_t)found % 64;
}

/* Numbers between 0 and 1, the same in each run */
static double next_number(void) {
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) / 9007199254740992.0;
}
"""
_MAIN = """\
int main(int argc, char **argv) {{
    static char *slots[{n_slots}];
    const int n = argc > 1 ? atoi(argv[1]) : 100;
    slots[0] = memory({arena});
{lines}
    struct timespec start, end;
    for (int i = -1; i < n; i++) {{
        if (i == 0) timespec_get(&start, TIME_UTC);
        const int code = part0(slots);
        if (code) {{
            fprintf(stderr, "a number that decides what is computed is another one: %d\\n", code);
            return 1;
        }}
    }}
    timespec_get(&end, TIME_UTC);
    const double seconds = end.tv_sec - start.tv_sec + 1e-9 * (end.tv_nsec - start.tv_nsec);
    if (n > 0) printf("%.1f us a call\\n", seconds / n * 1e6);
{results}
    return 0;
}}
"""


def standalone(
    program: Program,
    outputs: Sequence[Value],
    names: dict[int, str] | None = None,
    numbers: dict[int, float] | None = None,
) -> str:
    """The text of a C file that runs a program.

    Args:
        program: what was recorded
        outputs: the values whose first elements are printed
        names: of values, by their numbers
        numbers: which Python numbers among the inputs there are, by the numbers of their places;
            0.001 where none is given

    Raises:
        RuntimeError: a program that calls Python between its pieces of C
            or that C cannot express
    """
    try:
        compiled = Compiled(program, outputs, names or {}, is_alone=True)
    except Unsupported as error:
        raise runtime_error(str(error), "Save it as .py.") from error
    if compiled.calls:
        called = ", ".join(dict.fromkeys(x.instruction.text for x in compiled.calls))
        raise runtime_error(
            f"The program calls {called}, which have no C of their own",
            "Save it as .py, or take these calls out of the function.",
        )
    lines = _inputs(program, compiled, numbers or {})
    constants = []
    for each in compiled.constants:
        if each.high > each.low:
            constants.append(_constant(each))
            lines.append(f"slots[{each.slot}] = (char *){each.name} - ({each.low});")
    for each in compiled.layout.results:
        size = each.high - each.low
        lines.append(f"slots[{each.slot}] = memory({size}) - ({each.low}); /* {each.name} */")
    if any(f" gemm_{x};" in compiled.source for x in ("f32", "f64")):
        lines.append("bind(0, 0);")
    main = _MAIN.format(
        n_slots=compiled.n_slots,
        arena=compiled.layout.size,
        lines=_indented(lines),
        results=_indented([_printed(i, x) for i, x in enumerate(compiled.places)]),
    )
    return "\n".join([_HEAD, compiled.source, *constants, _MEMORY, main])


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _inputs(program: Program, compiled: Compiled, numbers: dict[int, float]) -> list[str]:
    """Memory for the inputs, one block for those that share it, and what is in it."""
    lines: list[str] = []
    blocks: dict[int, list[Buffer]] = {}
    for each in compiled.inputs:
        if each.value is None:
            number = numbers.get(program.inputs[each.index].number, 0.001)
            lines.append(f"static double {each.name} = {float(number)!r};")
            lines.append(f"slots[{each.slot}] = (char *)&{each.name};")
        else:
            blocks.setdefault(each.value.root.number, []).append(each)
    for shared in blocks.values():
        spans = [_span(each.value) for each in shared]
        low, high = min(x for x, _ in spans), max(x for _, x in spans)
        block = f"{shared[0].name}_memory"
        lines.append(f"char *const {block} = memory({high - low});")
        dtype = shared[0].dtype
        if dtype.kind == "f" and c_types.has_name(dtype):
            n = (high - low) // dtype.itemsize
            lines.append(
                f"for (int64_t i = 0; i < {n}; i++) "
                f"(({c_types.name(dtype)} *){block})[i] = next_number();"
            )
        for each in shared:
            lines.append(f"slots[{each.slot}] = {block} + {each.value.offset - low};")
    return lines


def _span(x: Any) -> tuple[int, int]:
    """The bytes of a value in its root."""
    low, high = Access(None, 0, x.shape, x.strides, x.dtype).span  # type: ignore[arg-type]
    return x.offset + low, x.offset + high


def _constant(x: Buffer) -> str:
    """The memory of an array that never changes."""
    memory = ctypes.string_at(address(x.array) + x.low, x.high - x.low)
    numbers = np.frombuffer(memory, x.dtype)
    text = ", ".join(c_types.literal(each, x.dtype) for each in numbers)
    return f"static const {c_types.name(x.dtype)} {x.name}[] = {{{text}}};\n"


def _printed(i: int, x: Access) -> str:
    """The line that prints the first element of a result."""
    shape = str(tuple(x.shape))
    text = f"{i}: {shape} {x.dtype}"
    if x.size == 0 or not c_types.has_name(x.dtype):
        return f'printf("{text}\\n");'
    element = f"*({c_types.name(x.dtype)} *)(slots[{x.buffer.slot}] + {x.offset})"
    return f'printf("{text} %.9g\\n", (double)({element}));'
