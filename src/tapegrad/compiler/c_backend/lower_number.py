"""Numbers of Python: what is computed of the options of optimisers, and of arrays."""

import numpy as np

from tapegrad.arrays.traced.program import Instruction, Scalar
from tapegrad.compiler.c_backend.ir import Access, Literal
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_DOUBLE = np.dtype(np.float64)
_NUMBERS = {
    "operator.add": "{0} + {1}", "operator.sub": "{0} - {1}", "operator.mul": "{0} * {1}",
    "operator.truediv": "{0} / {1}", "operator.neg": "-{0}", "operator.pow": "pow({0}, {1})",
    "operator.abs": "__builtin_fabs({0})", "max": "{1} > {0} ? {1} : {0}",
    "min": "{1} < {0} ? {1} : {0}", "math.sqrt": "sqrt({0})",
    "operator.floordiv": "__builtin_floor({0} / {1})",
    "operator.mod": "fmod({0}, {1}) + "
    "(fmod({0}, {1}) != 0 && (fmod({0}, {1}) < 0) != ({1} < 0) ? {1} : 0)",
}  # fmt: skip


def lower_number(lowering: Lowering, instruction: Instruction) -> bool:
    """Arithmetic with Python's floats, in double precision, and the numbers of arrays."""
    text = instruction.text
    if text == ".item" and isinstance(instruction.result, Scalar):
        return _lower_item(lowering, instruction)
    if text not in _NUMBERS:
        return False
    function = lowering.program.functions[text]
    operands: list[Any] = []
    for x in instruction.args:
        if isinstance(x, Scalar):
            operands.append(lowering.place(x))
        else:
            operands.append(Literal(np.float64(x)))
    if text in ("operator.truediv", "operator.mod", "operator.floordiv"):
        lowering.check("{0} != 0", operands[1:], _no_quotient, instruction.line)
    if text == "operator.pow":
        lowering.check(
            "isfinite(pow({0}, {1})) || !isfinite({0}) || !isfinite({1})", operands, _no_power,
            instruction.line,
        )  # fmt: skip
    if text == "math.sqrt":
        lowering.check("{0} >= 0 || {0} != {0}", operands, _no_root, instruction.line)
    lowering.add_pointwise(
        _NUMBERS[text], operands, [_DOUBLE] * len(operands), _DOUBLE,
        _fresh(lowering, instruction.result), function, instruction.line,
    )  # fmt: skip
    return True


def _lower_item(lowering: Lowering, instruction: Instruction) -> bool:
    x = instruction.args[0]
    if not lowering.is_array(x) or lowering.place(x).size != 1 or x.dtype.kind != "f":
        return False
    place = lowering.place(x)
    number = Access(place.buffer, place.offset, (), (), place.dtype)
    lowering.copy(number, _fresh(lowering, instruction.result), instruction.line)
    return True


def _fresh(lowering: Lowering, scalar: Scalar) -> Access:
    """Memory for a number of Python."""
    buffer = lowering.buffer("memory", None, scalar.number)
    found = lowering.places[scalar.number] = Access(buffer, 0, (), (), _DOUBLE, weak=True)
    return found


def _no_quotient() -> None:
    raise ZeroDivisionError("float division by zero")


def _no_root() -> None:
    raise ValueError("math domain error")


def _no_power() -> None:
    raise OverflowError("(34, 'Numerical result out of range')")
