"""Running the C function that a template names for one recorded call of a kernel."""

import ctypes
import functools
import re

import numpy as np

from tapegrad.arrays.numpy.kernel_table import KERNELS
from tapegrad.arrays.traced import namespace as traced
from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import Constant, Program, Value
from tapegrad.compiler.c_backend import blas, c_library, pool, templates
from tapegrad.compiler.c_backend.templates.call import Strided, shared_name
from tapegrad.compiler.c_backend.templates.shared import MOST_PARTS
from tests.compiler.c_backend.c_compiler import compiled

assert KERNELS


@functools.cache
def library():
    """All functions of the templates, compiled once."""
    text = templates.library().source(templates.library().definitions)
    text = re.sub(r"^(WHOLE )?static (void|int) tg_", r"\1\2 tg_", text, flags=re.M)
    found, _ = compiled(c_library.HEADER + text + pool.BINDING)
    pool.bind(found)
    for suffix in ("f32", "f64"):
        ctypes.c_void_p.in_dll(found, f"gemm_{suffix}").value = blas.found().address(suffix)
    return found


def record(name, args, kwargs):
    """The program of one call, its instruction, and the arrays of its values by number."""
    with Program() as program:
        arrays = {}

        def place(x):
            if isinstance(x, np.ndarray):
                found = program.input(x)
                arrays[found.place.number] = x
                return found
            return type(x)(map(place, x)) if type(x) in (tuple, list) else x

        out = getattr(traced, name)(*place(tuple(args)), **kwargs)
    return program, program.instructions[-1], arrays, out


def call_of(name, *args, **kwargs):
    """The call of C that stands for a call of a kernel; None if there is none."""
    program, instruction, *_ = record(name, args, kwargs)
    return templates.call_for(instruction, program.constants)


def prepared(name, args, kwargs, instead=None, threads=0):
    """A function that calls C, the arrays it writes, and those that the kernel gave.

    `instead`: other arguments, with which C is called. `threads`: how many share the work; None is
    returned where a function has no such form.
    """
    program, instruction, arrays, out = record(name, args, kwargs)
    if instead is not None:
        given = [x for x in instead if isinstance(x, np.ndarray)]
        arrays = dict(zip(arrays, given, strict=True))
    call = templates.call_for(instruction, program.constants)
    if call is None:
        return None
    results = [np.full(x.shape, 7, x.dtype) for x in call.results]
    kept = [*results]

    def pointer(x, dense):
        array = program.constants[x.number] if isinstance(x, Constant) else arrays[x.number]
        kept.append(np.ascontiguousarray(array) if dense else array)
        return ctypes.c_void_p(kept[-1].ctypes.data)

    given = [ctypes.c_void_p(x.ctypes.data) for x in results]
    for x in call.arguments:
        if isinstance(x, Strided):
            given.append(pointer(x.value, False))
        elif isinstance(x, (Value, Constant)):
            given.append(pointer(x, True))
        else:
            given.append(ctypes.c_double(x) if type(x) is float else ctypes.c_int64(x))
    if call.scratch:
        kept.append(np.full(MOST_PARTS * call.scratch + 64, 0xAB, np.uint8))
        given.append(ctypes.c_void_p(-(-kept[-1].ctypes.data // 64) * 64))
    called = call.function
    if threads:
        called = shared_name(called)
        if called not in templates.library().definitions:
            return None
        given.append(ctypes.c_int64(threads))
    function = getattr(library(), called)
    function.restype = ctypes.c_int if call.status else None
    expected = out if isinstance(out, (tuple, list)) else (out,)
    expected = [x.array for x in expected if isinstance(x, Traced)]

    def run():
        assert kept
        return function(*given)

    return run, results, expected
