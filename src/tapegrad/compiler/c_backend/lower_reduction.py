"""Sums, products, extrema, `any` and `all`, along some axes."""

import numpy as np

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.c_backend.ir import Access, Literal, Pointwise, Reduction, size_of
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
    how, divides = ("sum", True) if how == "mean" else (how, False)
    if how == "sum" and _is_long(place, axes):
        _add_in_double(lowering, place, axes, out, tuple(spread), line)
    else:
        over = Access(out.buffer, out.offset, place.shape, tuple(spread), wanted)
        lowering.add(Reduction(how, place, axes, over, line))
    if divides:
        n = place.size // max(out.size, 1)
        dtype = result.dtype
        lowering.add(
            Pointwise(
                "{0} / {1}", [out, Literal(dtype.type(n or 1))], [dtype, dtype], dtype, out,
                np.divide, line,
            )
        )  # fmt: skip
    return True


_LONG = 1024  # rows that are added in float32, one after another


def _is_long(x: Access, axes: tuple[int, ...]) -> bool:
    """Whether many float32 rows would be added to one another, each sum after the last."""
    moving = [i for i, n in enumerate(x.shape) if n > 1]
    if x.dtype != np.float32 or not moving:
        return False
    inner = min(moving, key=lambda i: (abs(x.strides[i]), -i))
    return inner not in axes and size_of([x.shape[i] for i in axes]) > _LONG


def _add_in_double(
    lowering: Lowering, x: Access, axes: tuple[int, ...], out: Access, spread: Any, line: Any
) -> None:
    """Sum rows in double precision."""
    double = np.dtype(np.float64)
    wide = lowering.temporary(x.shape, double)
    lowering.copy(x, wide, line)
    total = lowering.temporary(
        tuple(n if s else 1 for n, s in zip(x.shape, spread, strict=True)), double
    )
    over = Access(
        total.buffer,
        0,
        x.shape,
        tuple(t if s else 0 for t, s in zip(total.strides, spread, strict=True)),
        double,
    )
    lowering.add(Reduction("sum", wide, axes, over, line))
    seen = total.reshaped(out.shape)
    assert seen is not None
    lowering.copy(seen, out, line)


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
