"""Kernels that have a C function of their own: layer norm, attention, LSTM, ..."""

from tapegrad.arrays.traced.program import Constant, Instruction, Value
from tapegrad.compiler.c_backend import templates
from tapegrad.compiler.c_backend.ir import Call
from tapegrad.compiler.c_backend.lowering import Lowering, written
from tapegrad.core.annotations import Any


def lower_template(lowering: Lowering, instruction: Instruction) -> bool:
    """The call of the template of an instruction."""
    if written(instruction):
        return False
    call = templates.call_for(instruction, lowering.program.constants)
    if call is None or any(x.number in lowering.places for x in call.results):
        return False
    if any(x.root is not x for x in call.results):
        return False
    arrays = [x.value if isinstance(x, templates.Strided) else x for x in call.arguments]
    arrays = [x for x in arrays if isinstance(x, (Value, Constant))]
    if not all(map(lowering.is_array, (*arrays, *call.results))):
        return False
    arguments = [_argument(lowering, x, instruction.line) for x in call.arguments]
    places = lowering.places_of(instruction)
    found = [lowering.fresh(x) for x in call.results]
    results = [x if x.is_dense else lowering.temporary(x.shape, x.dtype) for x in found]
    failing = (instruction, places) if call.status else None
    lowering.add(
        Call(
            call.function, arguments, results, call.scratch, failing, instruction.line, call.shared
        )
    )
    for x, out in zip(results, found, strict=True):
        if x is not out:
            lowering.copy(x, out, instruction.line)
    return True


def _argument(lowering: Lowering, x: Any, line: Any) -> Any:
    """An Access, an int, a float, or None for no array."""
    if isinstance(x, templates.Strided):
        return lowering.place(x.value)
    if not isinstance(x, (Value, Constant)):
        return x
    return lowering.dense(lowering.place(x), line)
