"""Numbers that Python read while the program was recorded: they have to be the same again."""

import math
from functools import partial

from tapegrad.arrays.traced.program import Instruction, Scalar, Value
from tapegrad.compiler.c_backend.ir import Literal
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.compiler.c_backend.recipe import changed
from tapegrad.core.annotations import Any

_COMPARED = {
    "operator.lt": "<", "operator.le": "<=", "operator.gt": ">", "operator.ge": ">=",
    "operator.eq": "==", "operator.ne": "!=",
}  # fmt: skip


def lower_expect(lowering: Lowering, instruction: Instruction) -> bool:
    """`expect`: a condition in C, where it is about real numbers."""
    if instruction.text != "expect":
        return False
    how, value, recorded = instruction.args
    if how == ".shape":  # whoever makes the array asks for it
        return bool(value.shape == recorded)
    values = value if type(value) is tuple else (value,)
    operands: list[Any] = []
    for x in values:
        if isinstance(x, Value) and (not lowering.is_array(x) or lowering.place(x).size != 1):
            return False
        operands.append(lowering.place(x) if isinstance(x, (Value, Scalar)) else Literal(float(x)))
    condition = _condition(how, recorded)
    if condition is None:
        return False

    failure = partial(changed, f"{how} of {value!r} was {recorded!r}")
    lowering.check(condition, operands, failure, instruction.line)
    return True


def _condition(how: str, recorded: Any) -> str | None:
    """When the number is the recorded one; None where C cannot tell."""
    if how in _COMPARED:
        return f"({{0}} {_COMPARED[how]} {{1}}) == {int(recorded)}"
    if how == "bool":
        return f"({{0}} != 0) == {int(recorded)}"
    if how == "int" and abs(recorded) < 2**53:
        return f"(int64_t){{0}} == {recorded}"
    if how in ("float", ".item()") and type(recorded) is float:
        if math.isnan(recorded):
            return "{0} != {0}"
        if math.isinf(recorded):
            return f"{{0}} == {'-' * (recorded < 0)}INFINITY"
        return f"(double){{0}} == {recorded!r}"
    if how in ("float", ".item()") and type(recorded) in (int, bool) and abs(recorded) < 2**53:
        return f"{{0}} == {int(recorded)}"
    return None
