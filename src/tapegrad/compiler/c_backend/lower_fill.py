"""Arrays of one number, constants, and zeros on one side of a diagonal."""

import numpy as np

from tapegrad.arrays.traced.program import Constant, Instruction, Scalar, Value
from tapegrad.compiler.c_backend.ir import Access, Literal, size_of
from tapegrad.compiler.c_backend.lower_memory import flat
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_FILLS = {"zeros_like": 0, "zeros": 0, "ones_like": 1, "ones": 1}


def lower_fill(lowering: Lowering, instruction: Instruction) -> bool:
    """Arrays of one number, and arrays that no value has a part in, which are constants."""
    text, result = instruction.text, instruction.result
    if not text.startswith(("xp.", "np.")) or not lowering.is_array(result):
        return False
    name = text[3:]
    x: Any = None
    if name in _FILLS:
        x = Literal(result.dtype.type(_FILLS[name]))
    elif name in ("full", "full_like"):
        given = (
            instruction.args[1]
            if len(instruction.args) > 1
            else (instruction.kwargs.get("fill_value"))
        )
        x = lowering.operand(given)
        if x is None or (isinstance(x, Access) and size_of(x.shape) != 1):
            return False
        if isinstance(x, Access):
            x = Access(x.buffer, x.offset, (), (), x.dtype, x.weak)
    elif name == "asarray" and instruction.args and isinstance(instruction.args[0], Scalar):
        x = lowering.operand(instruction.args[0])
        if x is None or result.shape != ():
            return False
    elif name in ("empty", "empty_like"):
        lowering.fresh(result)
        return True
    else:
        return _lower_constant(lowering, instruction)
    lowering.copy(x, lowering.fresh(result), instruction.line)
    return True


def _lower_constant(lowering: Lowering, instruction: Instruction) -> bool:
    """What depends on no value is computed now."""
    args = [*instruction.args, *instruction.kwargs.values()]
    if any(isinstance(x, (Value, Scalar)) for x in flat(args)) or any(
        type(x) is slice for x in flat(args)
    ):
        return False
    function = lowering.program.functions[instruction.text]
    array = np.asarray(
        function(
            *[_known(lowering, x) for x in instruction.args],
            **{k: _known(lowering, x) for k, x in instruction.kwargs.items()},
        )
    )
    result = instruction.result
    if array.shape != result.shape or array.dtype != result.dtype:
        return False
    if array.size and (array == array.flat[0]).all():
        lowering.copy(Literal(array.flat[0]), lowering.fresh(result), instruction.line)
    else:
        constant = lowering.constant(array)
        lowering.copy(constant, lowering.fresh(result), instruction.line)
    return True


def _known(lowering: Lowering, x: Any) -> Any:
    if isinstance(x, Constant):
        return lowering.program.constants[x.number]
    if type(x) in (tuple, list):
        return type(x)([_known(lowering, each) for each in x])
    return x


def lower_triangle(lowering: Lowering, instruction: Instruction) -> bool:
    """`tril` and `triu`: zeros on one side of a diagonal, by a mask that is known."""
    text, result = instruction.text, instruction.result
    if text not in ("xp.tril", "xp.triu") or not lowering.is_array(result):
        return False
    x = instruction.args[0]
    k = instruction.args[1] if len(instruction.args) > 1 else instruction.kwargs.get("k", 0)
    if type(k) is not int or not lowering.is_array(x) or len(result.shape) < 2:
        return False
    n, m = result.shape[-2:]
    mask = np.tri(n, m, k=k if text == "xp.tril" else k - 1, dtype=bool)
    zero = Literal(result.dtype.type(0))
    operands = [lowering.constant(mask), lowering.place(x), zero]
    if text == "xp.triu":
        operands[1:] = operands[:0:-1]
    types = [np.dtype(bool), result.dtype, result.dtype]
    lowering.add_pointwise(
        "{0} ? {1} : {2}",
        operands,
        types,
        result.dtype,
        lowering.fresh(result),
        np.where,
        instruction.line,
    )
    return True
