"""Elementwise functions: NumPy's ufuncs, and kernels that compute element by element."""

from functools import cache

import numpy as np

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.c_backend import c_types
from tapegrad.compiler.c_backend.expressions import TEMPLATES
from tapegrad.compiler.c_backend.ir import Literal
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_KERNELS = {
    "xp.maximum": "maximum", "xp.minimum": "minimum", "xp.conj": "conjugate",
    "xp.sigmoid": "sigmoid", "xp.erf": "erf", "xp.erfc": "erfc", "xp.log10": "log10",
    "xp.abs": "absolute",
}  # fmt: skip
"""Kernels that are elementwise, and whose they are in C."""

_OF_FLOATS = frozenset("sigmoid erf erfc log10".split())


def lower_pointwise(lowering: Lowering, instruction: Instruction) -> bool:
    """`np.add`, `xp.exp`, ..., with `out=` where it writes in place."""
    text = instruction.text
    function = lowering.program.functions.get(text)
    name = _KERNELS.get(text)
    if name is None:
        if not isinstance(function, np.ufunc) or function.nout != 1:
            return False
        name = function.__name__
    if name not in TEMPLATES:
        return False
    n_inputs = _n_inputs(name)
    args = instruction.args
    out = _out(lowering, instruction, n_inputs)
    operands = [lowering.operand(x) for x in args[:n_inputs]]
    if out is None or len(operands) != n_inputs or any(x is None for x in operands):
        return False
    if name in _OF_FLOATS:
        if any(getattr(x, "weak", False) or x.dtype.kind != "f" for x in operands):
            return False
        types = [x.dtype for x in operands]
        result = types[0]
    else:
        found = _loop(getattr(np, name), operands)
        if found is None:
            return False
        *types, result = found
        if len({"i" if x.kind == "b" else x.kind for x in types}) > 1:
            return False  # signed and unsigned numbers, which C compares in its own way
    literals = _rounded(operands, types)
    if literals is None:
        return False
    expression = _expression(name, literals, types)
    if expression is None:
        return False
    _store(lowering, instruction, out, expression, literals, types, result, function)
    return True


@cache
def _n_inputs(name: str) -> int:
    return 1 + max(i for i in range(3) if f"{{{i}}}" in _longest(name))


def _longest(name: str) -> str:
    return max(TEMPLATES[name].values(), key=len) if name not in ("isnan", "isfinite") else "{0}"


def _out(lowering: Lowering, instruction: Instruction, n_inputs: int) -> Any:
    """Into what the result is written: a place, or a Value that gets memory; None if unknown."""
    extra = instruction.kwargs.keys() - {"out"}
    given = instruction.kwargs.get("out")
    if type(given) is tuple and len(given) == 1:
        given = given[0]
    if len(instruction.args) > n_inputs:
        given = instruction.args[n_inputs]
    if extra or len(instruction.args) > n_inputs + 1:
        return None
    if given is not None:
        return lowering.place(given) if lowering.is_array(given) else None
    result = instruction.result
    return result if isinstance(result, Value) and lowering.is_array(result) else None


def _loop(ufunc: Any, operands: list) -> list | None:
    """The dtypes of NumPy's loop: of each argument, and of the result."""
    given = []
    for x in operands:
        if getattr(x, "weak", False):
            kind = type(x.value) if isinstance(x, Literal) else float
            given.append(np.dtype(bool) if kind is bool else kind)
        else:
            given.append(x.dtype)
    try:
        found = ufunc.resolve_dtypes((*given, None))
    except TypeError:
        return None
    return list(found) if all(map(c_types.has_name, found)) else None


def _rounded(operands: list, types: list) -> list | None:
    """Literals in the dtype of the loop; None where one of them does not fit."""
    found = []
    for x, dtype in zip(operands, types, strict=True):
        if isinstance(x, Literal):
            try:
                with np.errstate(all="ignore"):
                    x = Literal(dtype.type(x.value))
            except OverflowError:
                return None
        found.append(x)
    return found


def _expression(name: str, operands: list, types: list) -> str | None:
    dtype = types[-1]
    if name == "power" and isinstance(operands[1], Literal) and dtype.kind == "f":
        special = _power(float(operands[1].value), dtype)
        if special is not None:
            return special
    template = TEMPLATES[name].get(dtype.kind)
    return None if template is None else template.replace("{t}", c_types.suffix(dtype))


