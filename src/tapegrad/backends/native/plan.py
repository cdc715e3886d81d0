"""A call of a kernel in C, for arrays of given shapes: what is done again for each such call."""

from functools import partial

import numpy as np

from tapegrad.arrays.numpy import memory_pool
from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import RECORDING, Constant, Program, Value
from tapegrad.arrays.traced.record import record
from tapegrad.backends.native.entry import handed
from tapegrad.compiler.c_backend import templates
from tapegrad.compiler.c_backend.addresses import address
from tapegrad.compiler.c_backend.templates.call import Call, Strided, is_row_major
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.threads import n_threads

FAILED = object()
"""What a call gives that C has not made: NumPy's kernel makes it, or raises the error."""


def first_call(name: str, kernel: Callable, args: tuple, options: dict) -> tuple[Any, Any]:
    """What NumPy's kernel gives, and the call of C for such arrays; None where there is none."""
    if RECORDING.get() is not None:
        return kernel(*args, **options), None
    program = Program()
    token = RECORDING.set(program)  # here alone: other threads go on drawing random numbers
    try:
        given = tuple([_traced(program, x) for x in args])
        found = record(f"xp.{name}", kernel, given, options)
    finally:
        RECORDING.reset(token)
    out = _plain(found)
    if len(program.instructions) != 1:
        return out, None
    instruction = program.instructions[0]
    inputs, constants = list(program.inputs), list(program.constants)
    call = templates.call_for(instruction, constants)
    if call is None or not _is_fresh(call, inputs, out):
        return out, None
    return out, Plan(call, inputs, constants, out)


def _traced(program: Program, x: Any) -> Any:
    """An argument with an input of a program in the place of each array, one for each place."""
    if type(x) is np.ndarray:
        return program.input(x)
    if type(x) is tuple or type(x) is list:
        return type(x)([_traced(program, each) for each in x])
    return x


def _plain(x: Any) -> Any:
    if type(x) is Traced:
        return x.array
    return type(x)(map(_plain, x)) if type(x) in (tuple, list) else x


def _is_fresh(call: Call, inputs: list, out: Any) -> bool:
    """Whether results are arrays of their own in row-major order, and all that a kernel gives."""
    parts = out if type(out) in (tuple, list) else (out,)
    if not all(x is None or type(x) is np.ndarray for x in parts):
        return False
    numbers = [x.number for x in (*inputs, *call.results)]
    own = all(x.root is x and _is_row_major(x) for x in call.results)
    return own and len(set(numbers)) == len(numbers)


class Plan:
    """What a call of C needs besides the arrays.

    Attributes:
        function: the one that is called, of the templates
        shared: whether threads share it
    """

    def __init__(self, call: Call, inputs: list[Value], constants: list, out: Any):
        self.function = call.shared or call.function
        self.shared = bool(call.shared)
        self._makers = [_maker(x.shape, x.dtype) for x in call.results]
        size = -(-call.scratch // 8)
        self._scratch = [_maker((size,), np.dtype(np.float64))] if size else []
        self._kind = type(out) if type(out) in (tuple, list) else None
        self._absent = [i for i, x in enumerate(out) if x is None] if self._kind else []
        self._copied: list[int] = []  # inputs that C wants in row-major order
        self._tables: list[Any] = []  # arrays that never change
        n_results = len(self._makers)
        at_copies = n_results + len(inputs)
        where = {x.number: n_results + i for i, x in enumerate(inputs)}
        later: list[tuple[int, Any]] = []
        numbers: list[Any] = list(range(n_results))
        for x in call.arguments:
            strided = isinstance(x, Strided)
            x = x.value if strided else x
            if isinstance(x, Value) and not strided and not _is_row_major(x):
                i = where[x.number] - n_results
                if i not in self._copied:
                    self._copied.append(i)
                numbers.append(at_copies + self._copied.index(i))
            elif isinstance(x, Value):
                numbers.append(where[x.number])
            elif isinstance(x, Constant):
                later.append((len(numbers), constants[x.number]))
                numbers.append(-1)
            else:
                numbers.append(-1 if x is None else x)
        at_tables = at_copies + len(self._copied)
        for at, table in later:
            numbers[at] = at_tables + len(self._tables)
            self._tables.append(table)
        if call.scratch:
            numbers.append(at_tables + len(self._tables))
        self._rest = bool(self._copied or self._tables or self._scratch)
        self._numbers = _table(numbers)
        self._address = address(self._numbers)

    def bound_to(self, enter: Callable) -> Callable[[list], Any]:
        """The function of the arrays among the arguments, in their order, that calls `enter`."""
        makers, copied, rest, shared = self._makers, self._copied, self._rest, self.shared
        numbers, kind, absent, scratch = self._address, self._kind, self._absent, self._scratch

        def run(arrays: list, table: Any = self._numbers) -> Any:
            results = [make() for make in makers]
            items: tuple = (*results, *arrays)
            if rest:
                more = [np.ascontiguousarray(arrays[i]) for i in copied]
                items = (*items, *more, *self._tables, *[make() for make in scratch])
            if enter(numbers, handed(items), n_threads() if shared else 1):
                return FAILED
            if kind is None:
                return results[0]
            for i in absent:
                results.insert(i, None)
            return results if kind is list else tuple(results)

        if rest or kind is not None or len(makers) != 1:
            return run
        (make,) = makers

        def run_simply(arrays: list, table: Any = self._numbers) -> Any:
            result = make()
            items = (result, *arrays)
            if enter(numbers, handed(items), n_threads() if shared else 1):
                return FAILED
            return result

        return run_simply


def _maker(shape: tuple[int, ...], dtype: Any) -> Callable[[], Any]:
    """What makes memory for a result; where it is long, memory that is used again."""
    size = int(np.prod(shape, dtype=np.int64))
    if size * dtype.itemsize < memory_pool.SMALLEST:
        return partial(np.empty, shape, dtype)
    return lambda: memory_pool.empty(size, dtype).reshape(shape)


def _is_row_major(x: Value) -> bool:
    return is_row_major(x.shape, x.strides, x.dtype.itemsize)


def _table(numbers: list) -> Any:
    """Numbers of eight bytes each: floats as doubles, others whole."""
    found = np.empty(len(numbers), np.int64)
    for i, x in enumerate(numbers):
        found[i] = np.float64(x).view(np.int64) if type(x) is float else int(x)
    return found
