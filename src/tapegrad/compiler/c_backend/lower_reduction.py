"""Sums, products, extrema, `any` and `all`, along some axes."""

import numpy as np

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.c_backend.ir import Access, Literal, Pointwise, Reduction
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_HOW = {
    "sum": "sum", "mean": "mean", "max": "max", "min": "min", "prod": "prod", "any": "any",
    "all": "all",
}  # fmt: skip
_UFUNCS = {
    "np.add.reduce": "sum", "np.multiply.reduce": "prod", "np.maximum.reduce": "max",
    "np.minimum.reduce": "min", "np.logical_or.reduce": "any", "np.logical_and.reduce": "all",
}  # fmt: skip


def lower_reduction(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.sum(x, axis=...)`, `np.add.reduce(x, axis, ...)`, `x.any()`, ..."""
    found = _parsed(instruction)
    result = instruction.result
    if found is None or not lowering.is_array(result):
        return False
    how, axis, keepdims = found
    x = instruction.args[0]
    if not lowering.is_array(x):
        return False
    place = lowering.place(x)
    axes = _axes(axis, len(place.shape))
    if how == "mean" and result.dtype.kind != "f":
        return False
    if how in ("max", "min") and 0 in place.shape:
        return False
    line = instruction.line
    wanted = np.dtype(bool) if how in ("any", "all") else result.dtype
    if how in ("any", "all") and result.dtype.kind != "b":
        return False
    out = lowering.fresh(result)
    strides = iter(out.strides)
    spread = []
    for i in range(len(place.shape)):
        if i in axes:
            spread.append(0)
            if keepdims:
                next(strides)
        else:
            spread.append(next(strides))
    if place.dtype != wanted:
        cast = lowering.temporary(place.shape, wanted)
        lowering.copy(place, cast, line)
        place = cast
    over = Access(out.buffer, out.offset, place.shape, tuple(spread), wanted)
    lowering.add(Reduction("sum" if how == "mean" else how, place, axes, over, line))
    if how == "mean":
        n = place.size // max(out.size, 1)
        dtype = result.dtype
        lowering.add(
            Pointwise(
                "{0} / {1}", [out, Literal(dtype.type(n or 1))], [dtype, dtype], dtype, out,
                np.divide, line,
            )
        )  # fmt: skip
    return True


def _parsed(instruction: Instruction) -> tuple | None:
    """How, along which axes, and whether these stay; None for another instruction."""
    text, args, kwargs = instruction.text, instruction.args, dict(instruction.kwargs)
    given: dict[str, Any] = {}
    if text in _UFUNCS:
        how, names, default = _UFUNCS[text], ("axis", "dtype", "out", "keepdims"), 0
    elif text.startswith(("xp.", ".")) and text.rpartition(".")[2] in _HOW:
        how, default = _HOW[text.rpartition(".")[2]], None
        names = ("axis", "dtype", "out", "keepdims")
        if how in ("max", "min", "any", "all"):
            names = ("axis", "out", "keepdims")  # type: ignore[assignment]
    else:
        return None
    given.update(zip(names, args[1:], strict=False))
    given.update(kwargs)
    if given.pop("out", None) is not None or len(args) > 1 + len(names):
        return None
    axis, keepdims = given.pop("axis", default), given.pop("keepdims", False)
    given.pop("dtype", None)
    if given or isinstance(axis, Value) or type(keepdims) is not bool:
        return None
    return how, axis, keepdims


def _axes(axis: Any, n: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(n))
    given = axis if type(axis) in (tuple, list) else (axis,)
    return tuple(sorted({i % n for i in given})) if n else ()