def _power(exponent: float, dtype: Any) -> str | None:
    """A power with a known exponent."""
    found = {2.0: "{0} * {0}", 1.0: "{0}", 3.0: "{0} * {0} * {0}", -1.0: "1 / {0}"}.get(exponent)
    if found is None and 0 < abs(exponent) <= 16 and exponent == int(exponent):
        return f"tg_powi_{c_types.suffix(dtype)}({{0}}, {int(exponent)})"
    return found


def _store(
    lowering: Lowering, instruction: Instruction, out: Any, expression: str, operands: list,
    types: list, result: Any, function: Any,
) -> None:  # fmt: skip
    if isinstance(out, Value):
        out = lowering.fresh(out)
    elif isinstance(instruction.result, Value):
        lowering.places.setdefault(instruction.result.number, out)
    lowering.add_pointwise(expression, operands, types, result, out, function, instruction.line)


def lower_where(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.where` and `np.where` of three operands."""
    result = instruction.result
    if instruction.text not in ("xp.where", "np.where") or not lowering.is_array(result):
        return False
    operands = [lowering.operand(x) for x in instruction.args]
    if len(operands) != 3 or instruction.kwargs or any(x is None for x in operands):
        return False
    types = [np.dtype(bool), result.dtype, result.dtype]
    operands = _rounded(operands, types)  # type: ignore[assignment]
    if operands is None:
        return False
    _store(
        lowering, instruction, result, "{0} ? {1} : {2}", operands, types, result.dtype, np.where
    )
    return True


def lower_clip(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.clip`: the larger of the array and one limit, and the smaller of that and the other."""
    result = instruction.result
    args = (*instruction.args, None, None)[:3]
    if instruction.text != "xp.clip" or instruction.kwargs or not lowering.is_array(result):
        return False
    operands = [None if x is None else lowering.operand(x) for x in args]
    if any(x is None and given is not None for x, given in zip(operands, args, strict=True)):
        return False
    dtype, line = result.dtype, instruction.line
    limits: list[tuple[str, Any]] = []
    for name, limit in (("maximum", operands[1]), ("minimum", operands[2])):
        if limit is None:
            continue
        rounded = _rounded([limit], [dtype])
        if rounded is None or dtype.kind not in "fiub":
            return False
        limits.append((name, rounded[0]))
    x = operands[0]
    if x is None or not limits:
        return False
    out = lowering.fresh(result)
    for i, (name, limit) in enumerate(limits):
        target = out if i == len(limits) - 1 else lowering.temporary(out.shape, dtype)
        lowering.add_pointwise(
            TEMPLATES[name][dtype.kind], [x, limit], [dtype, dtype], dtype, target,
            getattr(np, name), line,
        )  # fmt: skip
        x = target
    return True


def lower_gelu(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.gelu` and `xp.gelu_back`, exact or by their approximation with tanh."""
    text, args, result = instruction.text, instruction.args, instruction.result
    if text not in ("xp.gelu", "xp.gelu_back") or not lowering.is_array(result):
        return False
    operands = [lowering.operand(x) for x in args[:-1]]
    dtype = result.dtype
    if dtype.kind != "f" or any(getattr(x, "dtype", None) != dtype for x in operands):
        return False
    if args[-1] not in ("none", "tanh") or any(x.weak for x in operands):
        return False
    name = (
        f"tg_gelu{'_tanh' * (args[-1] == 'tanh')}{text[len('xp.gelu') :]}_{c_types.suffix(dtype)}"
    )
    places = ", ".join(f"{{{i}}}" for i in range(len(operands)))
    function = lowering.program.functions[text]
    _store(
        lowering, instruction, result, f"{name}({places})", operands, [dtype] * len(operands),
        dtype, lambda *xs: function(*map(np.asarray, xs), args[-1]),
    )  # fmt: skip
    return True


def lower_round(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.round` to whole numbers."""
    result = instruction.result
    if instruction.text != "xp.round" or instruction.kwargs or len(instruction.args) != 1:
        return False
    if not lowering.is_array(result) or not lowering.is_array(instruction.args[0]):
        return False
    dtype = result.dtype
    text = f"tg_rint_{c_types.suffix(dtype)}({{0}})" if dtype.kind == "f" else "{0}"
    operands = [lowering.place(instruction.args[0])]
    _store(lowering, instruction, result, text, operands, [dtype], dtype, np.round)
    return True
