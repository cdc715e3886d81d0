"""A program as a file that runs alone: Python with NumPy, or C.

What the program calls of tapegrad's own kernels stands in the file, too.
"""

import os
import re
from pathlib import Path
from typing import Any

from tapegrad.arrays.traced.program import Program, Scalar, Value
from tapegrad.arrays.traced.source import source_of
from tapegrad.compiler.kernel_sources import Kernels, constant
from tapegrad.core.errors import runtime_error

_MAIN = '''

def inputs(seed=0):
    """Random arrays in the places of the inputs, and the numbers that it was recorded with."""
    random = np.random.default_rng(seed)
    return [{inputs}]


if __name__ == "__main__":
    from time import perf_counter

    given = inputs()
    program(*given)
    start = perf_counter()
    for _ in range(100):
        results = program(*given)
    print(f"{{(perf_counter() - start) * 1e4:.1f}} us a call")
    for x in results:
        print(x.shape, x.dtype, float(np.asarray(x).ravel()[0]) if x.size else "")
'''


def save(entry: Any, path: str | os.PathLike) -> None:
    """Write the program of an entry to a file."""
    file = Path(path)
    if file.suffix == ".c":
        text = _c_source(entry)
    elif file.suffix == ".py":
        text = python_source(entry)
    else:
        raise runtime_error(
            f"save() writes .py or .c files, not {file.suffix or file.name!r}", "Name it step.py."
        )
    file.write_text(text)


def _c_source(entry: Any) -> str:
    from tapegrad.compiler.c_backend.standalone import standalone

    numbers = {x.number: _number(x, entry) for x in entry.part.inputs if isinstance(x, Scalar)}
    return standalone(entry.part, entry.outputs, names=entry.names, numbers=numbers)


def python_source(entry: Any) -> str:
    """The NumPy source of an entry with all that it calls, and a main that times it."""
    program: Program = entry.part
    if program.drawn or any(x.text.startswith(("draw.", "make.")) for x in program.instructions):
        raise runtime_error(
            "The program draws random numbers, or calls Python functions of the user's",
            "A program that only computes can be saved: in eval mode, without dropout.",
        )
    kernels = Kernels()
    names = {}
    for text, function in program.functions.items():
        if text.startswith(("xp.", "order.")):
            names[text] = kernels.add(function)
    body = source_of(program, entry.outputs)
    for text in sorted(names, key=len, reverse=True):
        body = re.sub(rf"(?<![\w.]){re.escape(text)}(?=\()", names[text], body)
    for number, name in entry.names.items():
        body = re.sub(rf"\bv{number}\b", name, body)
    constants = [f"c{i} = {constant(x, kernels)}" for i, x in enumerate(program.constants)]
    given = ", ".join(_example(x, entry) for x in program.inputs)
    head = '"""A program that tapegrad has compiled: it needs NumPy and nothing else."""\n\n'
    head += "import operator\nfrom types import SimpleNamespace\n\n"
    head += "import numpy as np\nfrom numpy import inf, nan\n\n\n"
    expect = (
        "def expect(found, recorded, what):\n"
        "    if found != recorded and not (found != found and recorded != recorded):\n"
        '        raise ValueError(f"{what} was {recorded!r} and is {found!r}")\n\n\n'
    )
    parts = [head, expect, *[f"{x}\n\n\n" for x in kernels.sources], "\n".join(constants), "\n\n\n"]
    return "".join(parts) + body + "\n" + _MAIN.format(inputs=given)


def _example(x: Any, entry: Any) -> str:
    """An expression for an array like an input of the program."""
    if isinstance(x, Scalar):
        return repr(_number(x, entry))
    kind = x.dtype.kind
    if kind == "f":
        made = f"random.random({x.shape}).astype('{x.dtype}')"
    elif kind in "iub":
        made = f"np.zeros({x.shape}, '{x.dtype}')"
    else:
        made = f"random.standard_normal({x.shape}).astype('{x.dtype}')"
    return made if _is_row_major(x) else f"_laid_out({made}, {x.strides})"


def _number(x: Scalar, entry: Any) -> float:
    """The number that an input of the program is now."""
    n = entry.part.inputs.index(x) - len(entry.reads)
    owner, key, index = entry.recording.numbers[entry.numbers[n]]
    return owner[key] if index is None else owner[key][index]


def _is_row_major(x: Value) -> bool:
    step = x.dtype.itemsize
    for n, stride in zip(reversed(x.shape), reversed(x.strides), strict=True):
        if n != 1 and stride != step:
            return False
        step *= n
    return True
